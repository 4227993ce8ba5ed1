from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontosub import Event, Matcher, Ontology, OntosubWarning, Subscription
from ontosub.matching.batch import ENCODED
from ontosub.model.errors import LanguageError, UnknownSubscription, UsageError
from ontosub.model.terms import BlankNode, Literal, NamedNode, Triple

ONTOLOGY = Ontology.read(
    "@prefix : <urn:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :B rdfs:subClassOf :A .",
    format="text/turtle",
)
EVENT = Event.read("@prefix : <urn:> . :b a :B ; :p 1, 2 .", "text/turtle", id="e1")


def sparql(text: str, id: str = "s") -> Subscription:
    return Subscription.parse("PREFIX : <urn:> " + text, id=id)


def bindings(text: str, event: Event = EVENT) -> list[dict]:
    matcher = Matcher(ONTOLOGY)
    matcher.subscribe(sparql(text))
    return [dict(binding) for match in matcher.match(event) for binding in match.bindings]


class TestSubscribing:
    def test_the_next_event_sees_it(self):
        matcher = Matcher(ONTOLOGY)
        assert matcher.match(EVENT) == []
        matcher.subscribe(sparql("ASK { ?x a :A }"))
        assert [match.subscription_id for match in matcher.match(EVENT)] == ["s"]
        matcher.unsubscribe("s")
        assert matcher.match(EVENT) == []

    def test_an_id_can_be_taken_once(self):
        matcher = Matcher()
        matcher.subscribe(sparql("ASK { ?x a :A }"))
        assert matcher.subscribe(sparql("ASK { ?x a :A }")) == []
        with pytest.raises(UsageError, match="taken"):
            matcher.subscribe(sparql("ASK { ?x a :B }"))
        assert len(matcher.subscriptions) == 1

    def test_unknown_ids(self):
        with pytest.raises(UnknownSubscription, match="nobody"):
            Matcher().unsubscribe("nobody")
        with pytest.raises(UnknownSubscription):
            Matcher().explain(EVENT, "nobody")

    def test_an_unknown_class_is_a_warning(self):
        with pytest.warns(OntosubWarning, match="unknown class <urn:Z>"):
            (doubt,) = Matcher(ONTOLOGY).subscribe(sparql("ASK { ?x a :Z }"))
        assert doubt.hint

    def test_and_an_error_when_strict(self):
        matcher = Matcher(ONTOLOGY, strict=True)
        with pytest.raises(LanguageError, match="unknown class <urn:Z>") as caught:
            matcher.subscribe(sparql("ASK { ?x a :Z }"))
        assert caught.value.line == 1
        assert not matcher.subscriptions

    def test_without_an_ontology_no_class_is_unknown(self):
        assert Matcher().subscribe(sparql("ASK { ?x a :Z ; :p 1 }")) == []

    def test_unknown_algorithm(self):
        with pytest.raises(UsageError, match="naive"):
            Matcher(algorithm="magic")


class TestAnswers:
    def test_select_keeps_duplicates_and_distinct_does_not(self):
        assert bindings("SELECT ?x { ?x :p ?y }") == [{"x": NamedNode("urn:b")}] * 2
        assert bindings("SELECT DISTINCT ?x { ?x :p ?y }") == [{"x": NamedNode("urn:b")}]

    def test_ask_has_one_empty_answer(self):
        assert bindings("ASK { ?x :p ?y }") == [{}]

    def test_construct_builds_a_graph(self):
        matcher = Matcher(ONTOLOGY)
        matcher.subscribe(sparql("CONSTRUCT { ?x :q ?y . ?y :bad ?x . [] :of ?x } { ?x :p ?y }"))
        (match,) = matcher.match(EVENT)
        b, q, of = (NamedNode(f"urn:{name}") for name in ("b", "q", "of"))
        assert {t for t in match.graph if t.predicate == q} == {Triple(b, q, Literal(1)), Triple(b, q, Literal(2))}
        made = [t for t in match.graph if t.predicate == of]
        assert len(made) == 2
        assert all(isinstance(t.subject, BlankNode) and t.object == b for t in made)

    def test_top_classes_are_answered_by_name_and_never_bound(self):
        for top in ("owl:Thing", "daml:Thing", "rdfs:Resource"):
            prefixes = (
                "PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX daml: <http://www.daml.org/2001/03/daml+oil#> "
                "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
            )
            assert bindings(prefixes + f"SELECT ?x {{ ?x a {top} }}") == [{"x": NamedNode("urn:b")}]
        found = bindings(
            "SELECT ?c { ?x a ?c }", Event.read("<urn:b> a <urn:B>, <http://www.w3.org/2002/07/owl#Thing> .", "ttl")
        )
        assert sorted(str(b["c"]) for b in found) == ["<urn:A>", "<urn:B>"]

    def test_datatypes_are_classes_of_literals(self):
        prefix = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
        assert len(bindings(prefix + "SELECT ?v { ?x :p ?v . ?v a xsd:decimal }")) == 2
        assert not bindings(prefix + "SELECT ?v { ?x :p ?v . ?v a xsd:string }")

    def test_a_resource_can_be_said_to_have_a_datatype_as_class(self):
        prefix = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
        event = Event.read("<urn:b> a <http://www.w3.org/2001/XMLSchema#string> .", "ttl")
        assert bindings(prefix + "SELECT ?x { ?x a xsd:string }", event) == [{"x": NamedNode("urn:b")}]

    def test_schema_inside_an_event_is_plain_data(self):
        event = Event.read(
            "<urn:C> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:A> . <urn:c> a <urn:C> .",
            "ttl",
        )
        assert not bindings("SELECT ?x { ?x a :A }", event)


class TestResidual:
    def test_optional(self):
        found = bindings("SELECT ?x ?z { ?x a :A OPTIONAL { ?x :q ?z } }")
        assert found == [{"x": NamedNode("urn:b")}]

    def test_keeps_the_terms_of_the_event(self):
        event = Event.read("@prefix : <urn:> . :b a :B ; :p 3.50 .", "ttl")
        (found,) = bindings("SELECT ?v { ?x a :A OPTIONAL { ?x :p ?v } }", event)
        assert found["v"].value == "3.50"

    def test_aggregates_answer_on_nothing(self):
        assert bindings("SELECT (COUNT(*) AS ?n) { ?x a :Z }") == [{"n": Literal(0)}]

    def test_classes_by_name(self):
        prefix = "PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
        query = "SELECT ?x ?v { ?x a owl:Thing OPTIONAL { ?x :p ?v . ?v a xsd:decimal FILTER(?v > 1) } }"
        assert bindings(prefix + query) == [{"x": NamedNode("urn:b"), "v": Literal(2)}]

    @pytest.mark.parametrize(
        ("path", "ways"),
        [
            ("?x :p|:q ?y", "{ ?x :p ?y } UNION { ?x :q ?y }"),
            ("_:x (:p|:q)/:p ?y . _:x :p ?z", "{ ?x :p ?a } UNION { ?x :q ?a } ?a :p ?y . ?x :p ?z"),
            ("?x ^(:p/(:q|:p)) ?y", "?y :p ?a . { ?a :q ?x } UNION { ?a :p ?x }"),
        ],
    )
    def test_every_way_of_a_path_counts(self, path, ways):
        event = Event.read("@prefix : <urn:> . :a :p :a, :b ; :q :a, :b . :b :p :a ; :q :b .", "ttl")
        answers = [bindings(f"SELECT ?y {{ {text} OPTIONAL {{ ?y :none ?no }} }}", event) for text in (path, ways)]
        assert sorted(map(str, answers[0])) == sorted(map(str, answers[1]))
        assert len(answers[0]) > len({str(answer) for answer in answers[0]})
        starred = bindings(f"SELECT * {{ {path} OPTIONAL {{ ?y :none ?no }} }}", event)
        assert len(starred) == len(answers[0])
        assert not any(name.startswith("ontosub") for answer in starred for name in answer)

    def test_construct_with_an_aggregate(self):
        matcher = Matcher(ONTOLOGY)
        matcher.subscribe(sparql("CONSTRUCT { :a :b :c } { ?x a :A } HAVING(COUNT(*) > 0)"))
        (match,) = matcher.match(EVENT)
        assert len(match.graph) == 1

    def test_unknown_functions_are_refused(self):
        with pytest.raises(LanguageError, match="unknown function <urn:f>"):
            sparql("SELECT ?x { ?x :p ?o FILTER(:f(?o)) }")

    @pytest.mark.parametrize("algorithm", ["naive", "compiled"])
    @pytest.mark.xdist_group("compiled")
    def test_strings_that_outgrow_memory_are_over_budget(self, algorithm):
        doubling = " ".join(f"BIND(CONCAT(?v{i}, ?v{i}) AS ?v{i + 1})" for i in range(40))
        matcher = Matcher(algorithm=algorithm)
        matcher.subscribe(sparql(f"SELECT ?v40 {{ ?s :p ?o BIND('long' AS ?v0) {doubling} }}", id="hostile"))
        matcher.subscribe(sparql("SELECT ?n { ?s :p 2 BIND(CONCAT('a', 'b') AS ?n) }", id="modest"))
        (match,) = matcher.match(EVENT)
        assert match.bindings == [{"n": Literal("ab")}]
        assert matcher.over_budget == {"hostile"}

    def test_construct_from_groups(self):
        matcher = Matcher(ONTOLOGY)
        matcher.subscribe(sparql("CONSTRUCT { ?x :has ?x } { ?x :p ?v } GROUP BY ?x"))
        (match,) = matcher.match(EVENT)
        assert len(match.graph) == 1

    def test_construct_and_describe(self):
        matcher = Matcher(ONTOLOGY)
        matcher.subscribe(sparql("CONSTRUCT { ?x :q ?z } { ?x a :A OPTIONAL { ?x :p ?z } }", id="construct"))
        matcher.subscribe(sparql("DESCRIBE ?x { ?x a :A OPTIONAL { ?x :p ?z } }", id="describe"))
        construct, describe = matcher.match(EVENT)
        assert len(construct.graph) == 2
        assert {str(t.predicate) for t in describe.graph} >= {"<urn:p>"}


class TestBatch:
    def table(self, *rows: tuple) -> pa.Table:
        names = ["event_id", "content_type", "payload", "time_start", "time_end"]
        return pa.Table.from_pylist([dict(zip(names, row, strict=False)) for row in rows])

    def test_matches_and_rejects_are_tables(self):
        matcher = Matcher(ONTOLOGY)
        matcher.subscribe(sparql("SELECT ?x { ?x a :A }"))
        noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
        result = matcher.match_batch(
            self.table(
                ("e1", "text/turtle", b"<urn:b> a <urn:B> .", noon, None),
                ("e2", "text/turtle", b"<urn:b> a", None, None),
                ("e3", "no/such", b"", None, None),
                ("e4", "text/turtle", b"<urn:c> a <urn:C> .", None, None),
            )
        )
        (row,) = result.matches.to_pylist()
        assert (row["event_id"], row["subscription_id"], row["time_start"], row["time_end"]) == ("e1", "s", noon, noon)
        assert [dict(binding) for binding in row["bindings"]] == [{"x": "<urn:b>"}]
        rejects = result.rejects.to_pylist()
        assert [(r["event_id"], r["line"]) for r in rejects] == [("e2", 1), ("e3", None)]
        assert rejects[0]["payload"] == b"<urn:b> a"
        assert "unknown format" in rejects[1]["reason"]

    def test_missing_columns_are_named(self):
        with pytest.raises(UsageError, match="payload"):
            Matcher().match_batch(pa.table({"event_id": ["x"], "content_type": ["ttl"]}))

    def test_an_empty_table_gives_empty_tables(self):
        result = Matcher().match_batch(
            self.table()
            .select([])
            .append_column("event_id", pa.array([], pa.string()))
            .append_column("content_type", pa.array([], pa.string()))
            .append_column("payload", pa.array([], pa.binary()))
        )
        assert (result.matches.num_rows, result.rejects.num_rows) == (0, 0)


class TestEncodedBatch:
    @pytest.mark.parametrize("algorithm", ["naive", "compiled"])
    @pytest.mark.parametrize("with_bindings", [True, False])
    def test_says_the_same(self, algorithm, with_bindings, tmp_path):
        matcher = Matcher(ONTOLOGY, algorithm)
        matcher.subscribe(sparql("SELECT ?x ?v { ?x a :A ; :p ?v }", "core"))
        matcher.subscribe(sparql("SELECT ?x ?z { ?x a :A OPTIONAL { ?x :q ?z } }", "residual"))
        matcher.subscribe(sparql("ASK { ?x :p 2 }", "ask"))
        # A walk finds the answers of these in turns.
        matcher.subscribe(sparql("SELECT ?v { ?x a :A ; :p ?v }", "narrow"))
        matcher.subscribe(sparql("SELECT ?v { { ?x a :A ; :p ?v } UNION { ?x :p ?v } }", "union"))
        payloads = [f"<urn:b> a <urn:B> ; <urn:p> {i % 3}, {i} .".encode() for i in range(20)]
        names = [f"e{i % 10}" for i in range(20)]  # an id may come twice
        table = pa.table([names, ["text/turtle"] * 20, payloads], names=["event_id", "content_type", "payload"])
        plain = matcher.match_batch(table, bindings=with_bindings).matches
        found = matcher.match_batch(table, bindings=with_bindings, encoded=True).matches
        assert found.schema == pa.schema([ENCODED.field(name) for name in plain.column_names])
        pq.write_table(found, tmp_path / "found.parquet", store_schema=False)
        back = pq.read_table(tmp_path / "found.parquet").cast(plain.schema)
        assert self.rows(back) == self.rows(plain)

    def rows(self, matches):
        """Return rows in order, and the answers of each."""
        return sorted(str({**row, "bindings": sorted(row.get("bindings", ()))}) for row in matches.to_pylist())

    def test_nothing(self):
        table = pa.table([["e"], ["text/turtle"], [b""]], names=["event_id", "content_type", "payload"])
        for algorithm in ("naive", "compiled"):
            assert len(Matcher(ONTOLOGY, algorithm).match_batch(table, encoded=True).matches) == 0


class TestBudget:
    """A subscription that asks too much gets no answer, and takes none from the others."""

    WIDE = Event("wide", frozenset(Triple(NamedNode(f"urn:{i}"), NamedNode("urn:p"), Literal(i)) for i in range(400)))

    @pytest.mark.parametrize("algorithm", ["naive", "compiled"])
    @pytest.mark.parametrize(
        "hostile",
        [
            "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
            "SELECT * { ?a ?b ?c . ?d ?e ?f OPTIONAL { ?f ?j ?k } }",
            "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }",
        ],
    )
    @pytest.mark.xdist_group("compiled")
    def test_the_others_have_their_answers(self, algorithm, hostile, monkeypatch):
        monkeypatch.setattr("ontosub.semantics.budget.Budget.__init__.__defaults__", (20_000, 10_000_000))
        matcher = Matcher(algorithm=algorithm)
        matcher.subscribe(sparql(hostile, id="hostile"))
        matcher.subscribe(sparql("SELECT ?v { :7 :p ?v }", id="modest"))
        assert [match.subscription_id for match in matcher.match(self.WIDE)] == ["modest"]
        assert matcher.over_budget == {"hostile"}
        matcher.unsubscribe("hostile")
        matcher.match(self.WIDE)
        assert matcher.over_budget == frozenset()


def test_a_pattern_too_long_to_search_is_over_budget():
    arcs = " ".join(f"?x{i} :p ?x{i + 1} ." for i in range(1100))
    matcher = Matcher(algorithm="naive")
    matcher.subscribe(sparql(f"ASK {{ {arcs} }}"))
    assert matcher.match(Event.read("<urn:a> <urn:p> <urn:a> .", "nt")) == []
    assert matcher.over_budget == {"s"}
