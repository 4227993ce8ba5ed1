"""Where strings, IRIs and comments end in the Turtle family, for those who look for what is outside of them.

This is no parser: on malformed text it may see other tokens than the parser does, but only behind the parser's first
error. Every pattern is possessive and reaches the end of the text when its end is missing, so scanning is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ontosub.formats.limits import Limits

_TOKEN = re.compile(
    r'''
      (?: """ (?: [^"\\]++ | \\. | "(?!"") )*+ (?: """ | \\?\Z )
        | \'\'\' (?: [^'\\]++ | \\. | '(?!\'\') )*+ (?: \'\'\' | \\?\Z )
        | " (?: [^"\\\n\r]++ | \\. )*+ "
        | ' (?: [^'\\\n\r]++ | \\. )*+ '
        | < [^<>"{}|^`\x00-\x20]*+ >
        | \\. )
    | (?P<comment> \# [^\n\r]*+ )
    | (?P<opening> << )
    | (?P<closing> >> )
    | (?P<message> (?<![\w:.@%-]) (?i:message) (?![\w:.%-])
                 | (?<!["']) @message [ \t\r\n]*+ \. )
    ''',
    re.VERBOSE | re.DOTALL,
)


def scan(text: str) -> Iterator[re.Match[str]]:
    """Yield, in order, what is not inside a string or an IRI: comments, `<<` and `>>`, message directives.

    The kind of a find is its `lastgroup`.
    """
    return (token for token in _TOKEN.finditer(text) if token.lastgroup)


def check_nesting(text: str, limits: Limits) -> None:
    """Raise LimitError when triple terms are nested too deeply: the parser would overflow its stack on them."""
    if text.count("<<") <= limits.depth:
        return
    depth = 0
    for token in scan(text):
        depth += (token.lastgroup == "opening") - (token.lastgroup == "closing")
        depth = max(depth, 0)
        limits.check("depth", depth, "triple terms are nested {} deep")
