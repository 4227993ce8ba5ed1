"""Foreign text on a terminal: ids, literals, IRIs, names of files, words of other programs.

A control character in such a text could move the cursor, forge a line of output, or turn the direction of writing.
Shown as its code, it does nothing.
"""

from __future__ import annotations

import re

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0, DEL and C1; separators of lines and paragraphs; what turns the direction of writing; halves of characters."""


def printable(text: str) -> str:
    r"""Return the text on one line, with the codes of its control characters in their place.

    In a text of JSON, where they can only be inside strings, this changes nothing of what it means.

    >>> print(printable("a\x1b[31mb\nc"))
    a\u001b[31mb\u000ac
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
