"""Checking a value of a configuration against the type that it should have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from ontosub.languages.composite.durations import parse_duration
from ontosub.languages.prologue import Fault
from ontosub.model.errors import Diagnostic, UsageError

_WORDS = {str: "a text", Path: "a path", int: "a whole number", float: "a number", bool: "true or false"}
_LISTS = (Sequence, list, tuple)


def check_type(what: str, value: object, annotation: Any) -> None:
    """Raise UsageError that begins with `what` unless a value is of a type."""
    if not _fits(value, annotation):
        raise UsageError(f"{what}: {_shown(value)} is not {_words(annotation)}")


def duration(option: str, text: str) -> timedelta:
    """Return the length of time that a text such as 30 s says. Raises UsageError that begins with the option."""
    try:
        return parse_duration(text, or_nothing=True)
    except Fault as fault:
        raise UsageError(Diagnostic(f"{option}: {fault.message}", hint=fault.hint)) from None


def _fits(value: object, annotation: Any) -> bool:
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if annotation is NoneType:
        return value is None
    if Mapping in (origin, annotation) or dict in (origin, annotation):
        return isinstance(value, Mapping) and all(_fits(one, inner[1]) for one in value.values() if inner)
    if origin in _LISTS or annotation in _LISTS:
        return isinstance(value, (list, tuple)) and all(_fits(one, inner[0]) for one in value if inner)
    if isinstance(value, bool):  # an int for Python, but not for people
        return annotation is bool
    return isinstance(value, (int, float) if annotation is float else annotation)


def _words(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return " or ".join(_words(one) for one in inner if one is not NoneType)
    if origin is Literal:
        return "one of " + ", ".join(map(str, inner))
    if Mapping in (origin, annotation) or dict in (origin, annotation):
        return f"a table of names, each with {_words(inner[1])}" if inner else "a table of names"
    if origin in _LISTS or annotation in _LISTS:
        return f"a list, each {_words(inner[0])}" if inner else "a list"
    return _WORDS.get(annotation, str(annotation))


def _shown(value: object) -> str:
    """Return what a value is, never the value: it may be a secret."""
    return _WORDS.get(type(value), f"a value of type {type(value).__name__}")
