"""Where the layers above plug in what `Event.read`, `Ontology.read` and `Subscription.parse` do, and what they lean on.

Those calls belong to the public face of the values, but parsers live in `formats`, `languages` and `semantics`, and
imports point down only. In the same way a mapping of `formats` asks `semantics` whether a text belongs to a datatype.
So, as with the codecs of the standard library, each layer registers its function when it is imported; `import ontosub`
imports them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_readers: dict[str, Callable[..., Any]] = {}


def register(name: str, function: Callable[..., Any]) -> None:
    """Make `function` the reader called `name`."""
    _readers[name] = function


def get(name: str) -> Callable[..., Any]:
    """Return the reader called `name`."""
    return _readers[name]
