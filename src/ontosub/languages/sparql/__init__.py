"""SPARQL 1.2 queries as subscriptions.

`parse` reads a subscription; `parse_query` and `print_query` go between text and tree; `parse_expression` lends the
expressions to another language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lark import Token

from ontosub.languages.prologue import Prologue
from ontosub.languages.sparql.cache import Cache, read_in_full
from ontosub.languages.sparql.filters import conjuncts, express
from ontosub.languages.sparql.parser import parse_query, read_expression
from ontosub.languages.sparql.printer import print_query
from ontosub.languages.sparql.residuals import query_of
from ontosub.languages.sparql.source import Source
from ontosub.model.pattern import Filter
from ontosub.model.subscription import Subscription

_cache = Cache()


def parse(
    text: str,
    *,
    id: str,
    prefixes: Mapping[str, str] | None = None,
    rules: Mapping[str, Subscription] | None = None,
    base: str | None = None,
) -> Subscription:
    """Return the subscription of a query: SELECT, ASK, CONSTRUCT or DESCRIBE.

    `prefixes` and `base` hold in addition to what the text declares; `rules` are of no concern here.

    Raises LanguageError with position and hint, and LimitError when the text is too long, too deep or too complex.
    """
    return _cache.subscription(text, id, prefixes, base)


def parse_expression(tokens: Sequence[Token], source: Source, prologue: Prologue) -> list[Filter]:
    """Return what an expression inside another language demands: one or more filters that must all hold.

    Raises LanguageError, positioned in `source`, when it is malformed or uses what no filter can express.
    """
    found: list[Filter] = []
    for part in conjuncts(read_expression(tokens, source, prologue)):
        expression = express(part)
        if expression is None:
            hint = "EXISTS, aggregates, NOW and functions that make new values need a SPARQL subscription."
            raise source.error("this cannot be asked in a filter here", part.span, hint)
        found.append(Filter(expression, part.span))
    return found


__all__ = ["parse", "parse_expression", "parse_query", "print_query", "query_of", "read_in_full"]
