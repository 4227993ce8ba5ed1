"""The README shows what happens: its Python runs, its commands run, and both print what it says they print."""

import contextlib
import io
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ontosub.cli import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.M | re.S)


def commands() -> list[tuple[str, str]]:
    """Return the commands that the README shows, each with the output below it."""
    shown = "".join(text for kind, text in BLOCKS if kind == "console")
    return [(command, output) for command, output in re.findall(r"^\$ (ontosub .*)\n((?:(?!\$ ).*\n)*)", shown, re.M)]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_python_prints_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each block goes on where the one before it ended; what they save goes elsewhere."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    shown = [(text, output) for (kind, text), (_, output) in pairwise(BLOCKS) if kind == "python"]
    assert len(shown) == 5
    for code, expected in shown:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), names)
        assert printed.getvalue() == expected


def test_there_are_commands():
    assert len(commands()) >= 3


@pytest.mark.parametrize(("command", "expected"), commands())
def test_a_command_prints_what_the_readme_shows(command: str, expected: str):
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.output == expected
    assert result.exit_code == 0


@pytest.mark.parametrize(
    "page", ["README.md", "CHANGELOG.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md"))]
)
def test_links_lead_somewhere(page: str):
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert "://" in target or (path.parent / target).exists(), f"{page} links to {target}"


def test_the_map_of_folders_is_complete():
    shown = README[README.index("## Map") :]
    packages = {path.name for path in (ROOT / "src/ontosub").iterdir() if path.is_dir() and path.name != "__pycache__"}
    tests = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
    for name in packages | tests:
        assert re.search(rf"\b{name}\b", shown), f"the map does not name {name}"
