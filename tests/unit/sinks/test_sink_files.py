"""Files: a reader sees whole batches, whatever goes on beside them."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow.dataset
import pytest

from ontosub.model.errors import Unavailable, UsageError
from ontosub.sinks.files import FileSink
from ontosub.sinks.rows import KINDS, json_objects, json_text
from ontosub.sinks.sink import ROWS_MAX

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def table(path: Path):
    return pyarrow.dataset.dataset(path, partitioning="hive").to_table()


def ready(sink):
    sink.open()
    return sink


def test_batches_are_one_table(tmp_path, stage):
    sink = ready(FileSink(tmp_path / "out"))
    sink.deliver(stage({}, {"event_id": "f"}, batch=12))
    sink.deliver(stage({}, batch=13, pipeline="ü/x"))
    found = table(tmp_path / "out").select(["event_id", "batch", "pipeline"]).to_pylist()
    assert sorted((row["event_id"], row["batch"], row["pipeline"]) for row in found) == [
        ("e", 12, "p"),
        ("e", 13, "ü/x"),
        ("f", 12, "p"),
    ]
    [file] = (tmp_path / "out").rglob("batch=000000000012/*")
    assert file.relative_to(tmp_path / "out").as_posix() == "matches/pipeline=p/batch=000000000012/part-00000.parquet"


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("format", ["parquet", "json"])
def test_spark_reads_batches_as_one_table(spark, tmp_path, stage, format):
    sink = ready(FileSink(tmp_path / "out", format))
    for batch in range(3):
        sink.deliver(stage({"event_id": f"e{batch}"}, batch=batch, pipeline="é b"))
    half = tmp_path / "out" / "matches" / "pipeline=p" / ".batch=000000000003"
    half.mkdir(parents=True)
    (half / f"part-00000.{format}").write_bytes(b"half")
    frame = spark.read.format(format).load(str(tmp_path / "out"))
    rows = [(row.event_id, row.batch, row.pipeline) for row in frame.orderBy("batch").collect()]
    assert rows == [("e0", 0, "é b"), ("e1", 1, "é b"), ("e2", 2, "é b")]


def test_staged_files_are_linked_and_may_go(tmp_path, stage):
    sink = ready(FileSink(tmp_path / "out"))
    delivery = stage({})
    sink.deliver(delivery)
    [file] = (tmp_path / "out").rglob("*.parquet")
    assert file.stat().st_ino == delivery.files[0].stat().st_ino
    delivery.files[0].unlink()
    assert table(tmp_path / "out")["event_id"].to_pylist() == ["e"]


def test_a_staged_file_with_a_moment_that_python_cannot_hold_is_written_anew(tmp_path, stage):
    sink = ready(FileSink(tmp_path / "out"))
    far = datetime.max.replace(tzinfo=timezone(-timedelta(hours=1)))
    [staged] = stage({"time_start": NOON, "time_end": far}).files
    sink.deliver(replace(stage({}), files=(staged, *stage({"event_id": "f"}).files)))
    rows = table(tmp_path / "out").select(["event_id", "time_start", "time_end"]).to_pylist()
    assert rows == [
        {"event_id": "e", "time_start": NOON, "time_end": datetime.max.replace(tzinfo=UTC)},
        {"event_id": "f", "time_start": None, "time_end": None},
    ]
    inodes = {file.stat().st_ino for file in (tmp_path / "out").rglob("*.parquet")}
    assert staged.stat().st_ino not in inodes


def test_staged_files_on_another_file_system_are_copied(small_disk, stage):
    out = small_disk.folder / "out"
    sink = ready(FileSink(out))
    delivery = stage({})
    assert delivery.files[0].stat().st_dev != out.stat().st_dev
    sink.deliver(delivery)
    delivery.files[0].unlink()
    assert table(out)["event_id"].to_pylist() == ["e"]


def test_leftovers_go_but_not_those_of_others(tmp_path, stage):
    sink = ready(FileSink(tmp_path / "out"))
    own, others = (tmp_path / "out" / "matches" / f"pipeline={name}" / ".batch=000000000004" for name in "pq")
    for leftover in (own, others):
        leftover.mkdir(parents=True)
        (leftover / "part-00000.parquet").write_bytes(b"half")
    sink.deliver(stage({}, batch=5))
    assert not own.exists()
    assert others.exists()
    assert table(tmp_path / "out")["batch"].to_pylist() == [5]


def test_a_reader_never_sees_half_a_batch(tmp_path, stage):
    sink = ready(FileSink(tmp_path / "out"))
    deliveries = [stage(*({"event_id": f"e{row}"} for row in range(7)), batch=batch) for batch in range(40)]
    sink.deliver(deliveries[0])
    done = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not done.is_set():
            seen.append(len(table(tmp_path / "out")))

    reader = threading.Thread(target=read)
    reader.start()
    for delivery in deliveries:
        sink.deliver(delivery)
    done.set()
    reader.join()
    assert seen
    assert all(count % 7 == 0 for count in seen)
    assert len(table(tmp_path / "out")) == 7 * 40


def test_json_says_how_a_payload_is_written(tmp_path, stage):
    sink = ready(FileSink(tmp_path / "out", "json"))
    payloads = [b"\xff\0", "é\n\0".encode(), b"", None]
    sink.deliver(stage(*({"payload": payload} for payload in payloads), kind="rejects"))
    [file] = (tmp_path / "out" / "rejects").rglob("*.json")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [(row["payload"], row["payload_encoding"]) for row in rows] == [
        ("/wA=", "base64"),
        ("é\n\0", "utf-8"),
        ("", "utf-8"),
        (None, None),
    ]
    assert {"event_id": "e", "content_type": "text/turtle", "reason": "no Turtle", "line": 1, "column": 2}.items() <= (
        rows[0].items()
    )


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_kinds_have_folders_of_their_own(tmp_path, stage, format):
    sink = ready(FileSink(tmp_path / "out", format))
    detections = [{"detection_id": f"d{n}", "bindings": [], "event_ids": []} for n in range(ROWS_MAX)]
    deliveries = {kind: stage({}, *(detections if kind == "detections" else []), batch=3, kind=kind) for kind in KINDS}
    for delivery in 2 * list(deliveries.values()):
        sink.deliver(delivery)
    for kind, delivery in deliveries.items():
        [file] = (tmp_path / "out" / kind).rglob(f"*.{format}")
        assert file.parent == tmp_path / "out" / kind / "pipeline=p" / "batch=000000000003"
        rows = [row for staged in delivery.tables() for row in json_objects(staged)]
        if format == "json":
            assert file.read_text("utf-8").splitlines() == [json_text(row) for row in rows]
        else:
            found = table(tmp_path / "out" / kind).select(KINDS[kind].names).cast(KINDS[kind])
            assert list(json_objects(found)) == rows


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_a_full_disk_is_told_and_passes(small_disk, stage, format):
    out = small_disk.folder / "out"
    sink = ready(FileSink(out, format))
    sink.deliver(stage({}, batch=0))
    small_disk.fill()
    rows = [{"event_id": os.urandom(100).hex()} for _ in range(2000)]
    delivery = stage(*rows, batch=1)
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"small/out: no space left on device"):
            sink.deliver(delivery)
    assert not list(out.rglob(".batch*"))
    small_disk.make_room()
    sink.deliver(delivery)
    [file] = (out / "matches" / "pipeline=p" / "batch=000000000001").iterdir()
    if format == "json":
        found = [json.loads(line)["event_id"] for line in file.read_text().splitlines()]
    else:
        found = pyarrow.dataset.dataset(file).to_table()["event_id"].to_pylist()
    assert found == [row["event_id"] for row in rows]


def test_a_path_that_cannot_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"^option path: .*file: file exists"):
        FileSink(tmp_path / "file").open()
    with pytest.raises(UsageError, match=r"^option path: .*not a directory"):
        FileSink(tmp_path / "file" / "below").open()
    with pytest.raises(UsageError, match=r"^option path: .*name too long"):
        FileSink(tmp_path / ("x" * 300)).open()


def test_formats_do_not_share_a_path(tmp_path, stage):
    delivery = stage({})
    ready(FileSink(tmp_path, "parquet")).deliver(delivery)
    with pytest.raises(UsageError, match=r"^option path: .* not as json"):
        ready(FileSink(tmp_path, "json")).deliver(delivery)


def test_an_unknown_format(tmp_path):
    with pytest.raises(UsageError, match="option format: 'xml' is none of parquet, json"):
        FileSink(tmp_path, "xml")
