"""Rows for people, as `ontosub match` shows what they say. The same rows for programs are in `rows`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ontosub.composite.terms import term_of
from ontosub.semantics.wording import term_text

_INDENT = "    "


def lines_of(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that show a row, given as JSON values. Foreign text in them is as it came."""
    if "detection_id" in row:
        yield f"{row['subscription_id']}: detected"
        yield from _tree(row["constituents"], _INDENT)
    elif "subscription_id" in row:
        yield f"{row['subscription_id']}: event {row['event_id']} matches"
        yield from (_INDENT + answer for answer in sorted(filter(None, map(_answer, row["bindings"]))))
    else:
        yield _reject(row)


def _tree(node: Mapping[str, Any], indent: str) -> Iterator[str]:
    event = f" by event {node['event_id']}" if "event_id" in node else ""
    start, end = node["start"], node["end"]
    moment = start if start == end else f"{start}/{end}"
    answers = "; ".join(filter(None, map(_answer, node["bindings"])))
    yield f"{indent}{node['what']}{event} at {moment}" + (f": {answers}" if answers else "")
    parts: Sequence[Mapping[str, Any]] = node.get("constituents", ())
    for part in parts:
        yield from _tree(part, indent + "  ")


def _reject(row: Mapping[str, Any]) -> str:
    event = "an event" if row["event_id"] is None else f"event {row['event_id']}"
    where = [f"{name} {row[name]}" for name in ("line", "column") if row[name] is not None]
    return f"{', '.join([f'rejected: {event}', *where])}: {row['reason']}"


def _answer(binding: Mapping[str, str]) -> str:
    return ", ".join(f"?{name} = {_term(text)}" for name, text in binding.items())


def _term(text: str) -> str:
    try:
        return term_text(term_of(text))
    except (SyntaxError, ValueError):  # rows of somebody else, who writes terms in another way
        return text
