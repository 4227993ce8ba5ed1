"""`ontosub check`: findings are the result, and only errors fail."""

import json

from shop import CHEAP, run

CYCLE = "@prefix : <http://example.org/> . :Computer <http://www.w3.org/2000/01/rdf-schema#subClassOf> :Notebook .\n"


def test_a_tidy_folder_passes(folder):
    result = run("check", "--folder", folder)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "0 errors, 0 warnings, 0 notes\n"


def test_warnings_alone_pass_unless_strict(folder):
    (folder / "ontology/cycle.ttl").write_text(CYCLE)
    (folder / "subscriptions/cheap.rq").write_text(CHEAP.replace(":Computer", ":Komputer"))
    result = run("check", "--folder", folder)
    assert result.exit_code == 0
    assert "warning: these classes contain each other" in result.stdout
    assert f"warning: {folder}/subscriptions/cheap.rq" in result.stdout
    assert result.stderr == "0 errors, 2 warnings, 0 notes\n"
    strict = run("check", "--folder", folder, "--strict")
    assert strict.exit_code == 2
    assert "error: these classes contain each other" in strict.stdout


def test_all_errors_are_listed(folder):
    (folder / "ontology/shop.ttl").write_text("@prefix oops")
    (folder / "subscriptions/bad.rq").write_text("SELECT")
    (folder / "events/bad.ttl").write_text("oops")
    result = run("check", "--folder", folder)
    assert result.exit_code == 2
    for name in ("shop.ttl", "bad.rq", "bad.ttl"):
        assert f"{name}, line 1, column" in result.stdout
    assert result.stderr.startswith("3 errors")


def test_events_are_held_against_the_words_of_the_ontology(folder):
    (folder / "events/odd.ttl").write_text("@prefix : <http://example.org/> . :a a :Pen ; :inks :b . :b :inks :a .")
    result = run("check", "--folder", folder)
    assert result.exit_code == 0
    assert "note: " in result.stdout
    assert "the event odd.ttl has no home vertex" in result.stdout
    assert "uses the class <http://example.org/Pen>" in result.stdout
    assert "uses the property <http://example.org/inks>" in result.stdout


def test_findings_can_be_had_as_json(folder):
    (folder / "events/bad.ttl").write_text("@prefix : <http://example.org/> .\n:a :b oops")
    [finding] = [json.loads(line) for line in run("check", "--folder", folder, "--json").stdout.splitlines()]
    assert finding["severity"] == "error"
    assert finding["source"] == str(folder / "events/bad.ttl")
    assert finding["line"] == 2


def test_literals_without_a_value_are_doubtful(folder):
    literals = (
        "'abc'^^<http://www.w3.org/2001/XMLSchema#integer>, '3'^^<http://www.w3.org/2000/10/XMLSchema#integer>, 'a'"
    )
    (folder / "events/odd.ttl").write_text(f"@prefix : <http://example.org/> . :pc a :Notebook ; :price {literals} .")
    result = run("check", "--folder", folder)
    assert result.exit_code == 0
    assert result.stderr == "0 errors, 2 warnings, 0 notes\n"
    assert (
        '"abc"^^<http://www.w3.org/2001/XMLSchema#integer>, whose text does not belong to its datatype' in result.stdout
    )
    assert "is of a draft of XML Schema" in result.stdout
