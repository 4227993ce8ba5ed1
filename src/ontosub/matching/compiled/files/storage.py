"""The index in a directory: which files it consists of, and how it comes back from them.

Each part of the index is a file, written once; what subscriptions say stands in it, too. Beside the parts there are the
ontology, the terms of the dictionary, in pieces as they came, and the vocabulary: the order in which classes,
properties and atoms got their numbers. What has gone from a part since it was written is in a file of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
from ontosub.matching.compiled.files.packed import pack
from ontosub.matching.compiled.index.holdings import Stored
from ontosub.matching.compiled.index.index import Index
from ontosub.matching.compiled.index.layout import Segment
from ontosub.matching.compiled.index.part import Part
from ontosub.model import Ontology
from ontosub.model.errors import IndexDirectoryError
from ontosub.semantics import Entailment

Array = NDArray[Any]

_ONTOLOGY, _VOCABULARY, _TERMS = "ontology", "vocabulary", "terms"
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


def save(index: Index, directory: Path, saved: Saved | None) -> Saved:
    """Write what is not in the directory yet, then make all of it the directory's index, in one step.

    `saved` is what an earlier save of the same index returned, or its opening. A directory that holds anything else is
    left alone, with an IndexDirectoryError.
    """
    index.flush()
    with Writer(directory) as writer:
        former = writer.manifest
        if former is not None and not (saved is not None and _is_same(saved, directory, former)):
            raise IndexDirectoryError(
                "the directory holds another index",
                str(directory),
                "Open that index first, or save into a directory of its own.",
            )
        if saved is None or former is None:
            saved = Saved(directory, Manifest(fingerprint(index.entailment.ontology), 0))
            for part in index.parts:
                part.file = None
        saving = _Saving(writer, saved, saved.manifest.generation + 1)
        saving.write(index)
        writer.commit(saving.manifest(index))
        writer.collect()
    return saving.saved()


def _is_same(saved: Saved, directory: Path, former: Manifest) -> bool:
    return saved.directory.resolve() == directory.resolve() and saved.manifest.generation == former.generation


class _Saving:
    """One save on its way: files are written; what is known of the directory changes only when all went well."""

    def __init__(self, writer: Writer, saved: Saved, generation: int) -> None:
        self._writer = writer
        self._former = saved
        self._generation = generation
        self._files = dict(saved.manifest.files)
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


def _load(directory: Path, entailment: Entailment, opened: Opened) -> tuple[Index, Saved]:
    manifest = opened.manifest
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
            bits = opened.contents[manifest.tombstones[entry.name]][0]["gone"]
            part.drop(np.flatnonzero(np.unpackbits(bits, count=len(part))))
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
