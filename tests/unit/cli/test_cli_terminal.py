"""Whatever the input: nothing that the command line shows is obeyed by a terminal, or forges a line."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from shop import fill, run
from typer.testing import Result

from ontosub.cli.run import _show, _show_json
from ontosub.model import Diagnostic
from ontosub.model.errors import LimitError, Span, UsageError
from ontosub.model.terminal import printable

CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
NASTY = "\x1b]0;\x07\x9b2J\r\x7f\u202e\u2066\u2028\x85\t"
FORGED = "\nFORGED: event x matches"

foreign = st.text(st.one_of(st.sampled_from(NASTY), st.characters(codec="utf-8")), max_size=12).map(
    lambda text: f"{text}{FORGED}"
)
names = foreign.map(lambda text: "n" + text.replace("/", "").replace("\0", ""))


def harmless(result: Result) -> Result:
    """Check what was shown."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    for shown in (result.stdout, result.stderr):
        assert not CONTROLS.search(shown)
        assert not any(line.startswith("FORGED") for line in shown.splitlines())
    return result


def hostile_shop(folder: Path, text: str, name: str) -> Path:
    """Fill a folder with files whose names, ids, literals and faults are foreign text."""
    literal = json.dumps(text, ensure_ascii=False)
    notebook = f"@prefix : <http://example.org/> . :pc a :Notebook ; :price 350.00 ; :name {literal}, {literal}@de ."
    envelope = {"specversion": "1.0", "id": text, "source": "urn:s", "type": text, "time": "2024-05-01T12:00:00Z"}
    query = "PREFIX : <http://example.org/> SELECT ?x ?name { ?x a :Computer ; :name ?name FILTER (?name != %s) }"
    composite = "cheap before cheap within 1 min"
    tree = {"@context": {"@vocab": "http://example.org/"}, "@type": "Notebook", text: text}
    fill(folder)
    for place, written in {
        f"events/{name}.ttl": notebook,
        f"events/{name}.jsonld": json.dumps(tree),
        f"events/{name}.cloudevent": json.dumps({**envelope, "datacontenttype": "text/turtle", "data": notebook}),
        f"events/{name}-broken.ttl": f"@prefix : <http://example.org/> .\n:pc {text}",
        f"events/{name}-broken.json": f'{{"a": {text}',
        f"events/{name}-broken.csv": f'a,b\n"{text},1',
        f"subscriptions/{name}.rq": query % '"x"',
        f"subscriptions/{name}-all.rq": query % literal,
        f"subscriptions/{name}-both.composite": composite,
    }.items():
        (folder / place).write_text(written, encoding="utf-8", newline="")
    return folder


WITHOUT_SHRINKING = (Phase.explicit, Phase.generate)  # which would take minutes of commands


@settings(max_examples=8, deadline=None, phases=WITHOUT_SHRINKING)
@given(text=foreign, name=names)
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_whatever_the_files_say(options, text, name):
    with TemporaryDirectory() as temporary:
        folder = hostile_shop(Path(temporary), text, name)
        matched = harmless(run("match", "--folder", folder, *options))
        assert "matches" in matched.stdout or options
        for command in (["match", "--explain"], ["explain"], ["check"], ["check", "--strict"]):
            harmless(run(*command, "--folder", folder, *options))
        (folder / f"subscriptions/{name}-broken.rq").write_text(f"SELECT * {{\n?x a {text}", encoding="utf-8")
        (folder / f"subscriptions/{name}-broken.mdv").write_text(f"search {text}", encoding="utf-8")
        (folder / f"ontology/{name}.ttl").write_text(f"<urn:a> {text}", encoding="utf-8")
        for command in ("match", "check"):
            assert harmless(run(command, "--folder", folder, *options)).exit_code == 2


@settings(max_examples=8, deadline=None, phases=WITHOUT_SHRINKING)
@given(name=names)
def test_whatever_a_call_names(name):
    for arguments in (
        ["match", name],
        ["match", f"--{name}"],
        ["match", "--lateness", name, "-s", name, name],
        ["check", "-s", name],
        ["bench", "--engine", name],
        ["bench", "--size", name],
        ["bench", name],
        ["run", name],
        ["run", "a", name],
        ["run", "--source", name, "--state", "s"],
        ["run", "--sink", name, "--state", "s"],
        [name],
        [f"--{name}"],
    ):
        assert harmless(run(*arguments)).exit_code == 2


@given(text=foreign)
def test_whatever_a_backtest_finds(text):
    from ontosub.pipeline.backtest import Backtest, Fired
    from ontosub.pipeline.staging import Outcome

    sample = {"event": text, "time": None, "bindings": [{"x": text}, {}]}
    found = Backtest(Outcome((), (), 1, 1, 0), [Fired(text, 1, [sample, {**sample, "events": [text]}])], frozenset())
    with pytest.MonkeyPatch.context() as patch:
        shown: list[str] = []
        patch.setattr("typer.echo", lambda line, **_: shown.append(line))
        _show(found)
        _show_json(found)
    assert len(shown) == 4
    for line in shown:
        assert not CONTROLS.search(line)
        assert "\n" not in line


@given(text=foreign)
def test_every_diagnostic_is_harmless(text):
    start = len(text) // 2
    shown = str(Diagnostic(text, hint=text, text=text, span=Span.of(text, start, len(text)), source=text))
    assert not CONTROLS.search(shown)
    assert len(shown.splitlines()) == 4
    for error in (UsageError(text), LimitError(Diagnostic(text, hint=text))):
        assert error.diagnostic.message == text


def test_the_line_below_points_at_what_is_meant():
    text = 'a\x1b[0m "b\x07" c\r\nd'
    start = text.index('"')
    assert str(Diagnostic("odd", text=text, span=Span.of(text, start, start + 4))).splitlines()[1:] == [
        r'  a\u001b[0m "b\u0007" c',
        "             ^^^^^^^^^",
    ]


@given(text=foreign)
def test_json_means_the_same(text):
    assert json.loads(printable(json.dumps({text: text}, ensure_ascii=False))) == {text: text}
