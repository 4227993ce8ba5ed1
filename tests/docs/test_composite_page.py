"""The page about composite events says what is true: its examples run, its limits are those of the code."""

import contextlib
import io
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ontosub import Composite, Subscription
from ontosub.cli import app
from ontosub.composite.detector import Detector
from ontosub.composite.instance import EVENTS_MAX
from ontosub.composite.work import STEPS_MAX
from ontosub.languages.composite import parser
from ontosub.languages.composite.tokens import TEXT_MAX
from ontosub.model.composite import COUNT_MAX, DEPTH_MAX, NODES_MAX, OPERANDS_MAX, WINDOW_MAX
from ontosub.model.relation import Relation

FOLDER = Path(__file__).parents[2] / "docs"
PAGE = (FOLDER / "COMPOSITE.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(.*)\n((?:.*\n)*?)```$", PAGE, re.M)


@pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")
def test_the_python_prints_what_is_shown():
    known: dict = {}
    shown = [(code, text) for (kind, code), (below, text) in pairwise(BLOCKS) if (kind, below) == ("python", "text")]
    assert len(shown) == sum(kind == "python" for kind, _ in BLOCKS) == 3
    for code, expected in shown:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "COMPOSITE.md", "exec"), known)
        assert printed.getvalue() == expected


def test_the_command_prints_what_is_shown(monkeypatch):
    [(command, shown)] = re.findall(r"^\$ (ontosub .*)\n…\n((?:.+\n)*)", dict(BLOCKS)["console"], re.M)
    monkeypatch.chdir(FOLDER.parent)
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.exit_code == 0
    assert result.output.endswith(f"\n{shown}")


def test_the_examples_of_the_language_are_read():
    where = "{ ?e <urn:p> ?room ; <urn:s> ?sensor ; <urn:v> ?value }"
    names = {
        name: Subscription.parse(f"SELECT {variables} {where}", id=name)
        for name, variables in {
            "smoke": "?room",
            "heat": "?room",
            "repair": "?sensor",
            "reading": "?sensor ?value",
            "heartbeat": "?sensor",
        }.items()
    }
    [text] = [text for kind, text in BLOCKS if kind == "composite"]
    assert len(text.splitlines()) == 5
    for line in text.splitlines():
        assert Composite.parse(line, id="c", names=names).pattern


def test_the_grammar_is_the_parser_s():
    grammar = (parser.__doc__ or "").split("\n\n")[1]
    assert grammar in {text.strip() for kind, text in BLOCKS if not kind}


def test_every_relation_is_named():
    section = PAGE[PAGE.index("## Allen's relations") :].replace("\n", " ")
    assert all(f"`{relation.value}`" in section for relation in Relation)


@pytest.mark.parametrize(
    "limit", [COUNT_MAX, DEPTH_MAX, NODES_MAX, OPERANDS_MAX, WINDOW_MAX.days, STEPS_MAX, EVENTS_MAX, TEXT_MAX], ids=str
)
def test_limits_are_what_the_page_says(limit: int):
    section = PAGE[PAGE.index("## Limits") :]
    assert re.search(rf"(?<![\d,]){limit:,}(?![\d,])", section)


def test_every_call_of_the_detector_is_described():
    section = PAGE[PAGE.index("## How to run it") : PAGE.index("## How it works")]
    public = {name for name in vars(Detector) if not name.startswith("_")}
    assert {name for name in public if not re.search(rf"\b{name}\b", section)} == set()


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE):
        assert (FOLDER / target).exists(), target
