"""A rehearsal: a small index that calls every kernel in the ways in which kernels are called, so that all are compiled.

A kernel is compiled for the types of its arguments, and arrays from files are of another type than those in memory: so
the same is gone through before and after an index is stored. A test sees to it that nothing is left out.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from ontosub.matching.batch import Batch
from ontosub.matching.compiled.algorithm import Compiled
from ontosub.matching.compiled.events.dictionary import Dictionary
from ontosub.model import Event, Ontology, Subscription
from ontosub.model.errors import OntosubWarning
from ontosub.semantics import Entailment

_PREFIXES = """
@prefix : <urn:rehearsal:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""

_ONTOLOGY = f"""{_PREFIXES}
:Notebook rdfs:subClassOf :Computer , :Portable . :Computer rdfs:subClassOf :Thing . :Portable rdfs:subClassOf :Thing .
:cell rdfs:subPropertyOf :phone . :sells owl:inverseOf :soldBy . :near a owl:SymmetricProperty .
:in a owl:TransitiveProperty . :price rdfs:domain :Priced . :in rdfs:range :Place .
:shelf :in :room . :room :in :house ; :phone "1" , "01"@en . :house a :Place .
"""

_EVENT = f"""{_PREFIXES}
_:pc a :Notebook ; :price 10.5 , 7 , "3.5"^^xsd:double ; :name "red pc" , "rotes"@de ; :in :shelf ; :soldBy :jing ;
    :since "2024-05-01T10:00:00Z"^^xsd:dateTime ; :day "2024-05-01"^^xsd:date ; :new true ; :size "x"^^:unit .
:jing :cell "123" ; :near _:pc , :shelf .
"""

_QUERIES = (
    "?x a :Computer",
    "?x a :Computer , :Priced ; :in ?place ; :name ?name",
    "?x a ?class ; ?property ?value",
    "?x :price ?p FILTER(?p < 100)",
    "?x :price ?p FILTER(?p > 1 && ?p < 20)",
    "?x :price ?p ; :since ?t FILTER(?p < 20 && ?t > '2020-01-01T00:00:00Z'^^xsd:dateTime)",
    "?x :price ?p , ?q FILTER(?p < ?q)",
    "?x :name ?n FILTER(?n != 'blue' && ?n NOT IN ('a', 'b'))",
    "?x :price ?p FILTER(?p != 3 && ?p IN (7, 8))",
    "?x :price 7 ; :new true ; :soldBy :jing",
    "?x :name ?n FILTER(CONTAINS(?n, 'red'))",
    "?x :name ?n FILTER(STRSTARTS(?n, 're') || STRENDS(STR(?n), 'tes'))",
    "?x :name ?n FILTER(CONTAINS(UCASE(STR(?n)), 'PC')) FILTER(STRSTARTS(LCASE(?n), 'r'))",
    "?x :name ?n FILTER(REGEX(?n, '^r.d', 'i'))",
    "?x :name ?n FILTER(LANG(?n) = 'de' || LANGMATCHES(LANG(?n), 'en'))",
    "?x :price ?p FILTER(DATATYPE(?p) = xsd:integer || ISNUMERIC(?p))",
    "?x :in ?y FILTER(ISIRI(?y) && !ISLITERAL(?y) && STR(?y) = 'urn:rehearsal:room')",
    "?x :price ?p FILTER(?p + 1 < 100)",
    "?x :in ?y . ?z :phone ?n FILTER(STR(?n) IN ('1', '123'))",
    "?x :soldBy ?y OPTIONAL { ?y :cell ?n }",
    "?x :soldBy ?y OPTIONAL { ?z a :Place }",
    "?x :soldBy ?y OPTIONAL { ?y :near ?z . ?z a :Place }",
    "?x :in ?y MINUS { ?x :in :nowhere }",
    "?x :in+ ?y",
    "{ ?x :price ?p } UNION { ?x :phone ?p }",
)

_TERMS_MANY = 2_000
"""More than a dictionary has room for at first."""


def rehearse() -> None:
    """Call every kernel."""
    Dictionary().number(f"<urn:rehearsal:{number}>" for number in range(_TERMS_MANY))
    with warnings.catch_warnings(), TemporaryDirectory(prefix="ontosub-rehearsal-") as folder:
        warnings.simplefilter("ignore", OntosubWarning)
        for number, ontology in enumerate((Ontology.read(_ONTOLOGY, format="text/turtle"), Ontology())):
            _rehearse(Entailment(ontology), Path(folder, str(number)))


def _rehearse(entailment: Entailment, directory: Path) -> None:
    compiled, subscriptions = Compiled(entailment), _subscriptions()
    for first in range(0, len(subscriptions), 9):
        for subscription in subscriptions[first : first + 9]:
            compiled.subscribe(subscription)
        _match(compiled)
    compiled.save(directory)
    compiled.unsubscribe(subscriptions[0].id)
    compiled.merge()
    compiled.save(directory)
    stored = Compiled.open(directory, entailment)
    _match(stored)
    stored.subscribe(subscriptions[0])
    stored.unsubscribe(subscriptions[1].id)
    _match(stored)
    stored.merge()
    stored.save(directory)
    _match(stored)


def _subscriptions() -> list[Subscription]:
    prefixes = "".join(f"PREFIX {name} {iri} " for _, name, iri, _ in _prefixes())
    queries = [f"{prefixes} SELECT {what} {{ {query} }}" for query in _QUERIES for what in ("*", "DISTINCT *")]
    return [Subscription.parse(query, id=f"s{number}") for number, query in enumerate(queries)]


def _prefixes() -> list[list[str]]:
    return [line.split() for line in _PREFIXES.replace("@prefix", "\n@prefix").splitlines() if line.strip()]


def _match(compiled: Compiled) -> None:
    event = Event.read(_EVENT, "text/turtle", id="e")
    list(compiled.match(event))
    compiled.match_ids(event)
    compiled.costs()
    lines = b"".join(b"%s .\n" % str(triple).encode() for triple in event.graph)
    quads = lines.replace(b" .\n", b" <urn:rehearsal:graph> .\n")
    table = pa.table(
        {
            "event_id": ["a", "b", "c"],
            "content_type": ["application/n-triples", "application/n-quads", "text/turtle"],
            "payload": [lines, quads, _EVENT.encode()],
        }
    )
    for bindings in (True, False):
        for encoded in (True, False):
            compiled.match_batch(Batch(table), bindings=bindings, encoded=encoded)
