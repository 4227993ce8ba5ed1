"""`ontosub match` and `ontosub explain`: what goes to standard output, in both forms."""

import json

import pytest
from shop import CHEAP, NOTEBOOK, run

from ontosub.matching import Matcher
from ontosub.model.errors import LimitError


class TestMatch:
    def test_shows_who_is_notified_of_what(self, folder):
        result = run("match", "-o", folder / "ontology/shop.ttl", "-s", folder / "subscriptions", folder / "events")
        assert result.exit_code == 0
        assert result.stdout.splitlines() == [
            "any: event dear.ttl matches",
            "    ?c = <mainframe>",
            "any: event notebook.ttl matches",
            "    ?c = <pc>",
            "cheap: event notebook.ttl matches",
            "    ?x = <pc>, ?price = 350.00",
        ]

    def test_a_folder_stands_for_its_parts(self, folder):
        parts = run("match", "-o", folder / "ontology", "-s", folder / "subscriptions", folder / "events")
        assert run("match", "--folder", folder).stdout == parts.stdout != ""

    def test_writes_json_lines_with_sparql_terms(self, folder):
        result = run("match", "--folder", folder, "--json")
        cheap = [line for line in map(json.loads, result.stdout.splitlines()) if line["subscription"] == "cheap"]
        assert cheap == [
            {
                "event": "notebook.ttl",
                "subscription": "cheap",
                "source": str(folder / "events/notebook.ttl"),
                "bindings": [
                    {
                        "x": {"type": "uri", "value": "http://example.org/pc"},
                        "price": {
                            "type": "literal",
                            "value": "350.00",
                            "datatype": "http://www.w3.org/2001/XMLSchema#decimal",
                        },
                    }
                ],
            }
        ]

    def test_shows_triple_terms_and_directions(self, tmp_path):
        event, query = tmp_path / "e.ttl", tmp_path / "s.rq"
        event.write_text('<urn:a> <urn:p> <<( <urn:b> <urn:q> "x"@ar--rtl )>> .')
        query.write_text("SELECT ?t { ?x <urn:p> ?t }")
        shown = run("match", "-s", query, event).stdout.splitlines()
        assert shown == ["s: event e.ttl matches", '    ?t = <<( <b> <q> "x"@ar--rtl )>>']
        [line] = run("match", "--json", "-s", query, event).stdout.splitlines()
        [binding] = json.loads(line)["bindings"]
        text = {"type": "literal", "value": "x", "xml:lang": "ar", "its:dir": "rtl"}
        parts = {"subject": {"type": "uri", "value": "urn:b"}, "predicate": {"type": "uri", "value": "urn:q"}}
        assert binding == {"t": {"type": "triple", "value": {**parts, "object": text}}}

    def test_says_why(self, folder):
        assert "<Notebook> <subClassOf> <Computer>" in run("match", "--folder", folder, "--explain").stdout
        [line, *_] = run("match", "--folder", folder, "--explain", "--json").stdout.splitlines()
        assert json.loads(line)["explanation"]["matched"] is True

    def test_reads_standard_input(self, folder):
        cheap = folder / "subscriptions/cheap.rq"
        result = run("match", "-o", folder / "ontology", "-s", cheap, "-", "--format", "ttl", input=NOTEBOOK)
        assert result.stdout.splitlines()[0] == "cheap: event - matches"

    def test_events_of_one_file_are_numbered(self, folder):
        (folder / "events/two.ttl").write_text(f"{NOTEBOOK}\n# @message\n:other a :Notebook .\n")
        result = run("match", "--folder", folder)
        assert "any: event two.ttl matches" in result.stdout
        assert "any: event two.ttl#2 matches" in result.stdout

    def test_events_that_have_a_name_keep_it(self, folder):
        (folder / "events/named.trig").write_text("@prefix : <http://example.org/> . :it { :pc a :Notebook }")
        assert "any: event http://example.org/it matches" in run("match", "--folder", folder).stdout

    def test_constructed_graphs_are_written(self, folder):
        query = "PREFIX : <http://example.org/> CONSTRUCT { ?x :isCheap true } { ?x :price ?p FILTER (?p < 400) }"
        (folder / "subscriptions/built.rq").write_text(query)
        made = (
            '<http://example.org/pc> <http://example.org/isCheap> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .'
        )
        assert made in run("match", "--folder", folder).stdout
        lines = map(json.loads, run("match", "--folder", folder, "--json").stdout.splitlines())
        assert [line["graph"] for line in lines if line["subscription"] == "built"] == [[made]]

    def test_the_time_of_an_event_is_written(self, folder):
        envelope = {"specversion": "1.0", "id": "7", "source": "/s", "type": "t", "time": "2026-01-31T12:00:00Z",
                    "datacontenttype": "text/turtle", "data": NOTEBOOK}  # fmt: skip
        (folder / "events/enveloped.cloudevent").write_text(json.dumps(envelope))
        [line] = [
            line
            for line in map(json.loads, run("match", "--folder", folder, "--json").stdout.splitlines())
            if line["event"] == "7" and line["subscription"] == "any"
        ]
        assert line["interval"] == {"start": "2026-01-31T12:00:00+00:00", "end": "2026-01-31T12:00:00+00:00"}


class TestCompanions:
    def test_lie_beside_the_event_and_are_none_themselves(self, folder):
        context = {"@vocab": "http://example.org/", "kind": "@type"}
        mapping = {
            "prefixes": {"": "http://example.org/"},
            "class": ":Notebook",
            "properties": [{"property": ":price", "from": "p", "datatype": "xsd:decimal"}],
        }
        (folder / "events/plain.json").write_text('{"kind": "Notebook", "price": 300}')
        (folder / "events/plain.context.json").write_text(json.dumps(context))
        (folder / "events/rows.csv").write_text("p\n200\n500\n")
        (folder / "events/rows.mapping.json").write_text(json.dumps(mapping))
        result = run("match", "--folder", folder)
        assert (result.exit_code, result.stderr) == (0, "")
        notified = [line for line in result.stdout.splitlines() if line.startswith("cheap:")]
        assert notified == [f"cheap: event {name} matches" for name in ("notebook.ttl", "plain.json", "rows.csv")]

    def test_given_ones_win(self, folder):
        event, context = folder / "plain.json", folder / "context.json"
        event.write_text('{"@type": "Notebook", "costs": 300}')
        (folder / "plain.context.json").write_text('{"@vocab": "http://elsewhere.example/"}')
        context.write_text('{"@vocab": "http://example.org/", "costs": "price"}')
        arguments = ("-o", folder / "ontology", "-s", folder / "subscriptions/cheap.rq", event)
        assert run("match", *arguments).stdout == ""
        assert run("match", *arguments, "--context", context).stdout.startswith("cheap: event plain.json matches")

    def test_a_vocabulary_may_do(self, folder):
        event = folder / "plain.json"
        event.write_text('{"@type": "Notebook", "price": 300}')
        result = run("match", "--folder", folder, event, "--vocab", "http://example.org/")
        assert "cheap: event plain.json matches" in result.stdout


class TestSubscriptions:
    def test_rules_extend_each_other_in_any_order(self, folder):
        (folder / "subscriptions/a-first.mdv").write_text(
            "PREFIX : <http://example.org/> search any a register a where a.price < 400"
        )
        assert "a-first: event notebook.ttl matches" in run("match", "--folder", folder).stdout

    def test_the_language_can_be_said(self, folder):
        path = folder / "query.txt"
        path.write_text(CHEAP)
        result = run("match", "-o", folder / "ontology", "-s", path, "--language", "sparql", folder / "events")
        assert result.stdout.startswith("query: event notebook.ttl matches")


def test_an_event_that_too_much_follows_from_takes_no_answers_from_others(folder):
    (folder / "ontology/parts.ttl").write_text("<urn:p> a <http://www.w3.org/2002/07/owl#TransitiveProperty> .")
    chain = "".join(f"<urn:{i}> <urn:p> <urn:{i + 1}> .\n" for i in range(900))
    (folder / "events/chain.nt").write_text(chain)
    result = run("match", "--folder", folder)
    assert result.exit_code == 2
    assert "chain.nt cannot be matched: more than 400,000 triples follow from the event" in result.stderr
    assert "cheap: event notebook.ttl matches" in result.stdout


class Impatient(Matcher):
    """A matcher that finds the subscription `cheap` too costly to decide."""

    def match(self, event):
        return [match for match in super().match(event) if match.subscription_id != "cheap"]

    @property
    def over_budget(self):
        return frozenset({"cheap"})

    def explain(self, event, id):
        if id == "cheap":
            raise LimitError("the pattern needs more than 5 steps")
        return super().explain(event, id)


class TestOverBudget:
    """A subscription that would take too long is named; the others have their answers."""

    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch):
        monkeypatch.setattr("ontosub.composite.composite_matcher.Matcher", Impatient)

    def test_is_said_on_standard_error(self, folder):
        result = run("match", "--folder", folder)
        assert result.exit_code == 0
        for name in ("dear.ttl", "notebook.ttl"):
            assert f"warning: {folder}/events/{name}: the event {name} was given up for cheap: " in result.stderr
            assert f"any: event {name} matches" in result.stdout
        assert result.stderr.count("given up") == 2

    def test_is_a_line_of_json(self, folder):
        result = run("match", "--folder", folder, "--json")
        records = [line for line in map(json.loads, result.stdout.splitlines()) if "over_budget" in line]
        assert records == [
            {"event": name, "source": str(folder / "events" / name), "over_budget": ["cheap"]}
            for name in ("dear.ttl", "notebook.ttl")
        ]
        assert result.exit_code == 0

    def test_is_an_error_when_warnings_are(self, folder):
        result = run("match", "--folder", folder, "--strict")
        assert result.exit_code == 2
        assert "any: event notebook.ttl matches" in result.stdout

    def test_does_not_end_explaining(self, folder):
        result = run("explain", "--folder", folder)
        assert "the subscription cheap cannot be explained: the pattern needs more than 5 steps" in result.stderr
        assert "any: event notebook.ttl matches" in result.stdout
        assert result.exit_code == 0


class TestExplain:
    def test_names_the_nearest_miss(self, folder):
        result = run("explain", "-o", folder / "ontology", "-s", folder / "subscriptions/cheap.rq",
                     folder / "events/dear.ttl")  # fmt: skip
        assert result.exit_code == 0
        assert result.stdout.startswith("cheap: event dear.ttl does not match")
        assert "45000 is not < 400" in result.stdout

    def test_writes_json(self, folder):
        lines = [json.loads(line) for line in run("explain", "--folder", folder, "--json").stdout.splitlines()]
        verdicts = {(line["subscription"], line["event"]): line["matched"] for line in lines}
        assert verdicts == {
            ("any", "dear.ttl"): True,
            ("any", "notebook.ttl"): True,
            ("cheap", "dear.ttl"): False,
            ("cheap", "notebook.ttl"): True,
        }

    def test_names_the_part_of_a_query_that_decides(self, tmp_path):
        event, query = tmp_path / "e.ttl", tmp_path / "s.rq"
        event.write_text("<urn:a> <urn:p> 1 ; <urn:q> <urn:c> .")
        query.write_text("ASK {\n  ?x <urn:p> 1\n  MINUS { ?x <urn:q> ?y }\n}")
        line = run("explain", "-s", query, event).stdout.splitlines()[-1]
        told = "takes away the only solution, ?x = <a>: it finds ?x = <a>, ?y = <c>"
        assert line == f"  - MINUS {{ ?x <q> ?y }} (line 3, column 11): {told}"
        [failed] = json.loads(run("explain", "--json", "-s", query, event).stdout)["failed"]
        assert (failed["detail"], failed["line"], failed["column"]) == (told, 3, 11)

    def test_says_that_a_query_takes_too_long(self, tmp_path):
        event, query = tmp_path / "e.ttl", tmp_path / "s.rq"
        event.write_text("<urn:a> <urn:p> 1, 2, 3, 4, 5, 6, 7, 8 .")
        arcs = " ".join(f"OPTIONAL {{ ?a{number} <urn:p> ?b{number} }}" for number in range(12))
        query.write_text(f"SELECT (COUNT(*) AS ?n) {{ {arcs} }}")
        result = run("explain", "--json", "-s", query, event)
        assert json.loads(result.stdout)["matched"] is None
        assert "the event e.ttl was given up for s" in result.stderr
        assert result.exit_code == 0
