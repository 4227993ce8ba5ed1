"""Files as a source: every format of ours, each file once, under names that stay."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontosub import Event
from ontosub.formats import media
from ontosub.formats.write import write_event
from ontosub.model.errors import UsageError
from ontosub.spark import EVENTS, decode
from ontosub.spark.schemas import ARROW_EVENTS
from ontosub.spark.sources import FileSource

pytestmark = pytest.mark.xdist_group("spark")

VOCAB = "http://example.org/auction#"
TURTLE = f'_:H a <{VOCAB}Lot> ; <{VOCAB}price> "350" .'
JSON = b'{"@type": "Lot", "price": "350"}'
ENVELOPE = b'{"specversion": "1.0", "id": "ce", "source": "/shop", "type": "lot", "data": %s}' % JSON


def payload(known: media.Format) -> bytes:
    """Return the same event in any format."""
    if known in media.RDF_FORMATS:
        return write_event(Event.read(TURTLE, "turtle"), known.name)
    return {
        "json": JSON,
        "jsonl": JSON + b"\n" + JSON + b"\n",
        "xml": b"<Lot><price>350</price></Lot>",
        "csv": b"price\n350\n360\n",
        "tsv": b"price\n350\n",
        "cloudevents": ENVELOPE,
        "cloudevents-batch": b"[%s]" % ENVELOPE,
    }[known.name]


def put(folder: Path, name: str, data: bytes, number: int = 0) -> None:
    """Put a file into a folder as users should: written elsewhere and renamed. Numbers order by age."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}")
    partial.write_bytes(data)
    os.utime(partial, (1_700_000_000 + number, 1_700_000_000 + number))
    partial.replace(path)


def run(spark, source: FileSource, checkpoint: Path) -> list:
    """Run until all that is there has been read; return the ids of each micro-batch."""
    seen = []
    writer = source.stream(spark).writeStream.option("checkpointLocation", str(checkpoint))
    writer = writer.foreachBatch(lambda frame, number: seen.append(sorted(row.event_id for row in frame.collect())))
    writer.trigger(availableNow=True).start().awaitTermination()
    return seen


def joined(batches: list[list[str]]) -> list[str]:
    return [name for batch in batches for name in batch]


def test_every_format_by_its_extension(spark, tmp_path):
    folder = tmp_path / "in"
    wanted = {}
    for known in media.FORMATS:
        for extension in known.extensions:
            put(folder, f"lot.{extension}", payload(known))
            wanted[f"lot.{extension}"] = known.media_types[0]
    source = FileSource(folder)
    source.check()
    frame = source.batch(spark)
    assert frame.schema == EVENTS
    rows = frame.collect()
    assert {row.event_id: row.content_type for row in rows} == wanted
    assert len(rows) == len(wanted)
    by_name = {row.event_id: bytes(row.payload) for row in rows}
    assert by_name["lot.csv"] == payload(media.CSV)
    assert joined(run(spark, source, tmp_path / "checkpoint")) == sorted(wanted)
    decoded = frame.transform(decode(vocab=VOCAB)).collect()
    assert [row.event_id for row in decoded if row.reject is not None] == []
    several = ["lot.csv#2", *(f"lot.{extension}#2" for extension in media.JSON_LINES.extensions)]
    named = {row.event_id for row in decoded}
    assert named == {*wanted, *several}
    assert all(b'"350"' in bytes(row.payload) for row in decoded if "#2" not in row.event_id)


def test_one_format_for_all(spark, tmp_path):
    folder = tmp_path / "in"
    put(folder, "a", b"price\n\xe9\n")
    put(folder, "b.log", b"price\n1\n")
    source = FileSource(folder, format="text/csv; charset=iso-8859-1")
    source.check()
    rows = source.batch(spark).collect()
    assert {(row.event_id, row.content_type) for row in rows} == {
        ("a", "text/csv; charset=iso-8859-1"),
        ("b.log", "text/csv; charset=iso-8859-1"),
    }
    assert [row.content_type for row in FileSource(folder, format="csv").batch(spark).collect()] == ["text/csv"] * 2


def test_which_files_are_read(spark, tmp_path):
    folder = tmp_path / "in [1]{x} 20% *é"
    kept = ["a b.ttl", "B.TTL", "monday/c%20.nt", "monday/noon/d#2.json", "lots.csv"]
    left = ["e.zip", "f", ".g.ttl", "_h.ttl", "lots.mapping.json", "lots.context.json", ".i/j.ttl"]
    for name in (*kept, *left):
        put(folder, name, b"#")
    put(folder, "empty.ttl", b"")  # Spark passes over files without contents
    source = FileSource(folder)
    source.check()
    assert sorted(row.event_id for row in source.batch(spark).collect()) == sorted(kept)
    assert joined(run(spark, source, tmp_path / "checkpoint")) == sorted(kept)


def test_limits(spark, tmp_path):
    folder = tmp_path / "in"
    for number in range(5):
        put(folder, f"{number}.ttl", b"#" * 100, number)
    put(folder, "5.ttl", b"#" * 1_000, 5)
    put(folder, "6.ttl", b"#", 6)
    by_count = run(spark, FileSource(folder, max_files=3), tmp_path / "files")
    assert by_count == [["0.ttl", "1.ttl", "2.ttl"], ["3.ttl", "4.ttl", "5.ttl"], ["6.ttl"]]
    by_size = run(spark, FileSource(folder, max_bytes=250), tmp_path / "bytes")
    assert by_size == [["0.ttl", "1.ttl"], ["2.ttl", "3.ttl"], ["4.ttl"], ["5.ttl"], ["6.ttl"]]


def test_files_that_appear(spark, tmp_path):
    """One while it runs, one between runs, and one that is years older than the others: each is read, once."""
    folder = tmp_path / "in"
    put(folder, "1.ttl", b"#", 1)
    seen: list[str] = []

    def take(frame, number: int) -> None:
        seen.extend(row.event_id for row in frame.collect())

    source = FileSource(folder)
    writer = source.stream(spark).writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.foreachBatch(take).start()
    try:
        for number, name in enumerate(["2.nt", "sub/3.csv", "4.ttl"]):
            put(folder, name, b"#", 2 - 200_000_000 * (number == 2))
            deadline = time.monotonic() + 120
            while name not in seen:
                assert query.exception() is None
                assert time.monotonic() < deadline
                query.awaitTermination(0.05)
        query.processAllAvailable()  # a batch that is stopped before it is committed would be read again
    finally:
        query.stop()
    assert sorted(seen) == ["1.ttl", "2.nt", "4.ttl", "sub/3.csv"]
    put(folder, "5.ttl", b"#", 5)
    put(folder, "1.ttl", b"# changed", 6)  # a file is known by its name
    assert run(spark, source, tmp_path / "checkpoint") == [["5.ttl"]]


def test_parquet(spark, tmp_path):
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    rows = [
        {"event_id": f"e{number}", "content_type": "turtle", "payload": TURTLE.encode(), "time_start": noon}
        for number in range(4)
    ]
    pq.write_table(pa.Table.from_pylist(rows[:2], schema=ARROW_EVENTS), folder / "1.parquet")
    pq.write_table(pa.Table.from_pylist(rows[2:], schema=ARROW_EVENTS).drop(["time_start"]), folder / "sub/2.parquet")
    (folder / "notes.txt").write_text("not read")
    source = FileSource(folder, format="parquet", max_files=1)
    source.check()
    frame = source.batch(spark)
    assert frame.schema == EVENTS
    found = {row.event_id: row.time_start is not None for row in frame.collect()}
    assert found == {"e0": True, "e1": True, "e2": False, "e3": False}
    assert sorted(map(len, run(spark, source, tmp_path / "checkpoint"))) == [2, 2]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"path": "nowhere"}, "path is nowhere: there is no such folder"),
        ({"format": "word"}, "format: unknown format 'word'.*or parquet"),
        ({"max_files": 0}, "max_files is 0"),
        ({"max_bytes": -5}, "max_bytes is -5"),
        ({"max_files": True}, "max_files is True"),
        ({"max_files": 1, "max_bytes": 1}, "max_files and max_bytes are both given"),
    ],
)
def test_wrong_options_are_named(tmp_path, options, told):
    with pytest.raises(UsageError, match=told):
        FileSource(**{"path": tmp_path, **options}).check()


def test_parquet_is_checked(tmp_path):
    pq.write_table(pa.table({"event_id": ["e"], "payload": [b""]}), tmp_path / "1.parquet")
    with pytest.raises(UsageError, match=r"format is not given, and the folder .* has files of Parquet"):
        FileSource(tmp_path).check()
    with pytest.raises(UsageError, match=r"path: .*1\.parquet lacks the column content_type"):
        FileSource(tmp_path, format="parquet").check()
    (tmp_path / "1.parquet").write_bytes(b"no Parquet")
    with pytest.raises(UsageError, match=r"path: .*1\.parquet cannot be read as Parquet"):
        FileSource(tmp_path, format="parquet").check()


def test_identity(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert FileSource("in").identity() == FileSource(tmp_path / "in").identity() == f"files file:{tmp_path}/in"
    remote = FileSource("hdfs://host/in/")
    remote.check()
    assert remote.identity() == "files hdfs://host/in"
