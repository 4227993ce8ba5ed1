"""What a user gets wrong is a message that names it and exit code 2: never a traceback, never a lost result."""

import os
import subprocess
import sys

import pytest
from shop import CHEAP, NOTEBOOK, run


def refused(*arguments: object, **options: object) -> str:
    """Run a command that must be refused, and return its message."""
    result = run(*arguments, **options)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result.stderr


class TestPoison:
    def test_one_bad_event_does_not_stop_the_others(self, folder):
        (folder / "events/m-bad.ttl").write_text("@prefix : <http://example.org/> .\n:pc a :Notebook ; oops\n")
        result = run("match", "--folder", folder)
        assert result.exit_code == 2
        assert "any: event dear.ttl matches" in result.stdout
        assert "cheap: event notebook.ttl matches" in result.stdout
        assert f"{folder}/events/m-bad.ttl, line 2, column " in result.stderr

    def test_a_bad_line_leaves_the_others_of_its_file(self, folder):
        lines = [
            '{"@context": {"@vocab": "http://example.org/"}}',
            '{"@type": "Notebook"}',
            '{"@type": }',
            '{"@type": "Notebook"}',
        ]
        (folder / "events/rows.jsonl").write_text("\n".join(lines))
        result = run("match", "--folder", folder)
        assert result.exit_code == 2
        assert "any: event rows.jsonl matches" in result.stdout
        assert "any: event rows.jsonl#2 matches" in result.stdout
        assert "rows.jsonl, line 3, column 11" in result.stderr

    def test_events_before_any_other_fault_are_matched(self, folder):
        text = "<urn:a> a <http://example.org/Notebook> .\n# @message\n<urn:b> a .\n"
        (folder / "events/log.ttl").write_text(text)
        result = run("match", "--folder", folder)
        assert result.exit_code == 2
        assert "any: event log.ttl matches" in result.stdout
        assert "log.ttl: what follows event 1 was not read" in result.stderr

    def test_a_bad_subscription_stops_before_the_first_event(self, folder):
        (folder / "subscriptions/bad.rq").write_text("SELECT ?x {\n  ?x a }")
        (folder / "subscriptions/worse.mdv").write_text("search register")
        (folder / "subscriptions/worst.ops").write_text("(_:H")
        result = run("match", "--folder", folder)
        assert (result.exit_code, result.stdout) == (2, "")
        for name in ("bad.rq, line 2, column 8", "worse.mdv, line 1, column", "worst.ops, line 1, column"):
            assert name in result.stderr

    def test_rules_that_extend_each_other_in_a_circle(self, folder):
        for name, other in (("one", "two"), ("two", "one")):
            (folder / f"subscriptions/{name}.mdv").write_text(f"search {other} x register x")
        assert "extends itself" in refused("match", "--folder", folder)


class TestPaths:
    @pytest.mark.parametrize("command", ["match", "check", "explain"])
    def test_files_that_are_not_there(self, command, folder):
        missing = folder / "nowhere.ttl"
        assert f"error: {missing}: there is no such file" in refused(command, "--folder", folder, missing)
        assert f"{missing}: there is no such file" in refused(command, "-o", missing, "--folder", folder)
        assert f"{missing}: there is no such file" in refused(command, "-s", missing, "--folder", folder)
        assert "--folder" in refused(command, "--folder", missing)

    def test_folders_that_are_empty(self, folder):
        empty = folder / "empty"
        empty.mkdir()
        assert "the folder holds no events" in refused("match", "--folder", folder, empty)
        assert "the folder holds no subscriptions" in refused("match", "-s", empty, folder / "events")
        assert "the folder holds no ontologies" in refused("match", "-o", empty, "--folder", folder)

    def test_extensions_that_say_nothing(self, folder):
        strange = folder / "strange.xyz"
        strange.write_text(NOTEBOOK)
        assert "--language" in refused("match", "-s", strange, folder / "events")
        assert "strange.xyz" in refused("match", "--folder", folder, strange)
        assert "strange.xyz" in refused("match", "--folder", folder, "-o", strange)
        assert "unknown format" in refused("match", "--folder", folder, "--format", "xyz")

    def test_two_subscriptions_of_one_name(self, folder):
        (folder / "subscriptions/cheap.ops").write_text("")
        message = refused("match", "--folder", folder)
        assert "cheap.ops" in message
        assert "cheap.rq" in message

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
    def test_files_that_may_not_be_read(self, folder):
        (folder / "events/notebook.ttl").chmod(0)
        assert "cannot be read: permission denied" in refused("match", "--folder", folder)

    def test_subscriptions_that_are_not_text(self, folder):
        (folder / "subscriptions/cheap.rq").write_bytes(b"SELECT \xff")
        assert "cheap.rq: the byte at offset 7 is not UTF-8" in refused("match", "--folder", folder)


class TestUsage:
    @pytest.mark.parametrize("option", ["--context", "--mapping"])
    def test_companions_that_are_not_there(self, option, folder):
        assert option in refused("match", "--folder", folder, option, folder / "nowhere.json")

    def test_a_bad_context_is_told_from_a_bad_event(self, folder):
        (folder / "events/plain.json").write_text('{"price": 1}')
        (folder / "events/plain.context.json").write_text("{\n  oops")
        assert "plain.json, context, line 2, column" in refused("match", "--folder", folder)

    def test_standard_input_needs_a_format(self, folder):
        assert "--format" in refused("match", "--folder", folder, "-", input=NOTEBOOK)

    def test_something_must_be_given(self, folder):
        assert "--subscription" in refused("match", folder / "events")
        assert "EVENT" in refused("match", "-s", folder / "subscriptions", "-o", folder / "ontology")
        assert "nothing to check" in refused("check")

    def test_unknown_words(self, folder):
        assert "--frobnicate" in refused("match", "--frobnicate")
        assert "frobnicate" in refused("frobnicate")
        assert "latin" in refused("match", "-s", folder / "subscriptions", "--language", "latin", "--folder", folder)


class TestWarnings:
    def test_unknown_words_are_told_and_matching_goes_on(self, folder):
        (folder / "subscriptions/cheap.rq").write_text(CHEAP.replace(":Computer", ":Komputer"))
        result = run("match", "--folder", folder)
        assert result.exit_code == 0
        assert result.stderr.startswith("warning: cheap")
        assert "any: event notebook.ttl matches" in result.stdout

    def test_strictly_they_are_errors(self, folder):
        (folder / "subscriptions/cheap.rq").write_text(CHEAP.replace(":Computer", ":Komputer"))
        assert "unknown class" in refused("match", "--folder", folder, "--strict")

    def test_a_missing_import_too(self, folder):
        path = folder / "ontology/shop.ttl"
        path.write_text(path.read_text() + "<> <http://www.w3.org/2002/07/owl#imports> <http://example.org/other> .\n")
        assert "warning: the import" in run("match", "--folder", folder).stderr
        assert "error: the import" in refused("match", "--folder", folder, "--strict")


def test_a_terminal_that_cannot_show_a_character_shows_its_escape(folder):
    (folder / "events/notebook.ttl").write_text(NOTEBOOK.replace(":pc", ":中"))
    command = [sys.executable, "-c", "from ontosub.cli import main; main()", "match", "--folder", str(folder)]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "<\\u4e2d>" in done.stdout


def test_a_reader_that_leaves_early_is_no_fault(folder):
    """The results overflow the pipe's buffer, so that writing fails for certain."""
    (folder / "events/many.ttl").write_text("\n# @message\n".join([NOTEBOOK, *[":pc a :Notebook ."] * 3000]))
    command = [sys.executable, "-c", "from ontosub.cli import main; main()", "match", "--folder", str(folder), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 1
