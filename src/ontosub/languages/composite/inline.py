"""Operands that are subscriptions: those written inside a composite's text, and what the answers of any bind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256

from ontosub.languages import mdv, ops, sparql
from ontosub.languages.composite.syntax import Inline
from ontosub.languages.prologue import Prologue
from ontosub.languages.sparql.checks import visible_variables
from ontosub.languages.sparql.source import Source
from ontosub.languages.sparql.syntax import Construct, Select
from ontosub.model.errors import LanguageError, LimitError, Span, UsageError
from ontosub.model.subscription import Subscription
from ontosub.model.terms import Variable

_DECLARED = re.compile(r"(?:(?:BASE|PREFIX) .*\n)+")
"""What an inline subscription's text may begin with although the composite's text has it elsewhere."""
_PARSERS: Mapping[str, Callable[..., Subscription]] = {"sparql": sparql.parse, "ops": ops.parse, "mdv": mdv.parse}


def inline_subscription(tree: Inline, source: Source, prologue: Prologue) -> Subscription:
    """Return the subscription that is written there. Equal texts under equal prefixes are the same one, by id.

    Its own text declares the base and the prefixes that it uses, so that it can be read again by itself.
    """
    used = {name: iri for name, iri in prologue.prefixes.items() if f"{name}:" in tree.text}
    declared = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in sorted(used.items()))
    if tree.language == "sparql" and prologue.base is not None:
        declared = f"BASE <{prologue.base}>\n{declared}"
    try:
        return parse_inline(declared + tree.text.strip(), tree.language)
    except LanguageError as error:
        raise _moved(error, declared, tree, source) from None
    except LimitError as error:
        # Its place, which stands before what it says, is one in the inner text.
        told = re.sub(r"^line \d+, column \d+: ", "", str(error).partition("\n")[0])
        raise source.limit(f"the inline subscription: {told}", tree.span, "Make it smaller.") from None


def is_written_in(text: str, subscription: Subscription) -> bool:
    """Say whether a composite's text has the subscription in it, and not only the name of a composite that has."""
    written = subscription.text or ""
    declared = _DECLARED.match(written)
    return written[declared.end() if declared else 0 :] in text


def parse_inline(text: str, language: str) -> Subscription:
    """Return the subscription of a text that says all that it needs. Its id is made of its language and text."""
    if language not in _PARSERS:
        raise UsageError(f'there is no language "{language}": choose one of {", ".join(_PARSERS)}')
    digest = sha256(text.encode()).hexdigest()[:16]
    return _PARSERS[language](text, id=f"{language}:{digest}")


def _moved(error: LanguageError, declared: str, tree: Inline, source: Source) -> LanguageError:
    """Return an error of the inner text as one of the outer."""
    skipped = len(tree.text) - len(tree.text.lstrip())
    span = error.span
    if span is None or span.line <= declared.count("\n"):
        return source.error(error.message, tree.span, error.hint or "Look at the inline subscription.")
    first = source.span(tree.start + skipped, tree.start + skipped)
    before = first.line - 1 - declared.count("\n")

    def column(line: int, column: int) -> int:
        return column + first.column - 1 if line == declared.count("\n") + 1 else column

    place = Span(
        span.line + before,
        column(span.line, span.column),
        span.end_line + before,
        column(span.end_line, span.end_column),
    )
    return source.error(error.message, place, error.hint or "Look at the inline subscription.")


def answer_variables(subscription: Subscription) -> frozenset[str]:
    """Return the variables that the answers of a subscription may bind."""
    if subscription.residual is None:
        found = [variable for pattern in subscription.patterns for variable in pattern.projected]
        return frozenset(variable.value for variable in found)
    return _query_variables(subscription.residual)


@lru_cache(maxsize=64)
def _query_variables(text: str) -> frozenset[str]:
    """Return the variables that the answers of a query may bind; a pattern asks for those of a query many times."""
    query = sparql.parse_query(text)
    if isinstance(query, Select) and query.projection is not None:
        chosen = (item.variable.term for item in query.projection if item.variable is not None)
        return frozenset(term.value for term in chosen if isinstance(term, Variable))
    if isinstance(query, Select | Construct):
        return frozenset(variable.value for variable in visible_variables(query.where))
    return frozenset()
