"""The page about Spark runs from top to bottom and prints what it shows."""

import re
from inspect import signature
from pathlib import Path

import pytest

from ontosub.spark import DETECTIONS, EVENTS, MATCHES, REJECT, decode
from ontosub.spark.composing.telling import REPORTS

PAGE = (Path(__file__).parents[3] / "docs" / "SPARK.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n((?:.*\n)*?)```$", PAGE, re.M)

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")]


def test_the_examples_print_what_is_shown(spark, tmp_path, capsys):
    names = {"folder": str(tmp_path)}
    printed = ""
    for kind, text in BLOCKS:
        if kind == "python":
            if "def write" in text:
                assert [row.event_id for row in spark.read.parquet(str(tmp_path / "matches")).collect()] == ["e1"]
            exec(text, names)  # the page is ours
            printed = capsys.readouterr().out
            if "createDataFrame(offers" in text:
                stored = names["events"].selectExpr("*", "timestamp(null) time_start", "timestamp(null) time_end")
                stored.write.parquet(str(tmp_path / "events"))
        elif kind == "text":
            assert printed.strip() == text.strip()
    for name, ids in {"matches": ["e1"], "rejects": ["e3"]}.items():
        assert [row.event_id for row in spark.read.parquet(str(tmp_path / "out" / name / "0")).collect()] == ids
    assert check_live(names["live"], spark) == {("e1", "cheap"), ("e1", "all"), ("e2", "all")}


def check_live(live, spark) -> set[tuple[str, str]]:
    """Return what the frame of the section about versions gives, now that the index has been saved again."""
    query = live.writeStream.queryName("live").format("memory").trigger(availableNow=True).start()
    query.awaitTermination()
    return {(row.event_id, row.subscription_id) for row in spark.table("live").collect()}


def test_every_column_is_described():
    for schema in (DETECTIONS, EVENTS, MATCHES, REJECT.dataType):
        for name in schema.names:
            assert f"`{name}`" in PAGE


def test_every_count_is_described():
    for name in REPORTS.names[2:]:
        assert f"`{name}`" in PAGE


def test_the_options_of_decode_are_all_named():
    [sentence] = re.findall(r"Its options are those of\n`Event.read_stream`: (.*?)\. ", PAGE)
    assert re.findall(r"`(\w+)`", sentence) == list(signature(decode).parameters)
