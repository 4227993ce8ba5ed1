"""From files to ontologies and subscriptions. What is wrong with one of many does not hide the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ontosub.inputs.faults import FAULTS, diagnostic_of
from ontosub.inputs.files import LANGUAGES, ONTOLOGY_FORMATS, found
from ontosub.languages import composite, mdv
from ontosub.model import Diagnostic, Subscription
from ontosub.model.composite import Composite
from ontosub.model.errors import FormatError, InputError, UsageError


def ontology_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files that the paths mean, which together make one ontology."""
    files = found(paths, ONTOLOGY_FORMATS, "ontologies")
    for path in files:
        if path.suffix not in ONTOLOGY_FORMATS:
            raise UsageError(f"{path}: the extension names no RDF syntax ({', '.join(sorted(ONTOLOGY_FORMATS))})")
    return files


Named: TypeAlias = tuple[str, str]
"""An id, and the text that has it."""


def _unseen(texts: list[Named], _what: str) -> Iterable[Named]:
    return texts


@dataclass(frozen=True, slots=True)
class Subscribed:
    """Subscriptions and composites by id, the files they came from, and what is wrong with the files that gave none."""

    subscriptions: Mapping[str, Subscription]
    composites: Mapping[str, Composite]
    sources: Mapping[str, str]
    faults: tuple[Diagnostic, ...]


def read_subscriptions(
    paths: Iterable[Path],
    language: str | None = None,
    *,
    names: Mapping[str, Subscription] | None = None,
    shown: Callable[[list[Named], str], Iterable[Named]] = _unseen,
) -> Subscribed:
    """Read a subscription from each file; its id is the file's name without extension.

    MDV rules may extend each other; composites may name each other, the subscriptions that are read, and those of
    `names`. `language` overrules the extensions, and is needed for any but the known ones. `shown` is given what takes
    long, and what to call it.
    """
    files = _by_name(found(paths, LANGUAGES, "subscriptions"))
    read: dict[str, Subscription | Composite | Exception] = {}
    texts: dict[str, dict[str, str]] = {}
    for name, path in files.items():
        try:
            texts.setdefault(language or _language(path), {})[name] = _text(path)
        except FAULTS as error:
            read[name] = error
    composites = texts.pop("composite", {})
    for written_in, group in texts.items():
        waiting = shown(list(group.items()), "reading subscriptions") if written_in != "mdv" else ()
        read.update(_parsed_rules(group) if written_in == "mdv" else _parsed(waiting, written_in))
    operands = {**(names or {}), **{name: each for name, each in read.items() if isinstance(each, Subscription)}}
    for made in composite.parse_each(composites, names=operands, faulty=read.keys() - operands.keys()):
        read.update(made)
    results = [(name, read[name]) for name in files]
    return Subscribed(
        {name: result for name, result in results if isinstance(result, Subscription)},
        {name: result for name, result in results if isinstance(result, Composite)},
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


def _parsed(texts: Iterable[Named], language: str) -> Iterator[tuple[str, Subscription | Exception]]:
    for name, text in texts:
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
