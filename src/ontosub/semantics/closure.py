"""The closure of a graph under the rules of `entailment.py`: what follows, and why.

Terms are numbers while the rules run, and a conclusion keeps its premises as numbers, too: objects of pyoxigraph would
take several times the time and the memory. Whoever asks for a triple or a derivation gets objects.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from ontosub.model.errors import LimitError
from ontosub.model.terms import OWL, RDFS, TYPE, BlankNode, NamedNode, Term, Triple

if TYPE_CHECKING:
    from ontosub.semantics.entailment import Entailment


@dataclass(frozen=True, slots=True)
class Derivation:
    """Why a triple holds: an axiom of the ontology applied to premises."""

    axiom: Triple
    premises: tuple[Triple, ...]


class Form(Enum):
    """What follows from (s, p, o) by an axiom with a property q or a class C."""

    ALONG = auto()  # (s, q, o)
    BACK = auto()  # (o, q, s)
    SUBJECT_IS_A = auto()  # (s, rdf:type, C)
    OBJECT_IS_A = auto()  # (o, rdf:type, C)


_SUBCLASS, _TRANSITIVE = RDFS["subClassOf"], OWL["TransitiveProperty"]

Numbers = tuple[int, int, int]
"""A triple."""

Why = tuple[Triple, tuple[Numbers, ...]]
"""An axiom and its premises. Only transitivity has two of these."""


class Limits(NamedTuple):
    """How many triples may follow, and how many conclusions may be drawn, those included that are known already."""

    conclusions: float
    steps: float


UNLIMITED = Limits(inf, inf)


class Closure(Mapping[Triple, Derivation | None]):
    """All triples that follow from given ones, each with its first derivation; those given keep what they have.

    Raises LimitError when that is too much.
    """

    def __init__(
        self, rules: Entailment, given: Mapping[Triple, Derivation | None], limits: Limits | None = None
    ) -> None:
        self._given = given
        self._terms = _Terms()
        self._known: dict[Numbers, Why | None] = {}
        if any(triple.predicate in rules.premises for triple in given):
            self._known = _Run(rules, self._terms, given, limits or UNLIMITED).run()

    def __getitem__(self, triple: Triple) -> Derivation | None:
        if triple in self._given:
            return self._given[triple]
        why = self._known[self._terms.known(triple)]  # type: ignore[index]
        return why and Derivation(why[0], tuple(self._terms.triple(premise) for premise in why[1]))

    def __contains__(self, triple: object) -> bool:
        return triple in self._given or (isinstance(triple, Triple) and self._terms.known(triple) in self._known)

    def __iter__(self) -> Iterator[Triple]:
        yield from self._given
        yield from map(self._terms.triple, islice(self._known, len(self._given), None))

    def __len__(self) -> int:
        return max(len(self._given), len(self._known))


class _Terms(dict[Term, int]):
    """The numbers of terms, which a new term is given when it is asked for; `terms` has the terms by number."""

    def __init__(self) -> None:
        super().__init__()
        self.terms: list[Any] = []

    def __missing__(self, term: Term) -> int:
        number = self[term] = len(self.terms)
        self.terms.append(term)
        return number

    def triple(self, numbers: Numbers) -> Triple:
        """Return the triple that the numbers stand for."""
        subject, predicate, object_ = numbers
        return Triple(self.terms[subject], self.terms[predicate], self.terms[object_])

    def known(self, triple: Triple) -> tuple[int | None, int | None, int | None]:
        """Return the numbers of a triple, without giving any."""
        return self.get(triple.subject), self.get(triple.predicate), self.get(triple.object)


class _Chains(NamedTuple):
    """The arcs of a transitive property: `objects` of those that are no chains, `subjects` of all."""

    axiom: Triple
    objects: defaultdict[int, list[int]]
    subjects: defaultdict[int, list[int]]


class _Property(NamedTuple):
    """What follows from one triple of a property, if its object is a resource and if not, and from several."""

    forms: list[tuple[Form, int, Triple]]
    forms_of_literals: list[tuple[Form, int, Triple]]
    chains: _Chains | None


_BARREN = _Property([], [], None)


class _Run:
    """One run of the rules to their fixed point, triple by triple. `known` has what is given, then what follows."""

    def __init__(
        self, rules: Entailment, terms: _Terms, given: Mapping[Triple, Derivation | None], limits: Limits
    ) -> None:
        self._rules = rules
        self._terms = terms
        self._limits = limits
        self._type = terms[TYPE]
        self.known: dict[Numbers, Why | None] = {}
        self._given_chains: set[Numbers] = set()
        for triple, derivation in given.items():
            numbers = terms[triple.subject], terms[triple.predicate], terms[triple.object]
            self.known[numbers] = None
            if derivation is not None and len(derivation.premises) > 1:
                self._given_chains.add(numbers)
        self._given = len(given)
        self._steps = 0
        self._waiting = deque(self.known)
        self._properties: dict[int, _Property] = {}
        self._wider: dict[int, list[tuple[int, Triple]]] = {}

    def run(self) -> dict[Numbers, Why | None]:
        while self._waiting:
            triple = self._waiting.popleft()
            property_ = self._properties.get(triple[1]) or self._property(triple[1])
            self._apply(triple, property_)
            if property_.chains is not None:
                self._chain(triple, property_.chains)
        return self.known

    def _apply(self, triple: Numbers, property_: _Property) -> None:
        """Draw the conclusions from one triple and one axiom."""
        subject, predicate, object_ = triple
        forms = property_.forms
        if forms and not isinstance(self._terms.terms[object_], NamedNode | BlankNode):
            forms = property_.forms_of_literals
        for form, other, axiom in forms:
            if form is Form.ALONG:
                self._conclude((subject, other, object_), (axiom, (triple,)))
            elif form is Form.BACK:
                self._conclude((object_, other, subject), (axiom, (triple,)))
            elif form is Form.SUBJECT_IS_A:
                self._conclude((subject, self._type, other), (axiom, (triple,)))
            else:
                self._conclude((object_, self._type, other), (axiom, (triple,)))
        if predicate == self._type:
            for wider, axiom in self._classes_above(object_):
                self._conclude((subject, predicate, wider), (axiom, (triple,)))

    def _chain(self, triple: Numbers, chains: _Chains) -> None:
        """Apply transitivity between this triple and those of the same property seen before.

        Chains are only ever lengthened by arcs that are not chains themselves: every chain is found that way, and the
        work is bounded by the conclusions times the arcs that leave a vertex.
        """
        subject, predicate, object_ = triple
        axiom, why = chains.axiom, self.known[triple]
        is_chain = triple in self._given_chains if why is None else len(why[1]) > 1
        chains.subjects[object_].append(subject)
        for end in chains.objects.get(object_, ()):
            self._conclude((subject, predicate, end), (axiom, (triple, (object_, predicate, end))))
        if is_chain:
            return
        chains.objects[subject].append(object_)
        for start in chains.subjects.get(subject, ()):
            self._conclude((start, predicate, object_), (axiom, ((start, predicate, subject), triple)))

    def _conclude(self, conclusion: Numbers, why: Why) -> None:
        self._steps += 1
        if conclusion not in self.known:
            self.known[conclusion] = why
            self._waiting.append(conclusion)
            if len(self.known) - self._given > self._limits.conclusions:
                raise LimitError(f"more than {self._limits.conclusions:,} triples follow from the event")
        if self._steps > self._limits.steps:
            raise LimitError(f"it takes more than {self._limits.steps:,} steps to find what follows from the event")

    def _property(self, number: int) -> _Property:
        term, found = self._terms.terms[number], _BARREN
        if term in self._rules.premises:
            forms = [(form, self._terms[other], axiom) for form, other, axiom in self._rules.forms(term)]
            of_literals = [each for each in forms if each[0] in (Form.ALONG, Form.SUBJECT_IS_A)]
            found = _Property(forms, of_literals, self._chains(term))
        self._properties[number] = found
        return found

    def _chains(self, property_: NamedNode) -> _Chains | None:
        if property_ not in self._rules.ontology.transitive:
            return None
        return _Chains(Triple(property_, TYPE, _TRANSITIVE), defaultdict(list), defaultdict(list))

    def _classes_above(self, number: int) -> list[tuple[int, Triple]]:
        """Return what is stated to be directly above a class, with the axioms that say it."""
        if number not in self._wider:
            term = self._terms.terms[number]
            wider = self._rules.classes.parents(term) if isinstance(term, NamedNode) else []
            self._wider[number] = [(self._terms[each], Triple(term, _SUBCLASS, each)) for each in wider]
        return self._wider[number]
