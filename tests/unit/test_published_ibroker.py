"""iBroker as the paper describes it: profileHash, the Semantic Matcher, GenerateResult."""

from __future__ import annotations

import pytest

from ontosub.matching.published import IBroker
from ontosub.matching.published.concepts import Concepts
from ontosub.matching.published.ibroker.profile_hash import Key, Kind, ProfileHash
from ontosub.matching.published.ibroker.semantic_matcher import IBrokerStats, SemanticMatcher
from ontosub.model import Arc, Event, GraphPattern, Ontology, Subscription, Vertex
from ontosub.model.terms import Literal, NamedNode, Variable
from ontosub.semantics import Entailment
from ontosub.semantics.budget import Budget


def n(name: str) -> NamedNode:
    return NamedNode("urn:" + name)


def v(name: str) -> Variable:
    return Variable(name)


def profile(*arcs: tuple, **classes: str) -> GraphPattern:
    vertices = tuple(Vertex(v(name), frozenset(map(n, asked.split()))) for name, asked in classes.items())
    return GraphPattern(vertices, tuple(Arc(subject, n(name), object_) for subject, name, object_ in arcs))


def class_key(name: str) -> Key:
    return Key(Kind.CLASS, n(name))


def property_key(name: str) -> Key:
    return Key(Kind.PROPERTY, n(name))


NAME = Literal("ICDE 2009 CFP")
EXAMPLE_1 = {
    "1": profile(x="Article"),
    "2": profile((v("x"), "Writes", v("y")), x="Columnist"),
    "3": profile((v("x"), "articleName", NAME), x="Article"),
}


class TestProfileHash:
    """Example 1 and Figure 1."""

    def hashed(self) -> ProfileHash:
        profiles = ProfileHash()
        for name, pattern in EXAMPLE_1.items():
            profiles.insert((name, 0), pattern)
        return profiles

    def test_it_is_keyed_by_the_names_of_classes_and_properties(self):
        keys = {class_key("Article"), class_key("Columnist"), property_key("Writes"), property_key("articleName")}
        assert set(self.hashed().entries) == keys

    def test_each_entry_says_who_what_and_what_comes_next(self):
        entries = self.hashed().entries
        seen = {
            key.name.value[4:]: [
                (info.id[0], info.next_to_match and info.next_to_match[0].name.value[4:], info.terms)
                for info in infos.values()
            ]
            for key, infos in entries.items()
        }
        assert seen == {
            "Article": [("1", None, (v("x"),)), ("3", "articleName", (v("x"),))],
            "Columnist": [("2", "Writes", (v("x"),))],
            "Writes": [("2", None, (v("x"), v("y")))],
            "articleName": [("3", None, (v("x"), NAME))],
        }

    def test_what_is_removed_leaves_no_trace(self):
        profiles = self.hashed()
        profiles.remove(("3", 0), EXAMPLE_1["3"])
        assert property_key("articleName") not in profiles.entries
        assert [profile_id for profile_id, _ in profiles.entries[class_key("Article")]] == [("1", 0)]

    def test_a_name_may_be_used_twice_in_a_profile(self):
        profiles = ProfileHash()
        profiles.insert(("q", 0), profile((v("x"), "p", v("y")), (v("y"), "p", v("z"))))
        (first, second) = profiles.entries[property_key("p")].values()
        assert profiles.next_to_match(first) is second
        assert profiles.next_to_match(second) is None


class TestSemanticMatcher:
    def matcher(self, *profiles: GraphPattern, **axioms) -> SemanticMatcher:
        ontology = Ontology(**{name: frozenset(said) for name, said in axioms.items()})
        hashed = ProfileHash()
        for number, each in enumerate(profiles):
            hashed.insert((f"q{number}", 0), each)
        self.stats = IBrokerStats()
        made = SemanticMatcher(hashed, Concepts(Entailment(ontology)), ontology, self.stats)
        made.start()
        return made

    def table(self, matcher: SemanticMatcher, key: Key) -> set:
        return {tuple(term.value[4:] for term in row) for row in matcher._tables[key]}

    def test_a_class_event_reaches_the_ancestors_of_the_class(self):
        matcher = self.matcher(profile(x="Person"), profile(x="Columnist"), subclasses={(n("Columnist"), n("Person"))})
        matcher.class_(n("Columnist"), n("ann"))
        matcher.class_(n("Person"), n("bob"))
        assert self.table(matcher, class_key("Person")) == {("ann",), ("bob",)}
        assert self.table(matcher, class_key("Columnist")) == {("ann",)}

    @pytest.mark.parametrize(
        ("axioms", "rows"),
        [
            ({}, {("a", "b"), ("b", "c")}),
            ({"subproperties": {(n("sub"), n("p"))}}, {("a", "b"), ("b", "c"), ("s", "t")}),
            ({"symmetric": {n("p")}}, {("a", "b"), ("b", "c"), ("b", "a"), ("c", "b")}),
            ({"transitive": {n("p")}}, {("a", "b"), ("b", "c"), ("a", "c")}),
            ({"inverses": {(n("sub"), n("p"))}}, {("a", "b"), ("b", "c"), ("t", "s")}),
            (
                {"symmetric": {n("p")}, "transitive": {n("p")}},
                {(one, other) for one in "abc" for other in "abc"},
            ),
        ],
    )
    def test_a_property_event_does_what_the_type_of_the_property_demands(self, axioms, rows):
        untyped = profile((v("x"), "p", v("y"))), profile((v("x"), "sub", v("y")))
        matcher = self.matcher(*untyped, **axioms)
        for name, domain, range_ in (("p", "a", "b"), ("p", "b", "c"), ("sub", "s", "t")):
            matcher.property(n(name), n(domain), n(range_))
        assert self.table(matcher, property_key("p")) == rows

    def test_properties_are_pruned_when_no_class_of_their_domain_matched(self):
        matcher = self.matcher(profile((v("x"), "Writes", v("y")), x="Columnist"))
        matcher.class_(n("Person"), n("ann"))
        matcher.property(n("Writes"), n("ann"), n("a1"))
        matcher.class_(n("Columnist"), n("bob"))
        matcher.property(n("Writes"), n("bob"), n("a2"))
        assert self.table(matcher, property_key("Writes")) == {("bob", "a2")}
        assert (self.stats.property_events, self.stats.pruned_property_events) == (2, 1)

    def test_but_not_while_a_profile_asks_no_class_of_its_subject(self):
        matcher = self.matcher(profile((v("x"), "Writes", v("y")), x="Columnist"), profile((v("x"), "Writes", v("y"))))
        matcher.class_(n("Person"), n("ann"))
        matcher.property(n("Writes"), n("ann"), n("a1"))
        assert matcher.generate_result(("q1", 0), Budget()) == [{v("x"): n("ann"), v("y"): n("a1")}]
        assert not matcher.generate_result(("q0", 0), Budget())

    def test_one_matching_class_of_several_is_enough(self):
        matcher = self.matcher(profile((v("x"), "Writes", v("y")), x="Columnist"))
        matcher.class_(n("Columnist"), n("ann"))
        matcher.class_(n("Player"), n("ann"))
        matcher.property(n("Writes"), n("ann"), n("a1"))
        assert matcher.generate_result(("q0", 0), Budget()) == [{v("x"): n("ann"), v("y"): n("a1")}]

    def test_results_are_joined_along_next_to_match(self):
        chain = profile((v("x"), "Writes", v("y")), (v("y"), "in", n("paper")), x="Columnist", y="Article")
        matcher = self.matcher(chain)
        for name, individual in (("Columnist", "ann"), ("Article", "a1"), ("Article", "a2")):
            matcher.class_(n(name), n(individual))
        matcher._individual = None  # properties of the individuals above, in no order
        for name, domain, range_ in (("Writes", "ann", "a1"), ("Writes", "ann", "a2"), ("in", "a2", "paper")):
            matcher.property(n(name), n(domain), n(range_))
        assert [(mu[v("x")], mu[v("y")]) for mu in matcher.generate_result(("q0", 0), Budget())] == [
            (n("ann"), n("a2"))
        ]
        assert self.stats.joins == 3


def test_the_broker_counts_tables_and_rows_and_starts_each_document_afresh():
    broker = IBroker(Entailment(Ontology()))
    broker.subscribe(Subscription("s", (profile((v("x"), "Writes", v("y")), x="Columnist"),)))
    text = "@prefix : <urn:> . :ann a :Columnist ; :Writes :a1 . :bob :Writes :a2 ."
    for _ in range(2):
        (match,) = broker.match(Event.read(text, "text/turtle"))
        assert [dict(binding) for binding in match.bindings] == [{"x": n("ann"), "y": n("a1")}]
    stats = broker.stats
    assert (stats.events, stats.tables, stats.rows, stats.joins) == (2, 4, 4, 2)
    assert stats.pruned_property_events == 2
    assert not list(broker.match(Event.read("<urn:bob> <urn:Writes> <urn:a2> .", "text/turtle")))
    broker.unsubscribe("s")
    assert not broker._profiles.entries
    assert not broker._profiles.firsts
