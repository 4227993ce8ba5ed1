"""The stages on streaming frames: the answers of the batch, and new versions of the index between micro-batches."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontosub import Matcher
from ontosub.spark import EVENTS, accepted, decode, match, outcomes, rejected
from ontosub.spark.schemas import ARROW_EVENTS

pytestmark = pytest.mark.xdist_group("spark")

AUCTION = "http://example.org/auction#"


def write(folder: Path, number: int, *payloads: tuple[str, str]) -> None:
    """Put a file of Turtle events into a folder; their modification times are in the order of their numbers."""
    rows = [
        {"event_id": name, "content_type": "text/turtle", "payload": f"PREFIX : <{AUCTION}> {text}".encode()}
        for name, text in payloads
    ]
    folder.mkdir(exist_ok=True)
    path = folder / f"{number}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=ARROW_EVENTS), path)
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def stream(spark, folder: Path):
    return spark.readStream.schema(EVENTS).option("maxFilesPerTrigger", 1).parquet(str(folder))


def finish(writer) -> None:
    """Run a query until all that is there has been read."""
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    assert query.exception() is None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(3):
        write(
            tmp_path / "in",
            number,
            (f"n{number}", f":a{number} a :Notebook ; :price {300 + 100 * number} ."),
            (f"c{number}", ":b a :Computer ; :price 900 ."),
            (f"bad{number}", "no Turtle"),
        )
    return tmp_path / "in"


def plain(frame) -> list:
    return sorted(map(str, frame.collect()))


def test_a_stream_gives_what_the_table_gives(spark, folder, tmp_path, auction, cheap, computers):
    stage = outcomes(auction, [cheap, computers])
    expected = spark.read.schema(EVENTS).parquet(str(folder)).transform(decode()).transform(stage)
    assert expected.transform(accepted).count() == 7
    found = stream(spark, folder).transform(decode()).transform(stage)
    finish(found.writeStream.queryName("found").format("memory"))
    got = spark.table("found")
    assert plain(got) == plain(expected)
    assert got.transform(rejected).count() == 3


def test_a_file_sink(spark, folder, tmp_path, auction, cheap):
    found = stream(spark, folder).transform(match(auction, [cheap]))
    checkpoint = {"checkpointLocation": str(tmp_path / "checkpoint")}
    for _ in range(2):  # the second run finds nothing new
        finish(found.writeStream.format("parquet").options(path=str(tmp_path / "out"), **checkpoint))
    assert [row.event_id for row in spark.read.parquet(str(tmp_path / "out")).collect()] == ["n0"]


def test_the_next_micro_batch_sees_a_new_version(spark, folder, tmp_path, auction, cheap, computers):
    matcher = Matcher(auction, "compiled")
    matcher.subscribe(cheap)
    matcher.save(tmp_path / "index")
    seen = {}

    def take(frame, number):
        seen[number] = sorted((row.event_id, row.subscription_id) for row in frame.collect())
        if number == 0:
            matcher.subscribe(computers)
            matcher.save(tmp_path / "index")

    found = stream(spark, folder).transform(match(auction, tmp_path / "index"))
    finish(found.writeStream.foreachBatch(take))
    assert seen == {
        0: [("n0", "cheap")],
        1: [("c1", "computers"), ("n1", "computers")],
        2: [("c2", "computers"), ("n2", "computers")],
    }
