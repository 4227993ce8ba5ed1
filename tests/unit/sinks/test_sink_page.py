"""The page about sinks: its examples run, and every option and column is on it."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

from ontosub.sinks import from_options
from ontosub.sinks.files import FileSink
from ontosub.sinks.kinds import SINKS
from ontosub.sinks.printing import PrintSink
from ontosub.sinks.rows import KINDS, json_objects
from ontosub.sinks.sql_log import SqlLog
from ontosub.sinks.sql_tables import TABLES
from ontosub.sinks.webhook import Webhook

PAGE = (Path(__file__).parents[3] / "docs" / "SINKS.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n((?:.*\n)*?)```$", PAGE, re.M)


def test_the_examples_run(tmp_path, stage, capsys):
    delivery = stage({"event_id": "e1", "subscription_id": "cheap"})
    files = from_options("parquet", {"path": str(tmp_path / "out")})
    files.open()
    files.deliver(delivery)
    names = {"folder": str(tmp_path), "path": str(tmp_path / "out"), "delivery": delivery}
    for kind, code in BLOCKS:
        if kind == "python":
            exec(code, names)  # the page is ours
    assert capsys.readouterr().out == "1 cheap e1 [{'x': '\"1\"'}]\n"
    assert names["matches"]["event_id"].to_pylist() == ["e1"]


def test_the_rows_shown_have_the_keys_of_rows(stage):
    [text] = [code for kind, code in BLOCKS if kind == "json"]
    for line, kind in zip(text.splitlines(), KINDS, strict=True):
        [table] = stage({}, kind=kind).tables()
        [made] = json_objects(table)
        assert list(json.loads(line)) == list(made)


def test_every_option_is_named():
    for sink in (FileSink, SqlLog, Webhook, PrintSink):
        for name in inspect.signature(sink).parameters.keys() - ({"format"} if sink is FileSink else set()):
            assert f"`{name}`" in PAGE


def test_every_kind_is_named():
    for kind in SINKS.entries:
        assert f"`{kind}`" in PAGE
    for kind in KINDS:
        assert f"*{kind}*" in PAGE
        assert f"`{kind}`" in PAGE
        assert f"path/{kind}/" in PAGE


def test_every_column_is_named():
    for table in TABLES.tables.values():
        [row] = [line for line in PAGE.splitlines() if line.startswith(f"| `{table.name}` |")]
        for column in table.columns:
            assert f"`{column.name}`" in row
