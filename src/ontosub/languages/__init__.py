"""The subscription languages. Each compiles to the same graph patterns; importing this package registers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256

from ontosub.languages import composite, mdv, ops, sparql  # noqa: F401 - composite registers its own reader
from ontosub.model import readers
from ontosub.model.errors import UsageError
from ontosub.model.subscription import Subscription

_PARSERS: Mapping[str, Callable[..., Subscription]] = {"sparql": sparql.parse, "ops": ops.parse, "mdv": mdv.parse}


def parse(
    text: str,
    language: str = "sparql",
    *,
    id: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    rules: Mapping[str, Subscription] | None = None,
) -> Subscription:
    """Read a subscription; see `Subscription.parse`."""
    parser = _PARSERS.get(language)
    if parser is None:
        raise UsageError(f'there is no language "{language}": choose one of {", ".join(_PARSERS)}')
    return parser(text, id=digest_id(text, language) if id is None else id, prefixes=prefixes, rules=rules)


def digest_id(text: str, language: str) -> str:
    """Return the id of a subscription that was given none: equal texts in one language have equal ids."""
    return f"{language}:{sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"


readers.register("subscription.parse", parse)
