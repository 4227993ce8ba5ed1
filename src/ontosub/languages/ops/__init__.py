"""OPS's statement patterns (paper, section 4.2), one per line, as a graph pattern that starts at the home vertex.

    PREFIX : <http://example.org/auction#>
    (_:H, ?2, (:Selling, :price, :MoneyValue))
    (?2, ?3, (:MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)

A statement pattern names a subject, an object, and the meta-statement (subject class, property, object class) that
the statement must fit; a fourth member is a filter, an expression of SPARQL about literal objects. All statement
patterns together make one pattern; it is injective (Definition 1) and its answers are all of its variables.
"""

from __future__ import annotations

from collections.abc import Mapping

from ontosub.languages.ops.compiler import compile_statements
from ontosub.languages.ops.parser import parse_statements
from ontosub.languages.ops.printer import print_pattern, to_text
from ontosub.languages.prologue import WELL_KNOWN
from ontosub.languages.sparql.source import Source
from ontosub.model.subscription import Subscription


def parse(
    text: str,
    *,
    id: str,
    prefixes: Mapping[str, str] | None = None,
    rules: Mapping[str, Subscription] | None = None,
) -> Subscription:
    """Return the subscription of some statement patterns.

    The prefixes rdf, rdfs, xsd, owl and daml are known; `prefixes` and the text's own win over them. `rules` are of
    no concern here.

    Raises LanguageError with position and hint, LimitError when the text is too long or nested too deeply.
    """
    source = Source(text)
    statements = parse_statements(source, {**WELL_KNOWN, **(prefixes or {})})
    return Subscription(id, (compile_statements(statements, source),), language="ops", text=text)


__all__ = ["parse", "parse_statements", "print_pattern", "to_text"]
