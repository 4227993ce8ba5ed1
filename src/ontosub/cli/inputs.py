"""From files to ontologies, subscriptions and events. What is wrong with one of many does not hide the others."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ontosub.cli.faults import FAULTS, diagnostic_of
from ontosub.cli.files import FORMATS, LANGUAGES, ONTOLOGY_FORMATS, STANDARD_INPUT, companion, found
from ontosub.cli.progress import shown
from ontosub.languages import mdv
from ontosub.model import Diagnostic, Event, Severity, Subscription
from ontosub.model.errors import FormatError, InputError, UsageError


def ontology_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files that the paths mean, which together make one ontology."""
    files = found(paths, ONTOLOGY_FORMATS, "ontologies")
    for path in files:
        if path.suffix not in ONTOLOGY_FORMATS:
            raise UsageError(f"{path}: the extension names no RDF syntax ({', '.join(sorted(ONTOLOGY_FORMATS))})")
    return files


@dataclass(frozen=True, slots=True)
class Subscribed:
    """Subscriptions by id, the files they came from, and what is wrong with the files that gave none."""

    subscriptions: Mapping[str, Subscription]
    sources: Mapping[str, str]
    faults: tuple[Diagnostic, ...]


def read_subscriptions(paths: Iterable[Path], language: str | None = None) -> Subscribed:
    """Read a subscription from each file; its id is the file's name without extension.

    MDV rules may extend each other. `language` overrules the extensions, and is needed for any but the known ones.
    """
    files = _by_name(found(paths, LANGUAGES, "subscriptions"))
    read: dict[str, Subscription | Exception] = {}
    texts: dict[str, dict[str, str]] = {}
    for name, path in files.items():
        try:
            texts.setdefault(language or _language(path), {})[name] = _text(path)
        except FAULTS as error:
            read[name] = error
    for written_in, group in texts.items():
        read.update(_parsed_rules(group) if written_in == "mdv" else _parsed(group, written_in))
    results = [(name, read[name]) for name in files]
    return Subscribed(
        {name: result for name, result in results if isinstance(result, Subscription)},
        {name: str(path) for name, path in files.items()},
        tuple(diagnostic_of(result, str(files[name])) for name, result in results if isinstance(result, Exception)),
    )


def _by_name(files: Iterable[Path]) -> dict[str, Path]:
    by_name: dict[str, Path] = {}
    for path in files:
        if path.stem in by_name:
            raise UsageError(f"{by_name[path.stem]} and {path} would both have the id {path.stem!r}: rename one")
        by_name[path.stem] = path
    return by_name


def _language(path: Path) -> str:
    if path.suffix not in LANGUAGES:
        raise UsageError(f"the extension does not name a language ({', '.join(LANGUAGES)}): give --language")
    return LANGUAGES[path.suffix]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"the byte at offset {error.start:,} is not UTF-8", hint="Save the file as UTF-8.") from None


def _parsed(texts: Mapping[str, str], language: str) -> Iterator[tuple[str, Subscription | Exception]]:
    for name, text in shown(list(texts.items()), "reading subscriptions"):
        try:
            yield name, Subscription.parse(text, language, id=name)
        except FAULTS as error:
            yield name, error


def _parsed_rules(texts: Mapping[str, str]) -> Iterator[tuple[str, Subscription | Exception]]:
    """Yield the rules, read together because they may extend each other; a faulty one is set aside."""
    waiting = dict(texts)
    while waiting:
        try:
            yield from mdv.parse_rules(waiting).items()
            return
        except FAULTS as error:
            faulty = error.diagnostic.source if isinstance(error, InputError) else None
            # A limit is exceeded by rules together: then none of them can be read.
            for name in [faulty] if faulty in waiting else list(waiting):
                del waiting[name]
                yield name, error


@dataclass(frozen=True, slots=True)
class Published:
    """An event, and the file that it was read from."""

    source: str
    event: Event


@dataclass(frozen=True, slots=True)
class Reading:
    """How events are read: the format, if their extensions do not say it, and the format's own options."""

    format: str | None = None
    base: str | None = None
    context: Path | None = None
    mapping: Path | None = None
    vocab: str | None = None

    def options(self, path: Path) -> dict[str, Any]:
        """Return the options for one file: what was given, else what lies beside it."""
        options = {
            "base": self.base,
            "vocab": self.vocab,
            "context": self.context or companion(path, "context"),
            "mapping": self.mapping or companion(path, "mapping"),
        }
        return {name: value for name, value in options.items() if value is not None}


def event_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files of events that the paths mean, each once; `-` stands for standard input."""
    files: dict[Path, None] = {}
    for path in paths:
        files.update(dict.fromkeys([path] if path == STANDARD_INPUT else found([path], FORMATS, "events")))
    return list(files)


def read_events(path: Path, reading: Reading) -> Iterator[Published | Diagnostic]:
    """Yield the events of a file in order; a fault takes the place of what could not be read.

    A bad line, row or record leaves those after it readable; any other fault ends the file. An event that nothing names
    is called after its file: lots.csv, and those that follow in it lots.csv#2, lots.csv#3.
    """
    source, name = ("standard input", "-") if path == STANDARD_INPUT else (str(path), path.name)
    number = 0
    faults: list[Exception] = []
    options = {**reading.options(path), "on_fault": faults.append}
    try:
        for event in Event.read_stream(_payload(path, reading), reading.format, **options):
            yield from _taken(faults, source)
            number += 1
            named = event if not _UNNAMED.fullmatch(event.id) else replace(event, id=_numbered(name, number))
            yield Published(source, named)
    except FAULTS as error:
        faults.append(error)
        yield from _taken(faults, source)
        if number:
            yield Diagnostic(f"what follows event {number} was not read", Severity.NOTE, source=source)
    yield from _taken(faults, source)


def _taken(faults: list[Exception], source: str) -> Iterator[Diagnostic]:
    """Yield what is wrong, once."""
    while faults:
        yield _fault(faults.pop(0), source)


def _fault(error: Exception, source: str) -> Diagnostic:
    """Return what is wrong with a file of events, or with what reading it leans on: a context, an envelope's data."""
    inside = error.diagnostic.source if isinstance(error, InputError) else None
    return diagnostic_of(error, source if inside in (None, source) else f"{source}, {inside}")


_UNNAMED = re.compile(r"sha256:[0-9a-f]{32}#[0-9]+")
"""The id of an event that has none of its own; see `Event.read_stream`."""


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}#{number}"


def _payload(path: Path, reading: Reading) -> bytes | Path:
    if path != STANDARD_INPUT:
        return path
    if reading.format is None:
        raise UsageError("there is no extension to tell the format by: give --format")
    return sys.stdin.buffer.read()
