"""The directory of an index: what was saved is opened, whatever happens on the way; anything else is refused."""

from __future__ import annotations

import errno
import json
import os
import pickle
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ontosub import disk
from ontosub.matching.compiled.files import directory as files
from ontosub.matching.compiled.files.array_files import MAGIC, ArrayFile, open_arrays, write_arrays
from ontosub.matching.compiled.files.directory import Manifest, Opened, Writer, open_file, open_index, read_manifest
from ontosub.matching.compiled.files.manifest import VERSION
from ontosub.model.errors import IndexDirectoryError, UsageError

FIRST = {"steps": np.arange(12, dtype=np.int32).reshape(3, 4), "empty": np.zeros((0, 2)), "flags": np.array([True])}
SECOND = {"steps": np.arange(5, dtype=np.int64)}
DEAD = {"numbers": np.array([1, 3], np.uint32)}


def save_first(directory: Path) -> Manifest:
    with Writer(directory) as writer:
        segment, ontology = writer.write("one", FIRST, {"size": 3}), writer.write("ontology", {}, {"text": "…"})
        manifest = Manifest("abc", 1, (segment,), files={"ontology": ontology}, meta={"name": "first"})
        writer.commit(manifest)
    return manifest


def save_second(directory: Path) -> Manifest:
    """Save a version with one more segment and tombstones, and without the ontology."""
    with Writer(directory) as writer:
        former = writer.manifest
        assert former is not None
        segment, dead = writer.write("two", SECOND, {}), writer.write("one.dead-2", DEAD, {})
        manifest = replace(
            former,
            generation=former.generation + 1,
            segments=(*former.segments, segment),
            tombstones={"one": dead},
            files={},
        )
        writer.commit(manifest)
        writer.collect()
    return manifest


def everything(opened: Opened) -> object:
    """Return all that a version says, as plain values."""
    return opened.manifest, [
        (entry.name, {name: (a.dtype.str, a.shape, a.tolist()) for name, a in arrays.items()}, meta)
        for entry, (arrays, meta) in opened.contents.items()
    ]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_first(tmp_path / "index")
    save_second(tmp_path / "index")
    return tmp_path / "index"


def stored_files(directory: Path) -> list[Path]:
    return [path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != "lock"]


# What is saved is opened.


array_sets = st.dictionaries(
    st.text(max_size=5),
    hnp.arrays(
        st.sampled_from([np.bool_, np.int8, np.uint16, np.int32, np.uint64, np.float32, np.float64]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9),
    ),
    max_size=4,
)


@settings(max_examples=40, deadline=None)
@given(array_sets, st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3) | st.none(), max_size=2))
def test_arrays_come_back_as_they_were(tmp_path_factory, arrays, meta):
    path = tmp_path_factory.mktemp("arrays") / "file"
    entry = write_arrays(path, "file", arrays, meta)
    opened, told = open_arrays(path, entry)
    assert told == meta
    assert list(opened) == list(arrays)
    for name, array in arrays.items():
        assert opened[name].dtype == array.dtype
        np.testing.assert_array_equal(opened[name], array)


def test_arrays_are_aligned_and_read_only(saved):
    for arrays, _ in open_index(saved).contents.values():
        for array in arrays.values():
            assert array.ctypes.data % 64 == 0
            assert not array.flags.writeable


def test_an_array_that_is_not_contiguous_is_stored_like_any_other(tmp_path):
    array = np.arange(24).reshape(4, 6)[::2, ::3].T
    entry = write_arrays(tmp_path / "file", "file", {"a": array}, {})
    np.testing.assert_array_equal(open_arrays(tmp_path / "file", entry)[0]["a"], array)


@pytest.mark.parametrize("array", [np.array([{}]), np.array(["x"]), np.array([1], ">i4"), np.zeros(1, "i4,i4")])
def test_what_is_not_a_plain_number_is_not_written(tmp_path, array):
    with pytest.raises(TypeError, match="cannot be stored"):
        write_arrays(tmp_path / "file", "file", {"a": array}, {})
    assert list(tmp_path.iterdir()) == []


def test_a_version_is_opened_as_it_was_committed(tmp_path):
    manifest = save_first(tmp_path)
    opened = open_index(tmp_path, fingerprint="abc")
    assert opened.manifest == manifest == read_manifest(tmp_path)
    (segment,) = manifest.segments
    arrays, meta = opened.contents[segment]
    np.testing.assert_array_equal(arrays["steps"], FIRST["steps"])
    assert meta == {"size": 3}


def test_only_new_files_are_written_and_mapped_again(tmp_path):
    save_first(tmp_path)
    first = open_index(tmp_path)
    written = (tmp_path / "segments" / "one.arrays").stat().st_mtime_ns
    manifest = save_second(tmp_path)
    second = open_index(tmp_path, former=first)
    assert (tmp_path / "segments" / "one.arrays").stat().st_mtime_ns == written
    assert second.contents[manifest.segments[0]] is first.contents[manifest.segments[0]]
    assert everything(second) == everything(open_index(tmp_path))


# What was not saved is refused.


def test_no_byte_can_be_changed_unnoticed(saved):
    for path in stored_files(saved):
        data = path.read_bytes()
        for position in range(len(data)):
            mask = 1 << position % 8
            path.write_bytes(data[:position] + bytes([data[position] ^ mask]) + data[position + 1 :])
            with pytest.raises(IndexDirectoryError) as refused:
                open_index(saved)
            assert refused.value.hint
            assert refused.value.path in (str(path), str(saved))
        path.write_bytes(data)
    open_index(saved)


def test_without_verification_a_changed_byte_raises_nothing_foreign(saved):
    version = open_index(saved).manifest
    for path in stored_files(saved):
        data = path.read_bytes()
        for position in range(len(data)):
            path.write_bytes(data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :])
            with suppress(IndexDirectoryError):
                assert open_index(saved, verify=False).manifest == version
        path.write_bytes(data)


def test_no_file_can_be_cut_lengthened_or_missing(saved):
    for path in stored_files(saved):
        data = path.read_bytes()
        for damaged in [*(data[:size] for size in range(len(data))), data + b"\0", data + data]:
            path.write_bytes(damaged)
            with pytest.raises(IndexDirectoryError):
                open_index(saved, verify=False)
        path.unlink()
        with pytest.raises(IndexDirectoryError):
            open_index(saved)
        path.write_bytes(data)


def test_the_error_names_the_file_and_says_what_to_do(saved):
    path = saved / "segments" / "two.arrays"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexDirectoryError) as refused:
        open_index(saved)
    assert str(refused.value).startswith(f"{path}: the file is corrupt: it is truncated")
    assert "hint: Restore the directory from a backup, or build the index again" in str(refused.value)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_an_altered_array_is_named(saved):
    path = saved / "segments" / "one.arrays"
    data = path.read_bytes()
    path.write_bytes(data[:-64] + b"\7" + data[-63:])
    with pytest.raises(IndexDirectoryError, match="the array 'flags' has been altered"):
        open_index(saved)


def forged(path: Path, header: object) -> ArrayFile:
    text = json.dumps(header).encode()
    data = MAGIC + struct.pack("<Q", len(text)) + text
    path.write_bytes(data + bytes(64))
    return ArrayFile("forged", len(data) + 64, zlib.crc32(data))


@pytest.mark.parametrize(
    "row",
    [
        ["a", "O", [1], 0],
        ["a", "|O", [8], 0],
        ["a", "nonsense", [1], 0],
        ["a", "i4,i4", [8], 0],
        ["a", "<i8", [-8], 0],
        ["a", "<i8", [1 << 70], 0],
        ["a", "<i8", [0, 1 << 70], 0],
        ["a", "<i8", [9], 0],
        ["a", "<i8", "8", 0],
        ["a", "<i8", [7.5], 0],
        [[], "<i8", [8], 0],
        ["a", "<i8", [8]],
        ["a"],
        7,
    ],
)
def test_a_forged_header_is_refused(tmp_path, row):
    entry = forged(tmp_path / "forged", {"arrays": [row], "meta": {}})
    with pytest.raises(IndexDirectoryError):
        open_arrays(tmp_path / "forged", entry, verify=False)


@pytest.mark.parametrize("header", [[], {}, 3, {"arrays": []}, {"arrays": None, "meta": {}}, {"arrays": [], "meta": 1}])
def test_a_header_that_says_something_else_is_refused(tmp_path, header):
    entry = forged(tmp_path / "forged", header)
    with pytest.raises(IndexDirectoryError):
        open_arrays(tmp_path / "forged", entry)


def rewrite_manifest(directory: Path, version: int = VERSION, **changes: object) -> None:
    told = json.loads((directory / "manifest").read_bytes().partition(b"\n")[2])
    rest = json.dumps({**told, **changes}).encode()
    (directory / "manifest").write_bytes(b"ontosub index %d %08x\n" % (version, zlib.crc32(rest)) + rest)


@pytest.mark.parametrize("name", ["../one", "/etc/passwd", "", ".", "a/b", "a\0", 7, None])
def test_a_manifest_cannot_name_files_elsewhere(saved, name):
    rewrite_manifest(saved, segments=[{"name": name, "size": 1, "checksum": 1}])
    with pytest.raises(IndexDirectoryError, match="malformed"):
        open_index(saved)


@pytest.mark.parametrize("changes", [{"segments": 3}, {"meta": 3}, {"tombstones": []}, {"generation": "x"}])
def test_a_malformed_manifest_is_refused(saved, changes):
    rewrite_manifest(saved, **changes)
    with pytest.raises(IndexDirectoryError, match="malformed"):
        read_manifest(saved)


def test_other_versions_of_the_format_are_told_apart(saved):
    rewrite_manifest(saved, VERSION + 1)
    with pytest.raises(IndexDirectoryError, match="made by a newer version of Ontosub") as refused:
        open_index(saved)
    assert refused.value.hint == "Update Ontosub."
    rewrite_manifest(saved, VERSION - 1)
    with pytest.raises(IndexDirectoryError, match="made by an older version of Ontosub"):
        open_index(saved)


def test_another_ontology_is_refused(saved):
    with pytest.raises(IndexDirectoryError, match="the index was made with another ontology"):
        open_index(saved, fingerprint="abd")


def test_a_directory_that_is_not_an_index_is_not_opened(tmp_path):
    with pytest.raises(IndexDirectoryError, match="it has no manifest"):
        open_index(tmp_path)
    with pytest.raises(IndexDirectoryError, match="there is no such directory"):
        open_index(tmp_path / "none")
    (tmp_path / "manifest").write_text("<?xml version='1.0'?>")
    with pytest.raises(IndexDirectoryError, match="no manifest of ours"):
        open_index(tmp_path)
    with pytest.raises(IndexDirectoryError):
        open_index(tmp_path / "manifest")


def test_a_directory_with_other_things_in_it_is_not_saved_into(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(IndexDirectoryError, match=r"it holds 'thesis\.tex'"):
        Writer(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(IndexDirectoryError):
        Writer(tmp_path / "thesis.tex")


# Saving.


class Crash(BaseException):
    """The process dies here."""


def replace_calls(monkeypatch: pytest.MonkeyPatch, **calls: Callable[..., object]) -> None:
    """Give those who save other calls to the system; nobody else in this process gets them."""
    for module in (disk, files):
        monkeypatch.setattr(module, "os", SimpleNamespace(**{**vars(os), **calls}))


def crash_at(monkeypatch: pytest.MonkeyPatch, step: int) -> list[str]:
    """Let the process die at its `step`-th change to the disk: nothing works from then on, not even tidying up."""
    done: list[str] = []

    def mortal(name: str):
        real = getattr(os, name)

        def call(*arguments, **options):
            if len(done) >= step:
                raise Crash
            done.append(name)
            return real(*arguments, **options)

        return call

    replace_calls(monkeypatch, **{name: mortal(name) for name in ("fsync", "replace", "unlink", "makedirs")})
    return done


def test_a_crash_at_any_point_leaves_the_former_version_or_the_next(tmp_path):
    save_first(tmp_path / "first")
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    save_second(tmp_path / "second")
    first, second = everything(open_index(tmp_path / "first")), everything(open_index(tmp_path / "second"))
    found = []
    for step in range(100):
        directory = tmp_path / f"crash-{step}"
        shutil.copytree(tmp_path / "first", directory)
        with pytest.MonkeyPatch.context() as monkeypatch:
            done = crash_at(monkeypatch, step)
            try:
                save_second(directory)
            except Crash:
                pass
            else:
                break
        is_committed = done.count("replace") == 3
        assert everything(open_index(directory)) == (second if is_committed else first)
        found.append(is_committed)
        if not is_committed:
            save_second(directory)
        with Writer(directory) as writer:
            writer.collect()
        assert everything(open_index(directory)) == second
        assert {path.name for path in stored_files(directory)} == {
            path.name for path in stored_files(tmp_path / "second")
        }
    # What a manifest names is on the disk before the manifest is, and only then are former files removed.
    steps = " ".join(name for name in done if name != "makedirs")
    assert steps == "fsync replace fsync replace fsync fsync replace fsync unlink"
    assert {False, True} == set(found)


def test_a_crash_in_the_first_save_does_not_block_the_next(tmp_path):
    for step in range(100):
        directory = tmp_path / f"crash-{step}"
        with pytest.MonkeyPatch.context() as monkeypatch:
            crash_at(monkeypatch, step)
            try:
                save_first(directory)
            except Crash:
                pass
            else:
                break
        if not (directory / "manifest").exists():
            with pytest.raises(IndexDirectoryError, match="not an index directory"):
                open_index(directory)
            save_first(directory)
        assert open_index(directory).manifest.meta == {"name": "first"}
    assert step > 5


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "no space left"),
        (errno.EDQUOT, "no space left"),
        (errno.EACCES, "permission denied"),
        (errno.EROFS, "permission denied"),
        (errno.EIO, "input/output error"),
    ],
)
@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_what_the_system_refuses_is_told_and_nothing_is_left_behind(tmp_path, monkeypatch, number, message, name):
    save_first(tmp_path)
    before = [(path, path.read_bytes()) for path in stored_files(tmp_path)]

    def refuse(*arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    with Writer(tmp_path) as writer:
        replace_calls(monkeypatch, **{name: refuse})
        with pytest.raises(IndexDirectoryError, match=message) as refused:
            writer.write("two", SECOND, {})
        assert refused.value.path == str(tmp_path / "segments" / "two.arrays")
        with pytest.raises(IndexDirectoryError, match=message):
            writer.commit(replace(writer.manifest, generation=2))
    assert [(path, path.read_bytes()) for path in stored_files(tmp_path)] == before


def test_files_never_change(saved):
    with Writer(saved) as writer:
        with pytest.raises(UsageError, match="files never change"):
            writer.write("one", SECOND, {})
        for name in ("../one", "", ".", "a/b", "x" * 300):
            with pytest.raises(UsageError, match="cannot be called"):
                writer.write(name, SECOND, {})


def test_a_version_follows_the_one_before_it(tmp_path):
    with Writer(tmp_path) as writer:
        assert writer.manifest is None
        with pytest.raises(IndexDirectoryError, match="generation 2 cannot follow generation 0"):
            writer.commit(Manifest("abc", 2))
    first = save_first(tmp_path)
    save_second(tmp_path)
    with Writer(tmp_path) as writer, pytest.raises(IndexDirectoryError, match="Another process has saved here"):
        writer.commit(replace(first, generation=2))


def test_a_version_with_a_file_that_is_not_there_is_not_committed(saved):
    with Writer(saved) as writer, pytest.raises(IndexDirectoryError, match="missing"):
        writer.commit(replace(writer.manifest, generation=3, files={"x": ArrayFile("x", 80, 1)}))
    assert read_manifest(saved).generation == 2


def test_a_corrupt_index_is_not_saved_into(saved):
    (saved / "manifest").write_bytes(b"ontosub index 1 00000000\n{}")
    with pytest.raises(IndexDirectoryError, match="corrupt"):
        Writer(saved)
    with pytest.raises(IndexDirectoryError, match="corrupt"):  # the lock was not kept
        Writer(saved)


def test_two_cannot_save_at_once(saved):
    with Writer(saved) as first:
        with pytest.raises(IndexDirectoryError, match="the directory is in use"):
            Writer(saved)
        open_index(saved)
    first.close()
    with Writer(saved):
        pass


HOLD = """
import sys
from pathlib import Path
from ontosub.matching.compiled.files.directory import Writer
writer = Writer(Path(sys.argv[1]))
print("locked", flush=True)
sys.stdin.read()
"""


def test_a_process_that_dies_lets_others_save(saved):
    command = [sys.executable, "-c", HOLD, str(saved)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(IndexDirectoryError, match="in use"):
            Writer(saved)
        other.kill()
        other.wait()
    with Writer(saved):
        pass


# Collecting.


def test_what_no_manifest_names_is_collected_and_nothing_else(tmp_path):
    save_first(tmp_path)
    segments = tmp_path / "segments"
    (segments / "notes.txt").write_text("mine")
    (segments / "data.arrays").write_text("mine too")
    (segments / "data.arrays.partial").write_text("mine as well")
    (segments / "half.arrays.partial").write_bytes(b"onto")
    (segments / "new.arrays.partial").write_bytes(MAGIC + bytes(50))
    (segments / "none.arrays.partial").write_bytes(b"")
    (segments / "link.arrays").symlink_to(segments / "one.arrays")
    (segments / "folder.arrays").mkdir()
    save = write_arrays(segments / "left.arrays", "left", SECOND, {})
    assert save.size == (segments / "left.arrays").stat().st_size
    with Writer(tmp_path) as writer:
        writer.write("pending", SECOND, {})
        assert writer.collect() == [
            "half.arrays.partial",
            "left.arrays",
            "new.arrays.partial",
            "none.arrays.partial",
        ]
        assert {path.name for path in segments.iterdir()} == {
            "notes.txt",
            "data.arrays",
            "data.arrays.partial",
            "link.arrays",
            "folder.arrays",
            "one.arrays",
            "ontology.arrays",
            "pending.arrays",
        }
        writer.commit(replace(writer.manifest, generation=2))
        assert writer.collect() == ["pending.arrays"]
    open_index(tmp_path)


def test_a_reader_keeps_what_it_has_mapped(tmp_path):
    save_first(tmp_path)
    opened = open_index(tmp_path)
    before = everything(opened)
    save_second(tmp_path)
    with Writer(tmp_path) as writer:
        writer.commit(replace(writer.manifest, generation=3, segments=(), tombstones={}))
        writer.collect()
    assert list((tmp_path / "segments").iterdir()) == []
    assert everything(opened) == before


def test_a_reader_that_comes_while_the_next_version_is_saved_opens_that_one(tmp_path, monkeypatch):
    save_first(tmp_path)
    calls = []

    def slow(directory, entry, *, verify):
        calls.append(entry.name)
        if len(calls) == 1:
            save_second(tmp_path)
        return open_file(directory, entry, verify=verify)

    monkeypatch.setattr(files, "open_file", slow)
    opened = files.open_index(tmp_path)
    monkeypatch.undo()
    assert opened.manifest.generation == 2
    assert "ontology" in calls  # the file that was gone
    assert everything(opened) == everything(open_index(tmp_path))
