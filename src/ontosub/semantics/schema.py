"""From an ontology's statements to an `Ontology`: hierarchies, characteristics, meta-statements, background."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ontosub.model import MetaStatement, Ontology
from ontosub.model.ontology import Pair
from ontosub.model.terms import ONTOSUB, OWL, RDF, RDFS, TYPE, BlankNode, NamedNode, Term, Triple
from ontosub.semantics.vocabulary import EQUIVALENT_TO, split

_CLASS_KINDS = frozenset({RDFS["Class"], OWL["Class"], RDFS["Datatype"], OWL["DeprecatedClass"]})
_PROPERTY_KINDS = frozenset(
    {
        RDF["Property"],
        *(
            OWL[kind]
            for kind in (
                "ObjectProperty",
                "DatatypeProperty",
                "AnnotationProperty",
                "OntologyProperty",
                "DeprecatedProperty",
                "SymmetricProperty",
                "AsymmetricProperty",
                "TransitiveProperty",
                "ReflexiveProperty",
                "IrreflexiveProperty",
                "FunctionalProperty",
                "InverseFunctionalProperty",
                "Property",
            )
        ),
    }
)
_INTERSECTION = OWL["intersectionOf"]
_CLASS_AXIOMS = frozenset({RDFS["subClassOf"], OWL["equivalentClass"], _INTERSECTION})
_ON_PROPERTY = OWL["onProperty"]
_META_STATEMENT = ONTOSUB["MetaStatement"]
_FILLERS = (OWL["allValuesFrom"], OWL["someValuesFrom"], OWL["onClass"])


def build_ontology(triples: Iterable[Triple], missing_imports: Iterable[str] = ()) -> Ontology:
    """Return the ontology that the statements make, whose old terms are replaced already (`vocabulary.as_owl`)."""
    schema, facts = split(triples)
    said = _Statements(schema)
    classes, properties = said.of_kind(_CLASS_KINDS), said.of_kind(_PROPERTY_KINDS)
    either = said.pairs(EQUIVALENT_TO)
    domains = said.inherited(RDFS["subPropertyOf"], RDFS["domain"])
    ranges = said.inherited(RDFS["subPropertyOf"], RDFS["range"])
    return Ontology(
        classes=classes,
        properties=properties,
        subclasses=said.inclusions(
            RDFS["subClassOf"], OWL["equivalentClass"], (pair for pair in either if not properties & {*pair})
        ),
        subproperties=said.inclusions(
            RDFS["subPropertyOf"], OWL["equivalentProperty"], (pair for pair in either if properties & {*pair})
        ),
        equivalences=either | said.pairs(OWL["equivalentClass"]) | said.pairs(OWL["equivalentProperty"]),
        inverses=said.pairs(OWL["inverseOf"]),
        symmetric=said.of_kind({OWL["SymmetricProperty"]}),
        transitive=said.of_kind({OWL["TransitiveProperty"]}),
        domains=domains,
        ranges=ranges,
        meta_statements=frozenset(
            [*_from_domains(domains, ranges), *said.from_restrictions(), *said.written_explicitly()]
        ),
        background=frozenset(facts),
        missing_imports=frozenset(missing_imports),
    )


def _from_domains(domains: Iterable[Pair], ranges: Iterable[Pair]) -> Iterator[MetaStatement]:
    """Yield (domain, property, range) for each property that has either; the missing side is owl:Thing."""
    subject_classes = _grouped(domains)
    object_classes = _grouped(ranges)
    for property_ in {*subject_classes, *object_classes}:
        for subject_class in subject_classes.get(property_, [OWL["Thing"]]):
            for object_class in object_classes.get(property_, [OWL["Thing"]]):
                yield MetaStatement(subject_class, property_, object_class)


def _grouped(pairs: Iterable[Pair]) -> dict[NamedNode, list[NamedNode]]:
    groups: dict[NamedNode, list[NamedNode]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return groups


class _Statements:
    """Schema statements, looked up by subject and predicate."""

    def __init__(self, triples: list[Triple]) -> None:
        self._triples = triples
        self._objects: dict[tuple[Term, NamedNode], list[Term]] = {}
        for triple in triples:
            self._objects.setdefault((triple.subject, triple.predicate), []).append(triple.object)

    def objects(self, subject: Term, *predicates: NamedNode) -> list[Term]:
        return [term for predicate in predicates for term in self._objects.get((subject, predicate), ())]

    def named(self, subject: Term, *predicates: NamedNode) -> list[NamedNode]:
        return [term for term in self.objects(subject, *predicates) if isinstance(term, NamedNode)]

    def of_kind(self, kinds: Iterable[NamedNode]) -> frozenset[NamedNode]:
        """Return the named terms that are declared to be of one of the kinds."""
        kinds = frozenset(kinds)
        return frozenset(
            triple.subject
            for triple in self._triples
            if triple.predicate == TYPE and triple.object in kinds and isinstance(triple.subject, NamedNode)
        )

    def pairs(self, predicate: NamedNode) -> frozenset[Pair]:
        """Return (subject, object) of the predicate's statements where both are named."""
        return frozenset(
            (triple.subject, found)
            for triple in self._triples
            if triple.predicate == predicate and isinstance(triple.subject, NamedNode)
            for found in self.named(triple.subject, predicate)
        )

    def inherited(self, above: NamedNode, predicate: NamedNode) -> frozenset[Pair]:
        """Return the predicate's pairs, and those that a named term gets through blank nodes above it.

        A blank node hides nothing: A ⊑ _:b and _:b ⊑ C say that A ⊑ C; p ⊑ _:b gives p the domain of _:b.
        """
        subjects = {triple.subject for triple in self._triples if triple.predicate in (above, predicate)}
        return frozenset(
            (subject, found)
            for subject in subjects
            if isinstance(subject, NamedNode)
            for node in self._with_blanks_above(subject, above)
            for found in self.named(node, predicate)
        )

    def _with_blanks_above(self, subject: Term, above: NamedNode) -> set[Term]:
        found, waiting = {subject}, [subject]
        while waiting:
            nodes = [node for node in self.objects(waiting.pop(), above) if isinstance(node, BlankNode)]
            waiting.extend(node for node in nodes if node not in found)
            found.update(nodes)
        return found

    def inclusions(self, below: NamedNode, equivalent: NamedNode, more: Iterable[Pair]) -> frozenset[Pair]:
        """Return (narrower, wider) as stated, and both ways for an equivalence; never a term with itself."""
        both_ways = [*self.pairs(equivalent), *more]
        stated = [*self.inherited(below, below), *both_ways, *((second, first) for first, second in both_ways)]
        return frozenset(pair for pair in stated if pair[0] != pair[1])

    def from_restrictions(self) -> Iterator[MetaStatement]:
        """Yield what class restrictions say, also those inside intersections."""
        for triple in self._triples:
            if isinstance(triple.subject, NamedNode) and triple.predicate in _CLASS_AXIOMS:
                expressions = [triple.object]
                if triple.predicate == _INTERSECTION:
                    expressions = list(self._members(triple.object))
                for expression in expressions:
                    yield from self._restrictions(triple.subject, expression)

    def _restrictions(self, class_: NamedNode, expression: Term) -> Iterator[MetaStatement]:
        waiting, seen = [expression], set()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            for property_ in self.named(node, _ON_PROPERTY):
                for filler in self.named(node, *_FILLERS) or [OWL["Thing"]]:
                    yield MetaStatement(class_, property_, filler)
            for members in self.objects(node, _INTERSECTION):
                waiting.extend(self._members(members))

    def _members(self, node: Term) -> Iterator[Term]:
        seen = set()
        while node not in seen and node != RDF["nil"]:
            seen.add(node)
            yield from self.objects(node, RDF["first"])
            node = next(iter(self.objects(node, RDF["rest"])), RDF["nil"])

    def written_explicitly(self) -> Iterator[MetaStatement]:
        """Yield the meta-statements written in Ontosub's own vocabulary."""
        for triple in self._triples:
            if triple.predicate == TYPE and triple.object == _META_STATEMENT:
                for property_ in self.named(triple.subject, ONTOSUB["property"]):
                    for subject_class in self.named(triple.subject, ONTOSUB["subjectClass"]):
                        for object_class in self.named(triple.subject, ONTOSUB["objectClass"]):
                            yield MetaStatement(subject_class, property_, object_class)
