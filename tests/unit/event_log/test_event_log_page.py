"""The page about the event log runs from top to bottom, prints what it shows, and names all options."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

import pytest

from ontosub.event_log.end import read_end
from ontosub.event_log.frame import HEADER, frame_at
from ontosub.event_log.segment import Segment
from ontosub.spark.sources import EventLogSource, FileSource

PAGE = (Path(__file__).parents[3] / "docs" / "EVENT_LOG.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n((?:.*\n)*?)```$", PAGE, re.M)

pytestmark = pytest.mark.xdist_group("spark")


def test_the_examples_print_what_is_shown(spark, tmp_path, capsys):
    names = {"folder": str(tmp_path), "spark": spark}
    printed = None
    shown = 0
    for kind, text in BLOCKS:
        if kind == "python":
            exec(text, names)  # the page is ours
            printed = capsys.readouterr().out
        elif printed is not None:
            assert printed.strip() == text.strip()
            printed, shown = None, shown + 1
    assert shown == 2
    check_files(tmp_path / "log")


def check_files(directory: Path) -> None:
    """The files are as the page says, to the byte."""
    assert {path.name for path in directory.iterdir()} == {f"{0:020}.events", "end", "lock"}
    frame = frame_at(Segment(directory, 0).mapped(), 0)
    data = (directory / f"{0:020}.events").read_bytes()
    numbers = [int.from_bytes(data[low : high + 1], "little") for low, high in fields()]
    assert HEADER.size == 48
    assert data[:4] == b"OEL1"
    assert numbers[1:] == [2, frame.checksum, frame.length, 0, 0, frame.published_us]
    end = (directory / "end").read_bytes()
    slots = [end[start : start + 60] for start in (0, 512)]
    newer = max(slots, key=lambda slot: slot[40:48])
    assert newer[:8] == b"OELend1\0"
    assert newer[8:24].hex() == read_end(directory).log.hex()
    assert [int.from_bytes(newer[at : at + 8], "little") for at in range(24, 56, 8)] == [0, len(data), 2, 68]


def fields() -> list[tuple[int, int]]:
    return [(int(low), int(high)) for low, high in re.findall(r"^\| (\d+)–(\d+) \|", PAGE, re.M)][1:]


def test_every_option_is_named():
    for name in signature(EventLogSource).parameters:
        assert re.search(rf"^\| .*`{name}`", PAGE, re.M)
    assert f"FileSource({', '.join(map(shown, signature(FileSource).parameters.values()))})" in PAGE


def shown(parameter) -> str:
    return parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default}"
