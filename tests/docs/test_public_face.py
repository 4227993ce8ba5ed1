"""What is public: the names that users import, the commands and options that they type."""

import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import ontosub
from ontosub.cli import app

COMMANDS = get_command(app).commands


def test_every_public_name_exists_and_is_documented():
    for name in ontosub.__all__:
        assert getattr(ontosub, name).__doc__, name
    assert ontosub.__all__ == sorted(ontosub.__all__, key=lambda name: (name.upper() == name, name))


def test_importing_it_loads_no_engine():
    engines = {"pyspark", "numba", "pandas", "typer", "rich", "rdflib"}
    code = f"import sys, ontosub; print(sorted({engines!r} & sys.modules.keys()))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_the_version_is_said():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"ontosub {ontosub.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_documented(name: str):
    shown = CliRunner().invoke(app, [name, "--help"]).stdout
    assert "Examples:" in shown
    for parameter in COMMANDS[name].params:
        assert getattr(parameter, "help", None), parameter.name
        for spelling in parameter.opts:
            assert spelling.startswith("-") is False or spelling in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_in_a_command_s_help_parse(name: str):
    """Every option that the help's examples use is one that the command has."""
    known = {spelling for parameter in COMMANDS[name].params for spelling in parameter.opts}
    lines = [line for line in (COMMANDS[name].help or "").splitlines() if f"ontosub {name} " in line]
    assert lines
    for line in lines:
        words = line.split(f"ontosub {name} ")[1].split()
        assert {word for word in words if word.startswith("-") and word != "-"} <= known
