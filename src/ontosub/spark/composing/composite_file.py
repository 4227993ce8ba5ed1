"""Files of composite subscriptions: JSON with their texts, and the variables of the subscriptions that they name.

{"subscriptions": {"smoke": ["room"], "heat": ["room"]},
 "composites": {"fire": "smoke before heat within 10 min"}}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ontosub.languages.composite import parse_all, to_text
from ontosub.matching.compiled.files.array_files import replace_file
from ontosub.model.composite import Composite, Primitive, walk
from ontosub.model.errors import UsageError
from ontosub.model.pattern import GraphPattern
from ontosub.model.subscription import Subscription
from ontosub.model.terms import Variable


def save_composites(path: str | Path, composites: Iterable[Composite]) -> None:
    """Put composites into a file, whole or not at all: who reads it sees all of the former ones, or all of these."""
    standing = list(composites)
    variables: dict[str, set[str]] = {}
    for part in (part for composite in standing for part in walk(composite.pattern)):
        if isinstance(part, Primitive):
            variables.setdefault(part.subscription_id, set()).update(name for name, _ in part.variables)
    written = {
        "subscriptions": {name: sorted(found) for name, found in sorted(variables.items())},
        "composites": {composite.id: to_text(composite.pattern) for composite in standing},
    }
    replace_file(Path(path), [json.dumps(written, ensure_ascii=False, indent=1).encode()])


def read_composites(path: str | Path) -> list[Composite]:
    """Return the composites of a file.

    Raises UsageError when it is missing or no such file, and LanguageError when a text in it is malformed.
    """
    try:
        found = json.loads(Path(path).read_bytes())
        subscriptions, texts = found["subscriptions"], found["composites"]
        names = {name: _subscription(name, variables) for name, variables in subscriptions.items()}
    except OSError as error:
        raise UsageError(f"cannot read the composites in {path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise UsageError(f"{path} is no file of composites: make it with save_composites") from None
    return _parsed(path, texts, names)


def _parsed(path: str | Path, texts: Any, names: Mapping[str, Subscription]) -> list[Composite]:
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise UsageError(f"{path} is no file of composites: make it with save_composites")
    return list(parse_all(texts, names=names).values())


def _subscription(id: str, variables: Iterable[str]) -> Subscription:
    """Return what stands for a subscription: only its id and the variables of its answers matter here."""
    return Subscription(id, (GraphPattern(projection=tuple(map(Variable, variables))),))
