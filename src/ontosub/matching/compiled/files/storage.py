"""The index in a directory: which files it consists of, and how it comes back from them.

Each part of the index is a file, written once; what subscriptions say stands in it, too. Beside the parts there are the
ontology, the terms of the dictionary, in pieces as they came, and the vocabulary: the order in which classes,
properties and atoms got their numbers. What has gone from a part since it was written is in a file of its own.

An index that was saved before the kernels were compiled has one file of subscriptions, and no parts: they are made by
who opens it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.atoms import Atoms
from ontosub.matching.compiled.events.dictionary import Dictionary
from ontosub.matching.compiled.files.array_files import corrupt
from ontosub.matching.compiled.files.directory import (
    ArrayFile,
    Arrays,
    Manifest,
    Opened,
    Writer,
    open_file,
    open_index,
    read_manifest,
)
from ontosub.matching.compiled.files.fingerprint import fingerprint, ontology_from_bytes, ontology_to_bytes
from ontosub.matching.compiled.files.ids import Ids
from ontosub.matching.compiled.files.packed import Packed, pack
from ontosub.matching.compiled.files.records import decode, encode
from ontosub.matching.compiled.index.holdings import Stored
from ontosub.matching.compiled.index.index import Index
from ontosub.matching.compiled.index.layout import Segment
from ontosub.matching.compiled.index.part import Part
from ontosub.model import Ontology, Subscription
from ontosub.model.errors import IndexDirectoryError
from ontosub.semantics import Entailment

Array = NDArray[Any]

_ONTOLOGY, _VOCABULARY, _TERMS, _SUBSCRIPTIONS = "ontology", "vocabulary", "terms", "subscriptions"
_PIECES_MAX = 8
"""In how many pieces the terms may lie before they are written anew in one."""


@dataclass(slots=True)
class Saved:
    """What of an index is in a directory already."""

    directory: Path
    manifest: Manifest
    gone: dict[str, int] = field(default_factory=dict)
    """How many subscriptions had gone from a part, by the name of its file."""
    dictionary: Dictionary | None = None
    """Of which dictionary the terms are there, and how many of them."""
    terms: int = 0
    vocabulary: bytes = b""

    @property
    def generation(self) -> int:
        """Which version of the directory it is."""
        return self.manifest.generation


def save(index: Index, directory: Path, saved: Saved | None) -> Saved:
    """Write what is not in the directory yet, then make all of it the directory's index, in one step.

    `saved` is what an earlier save of the same index returned, or its opening. A directory that holds anything else is
    left alone, with an IndexDirectoryError.
    """
    index.flush()
    with Writer(directory) as writer:
        known = _known(writer, saved)
        if known is None:
            known = Saved(directory, Manifest(fingerprint(index.entailment.ontology), 0))
            for part in index.parts:
                part.file = None
        saving = _Saving(writer, known, known.generation + 1)
        saving.write(index)
        writer.commit(saving.manifest(index))
        writer.collect()
    return saving.saved()


def save_subscriptions(
    ontology: Ontology, subscriptions: Mapping[str, Subscription], directory: Path, saved: Saved | None
) -> Saved:
    """Do what `save` does without any kernel: write what subscriptions say, and leave the parts to who opens it."""
    stored = {**Ids.build(list(subscriptions)), **pack(map(encode, subscriptions.values()))}
    with Writer(directory) as writer:
        known = _known(writer, saved) or Saved(directory, Manifest(fingerprint(ontology), 0))
        generation = known.generation + 1
        contents = {_ONTOLOGY: _as_arrays(ontology_to_bytes(ontology)), _SUBSCRIPTIONS: stored}
        files = {name: writer.write(f"{name}-{generation}", arrays, {}) for name, arrays in contents.items()}
        manifest = Manifest(known.manifest.fingerprint, generation, files=files)
        writer.commit(manifest)
        writer.collect()
    return Saved(directory, manifest)


def _known(writer: Writer, saved: Saved | None) -> Saved | None:
    """Return `saved` if it is what the directory holds, None if that is nothing; refuse anything else."""
    former = writer.manifest
    if former is None:
        return None
    if (
        saved is None
        or saved.directory.resolve() != writer.directory.resolve()
        or saved.generation != former.generation
    ):
        raise IndexDirectoryError(
            "the directory holds another index",
            str(writer.directory),
            "Open that index first, or save into a directory of its own.",
        )
    return saved


class _Saving:
    """One save on its way: files are written; what is known of the directory changes only when all went well."""

    def __init__(self, writer: Writer, saved: Saved, generation: int) -> None:
        self._writer = writer
        self._former = saved
        self._generation = generation
        self._files = {name: entry for name, entry in saved.manifest.files.items() if name != _SUBSCRIPTIONS}
        self._parts: list[ArrayFile] = []
        self._tombstones: dict[str, ArrayFile] = {}
        self._gone: dict[str, int] = {}
        self._dictionary = saved.dictionary
        self._terms = saved.terms
        self._vocabulary = saved.vocabulary
        self._manifest = saved.manifest

    def write(self, index: Index) -> None:
        if _ONTOLOGY not in self._files:
            data = ontology_to_bytes(index.entailment.ontology)
            self._files[_ONTOLOGY] = self._write(_ONTOLOGY, _as_arrays(data))
        for number, part in enumerate(index.parts):
            self._write_part(number, part)
        self._write_terms(index.dictionary)
        told = {**index.concepts.export(), "atoms": index.atoms.export()}
        vocabulary = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
        if vocabulary != self._vocabulary:
            self._files[_VOCABULARY] = self._write(_VOCABULARY, _as_arrays(vocabulary))
            self._vocabulary = vocabulary

    def _write(self, name: str, arrays: Mapping[str, Array]) -> ArrayFile:
        return self._writer.write(f"{name}-{self._generation}", arrays, {})

    def _write_part(self, number: int, part: Part) -> None:
        if part.file is None:
            part.file = self._write(f"part-{number}", dict(_arrays_of(part)))
        self._parts.append(part.file)
        name, count = part.file.name, part.gone_count
        if count:
            known = self._former.gone.get(name) == count
            self._tombstones[name] = (
                self._former.manifest.tombstones[name]
                if known
                else self._write(f"{name}-gone", {"gone": np.packbits(part.gone)})
            )
            self._gone[name] = count

    def _write_terms(self, dictionary: Dictionary) -> None:
        if self._dictionary is dictionary and self._terms == len(dictionary):
            return
        pieces = [name for name in self._files if name.startswith(_TERMS)]
        if self._dictionary is not dictionary or len(pieces) >= _PIECES_MAX:
            self._dictionary, self._terms = dictionary, 0
            for name in pieces:
                del self._files[name]
        name = f"{_TERMS}-{self._terms:012}"
        self._files[name] = self._write(name, dictionary.since(self._terms))
        self._terms = len(dictionary)

    def manifest(self, index: Index) -> Manifest:
        self._manifest = Manifest(
            self._manifest.fingerprint,
            self._generation,
            tuple(self._parts),
            self._tombstones,
            self._files,
            {"came": index.came},
        )
        return self._manifest

    def saved(self) -> Saved:
        former, terms = self._former, self._terms
        return Saved(former.directory, self._manifest, self._gone, self._dictionary, terms, self._vocabulary)


def read_ontology(directory: Path) -> Ontology:
    """Return the ontology that an index was made with."""
    entry = read_manifest(directory).files.get(_ONTOLOGY)
    if entry is None:
        raise corrupt(directory, "the ontology is missing")
    return ontology_from_bytes(_bytes(open_file(directory, entry)[0], directory))


def load(directory: Path, entailment: Entailment, *, verify: bool = True) -> tuple[Index, Saved]:
    """Return the index that a directory holds, without reading more of it than is needed.

    Raises IndexDirectoryError when it is none, is corrupt, or was made with another ontology.
    """
    opened = open_index(directory, fingerprint=fingerprint(entailment.ontology), verify=verify)
    try:
        return _load(directory, entailment, opened)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise corrupt(directory, "its files do not fit together") from error


def load_subscriptions(directory: Path, ontology: Ontology, *, verify: bool = True) -> tuple[Stock, Saved]:
    """Return the subscriptions of the index that a directory holds; no kernel is needed for that.

    What is returned beside them lets `save` and `save_subscriptions` replace all of it. Raises as `load` does.
    """
    opened = open_index(directory, fingerprint=fingerprint(ontology), verify=verify)
    manifest = opened.manifest
    try:
        stock = Stock(opened)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise corrupt(directory, "its files do not fit together") from error
    kept = {name: entry for name, entry in manifest.files.items() if name == _ONTOLOGY}
    return stock, Saved(directory, replace(manifest, segments=(), tombstones={}, files=kept))


class Stock:
    """The subscriptions of a stored index. How many there are is known at once; each is read when its turn comes."""

    def __init__(self, opened: Opened) -> None:
        manifest = opened.manifest
        unmade = [manifest.files[_SUBSCRIPTIONS]] if _SUBSCRIPTIONS in manifest.files else []
        self._records = []
        for entry in (*manifest.segments, *unmade):
            packed = Packed(opened.contents[entry][0])
            self._records.append((packed, np.flatnonzero(~_gone(opened, entry, len(packed)))))

    def __len__(self) -> int:
        return sum(len(standing) for _, standing in self._records)

    def __iter__(self) -> Iterator[Subscription]:
        return (decode(packed[number]) for packed, standing in self._records for number in standing.tolist())


def _gone(opened: Opened, entry: ArrayFile, count: int) -> NDArray[np.bool_]:
    """Return which of the subscriptions in a file are gone."""
    tombstones = opened.manifest.tombstones.get(entry.name)
    if tombstones is None:
        return np.zeros(count, np.bool_)
    return np.unpackbits(opened.contents[tombstones][0]["gone"], count=count).astype(np.bool_)


def _load(directory: Path, entailment: Entailment, opened: Opened) -> tuple[Index, Saved]:
    manifest = opened.manifest
    if _SUBSCRIPTIONS in manifest.files:
        index = Index(entailment)
        for subscription in Stock(opened):
            index.add(subscription)
        return index, Saved(directory, manifest)
    vocabulary = _bytes(opened.contents[manifest.files[_VOCABULARY]][0], directory)
    told = json.loads(vocabulary)
    pieces = sorted(name for name in manifest.files if name.startswith(_TERMS))
    dictionary = Dictionary.of_pieces([opened.contents[manifest.files[name]][0] for name in pieces])
    index = Index(entailment, dictionary, Atoms.load(told["atoms"]))
    index.concepts.load(told)
    index.came = int(manifest.meta["came"])  # type: ignore[arg-type]
    saved = Saved(directory, manifest, {}, dictionary, len(dictionary), vocabulary)
    for entry in manifest.segments:
        part = _part(opened.contents[entry][0])
        part.file = entry
        if entry.name in manifest.tombstones:
            part.drop(np.flatnonzero(_gone(opened, entry, len(part))))
            saved.gone[entry.name] = part.gone_count
        index.parts.append(part)
    return index, saved


def _as_arrays(data: bytes) -> Arrays:
    return {"bytes": np.frombuffer(data, np.uint8)}


def _bytes(arrays: Arrays, directory: Path) -> bytes:
    if "bytes" not in arrays:
        raise corrupt(directory, "a file has no text")
    return arrays["bytes"].tobytes()


def _arrays_of(part: Part) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a part: the segment, when subscriptions came, and what they say."""
    yield from part.segment._asdict().items()
    yield "pattern_from", part.pattern_from
    yield "order", part.order
    yield "kind", part.kind
    yield from Ids.build(part.holding.ids(np.arange(len(part)))).items()
    yield from pack(part.holding.record(number) for number in range(len(part))).items()


def _part(arrays: Arrays) -> Part:
    segment = Segment(**{name: arrays[name] for name in Segment._fields})
    return Part(segment, Stored(arrays), arrays["pattern_from"], arrays["order"], arrays["kind"])
