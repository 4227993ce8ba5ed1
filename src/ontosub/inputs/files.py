"""Which files are meant: paths as given, folders opened, companions told from what they accompany."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ontosub.formats import media
from ontosub.model.errors import UsageError

LANGUAGES = {".rq": "sparql", ".sparql": "sparql", ".ops": "ops", ".mdv": "mdv", ".composite": "composite"}
"""The languages of subscriptions, composite ones among them, by file extension."""

FORMATS = frozenset(f".{extension}" for known in media.FORMATS for extension in known.extensions)
ONTOLOGY_FORMATS = frozenset(f".{extension}" for known in media.RDF_FORMATS for extension in known.extensions)

STANDARD_INPUT = Path("-")

_COMPANIONS = ("context", "mapping")


def found(paths: Iterable[Path], extensions: Iterable[str], what: str) -> list[Path]:
    """Return the files that the paths mean, each once: a file itself, a folder's files with one of the extensions.

    Raises UsageError for a path where nothing is and for a folder without such files; `what` names what was looked for.
    """
    extensions = frozenset(extensions)
    files: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            files.update(dict.fromkeys(_inside(path, extensions, what)))
        elif path.exists():
            files[path] = None
        else:
            raise UsageError(f"{path}: there is no such file or folder of {what}")
    return list(files)


def _inside(folder: Path, extensions: frozenset[str], what: str) -> list[Path]:
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in extensions and not _is_hidden(path, folder) and not _is_companion(path)
    ]
    if not files:
        raise UsageError(f"{folder}: the folder holds no {what} ({', '.join(sorted(extensions))})")
    return files


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _is_companion(path: Path) -> bool:
    return Path(path.stem).suffix.removeprefix(".") in _COMPANIONS


def companion(path: Path, kind: str) -> Path | None:
    """Return the context or mapping that lies beside an event's file: lots.mapping.json beside lots.csv."""
    beside = path.with_name(f"{path.stem}.{kind}.json")
    return beside if path != STANDARD_INPUT and beside.is_file() else None


def with_folder(given: Iterable[Path] | None, folder: Path | None, part: str) -> list[Path]:
    """Return the paths given, and after them the folder's part (ontology, subscriptions, events) if it has that."""
    paths = list(given or ())
    if folder is None:
        return paths
    if not folder.is_dir():
        raise UsageError(f"--folder {folder}: there is no such folder")
    return [*paths, folder / part] if (folder / part).is_dir() else paths
