"""Things by name, as a configuration names them: the parameters of a constructor are the options."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Generic, TypeVar, get_type_hints

from ontosub.inputs.option_types import check_type
from ontosub.model.errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a class is found, and the options that its kind says already."""

    module: str
    name: str
    fixed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Kinds(Generic[T]):
    """All kinds of one thing: `what` is what a user calls it."""

    what: str
    entries: Mapping[str, Entry]

    def made(self, kind: str, options: Mapping[str, object]) -> T:
        """Return the thing of a kind. Only who uses one needs its libraries.

        Raises UsageError that names what is wrong: the kind, or an option that is unknown, missing or of another type.
        """
        if kind not in self.entries:
            raise UsageError(f"unknown {self.what} {kind!r}: {_nearest(kind, self.entries)}")
        entry = self.entries[kind]
        found = self._loaded(kind, entry)
        self._check(kind, found, entry.fixed, options)
        made: T = found(**options, **entry.fixed)
        return made

    def _loaded(self, kind: str, entry: Entry) -> Any:
        try:
            return getattr(import_module(entry.module), entry.name)
        except ImportError as error:
            raise UsageError(f"the {self.what} {kind} needs {error.name}: pip install 'ontosub[run]'") from error

    def _check(self, kind: str, found: Any, fixed: Mapping[str, Any], options: Mapping[str, object]) -> None:
        known = {name: one for name, one in inspect.signature(found).parameters.items() if name not in fixed}
        types = get_type_hints(found.__init__)
        for name, value in options.items():
            if name not in known:
                raise UsageError(f"the {self.what} {kind} has no option {name}: {_nearest(name, known)}")
            check_type(f"option {name} of the {self.what} {kind}", value, types[name])
        for name, parameter in known.items():
            if parameter.default is parameter.empty and name not in options:
                raise UsageError(f"the {self.what} {kind} lacks the option {name}")


def _nearest(name: str, known: Mapping[str, object]) -> str:
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
