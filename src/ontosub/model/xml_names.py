"""The characters of XML names, as ranges of code points: XPath's `\\i` and `\\c`, XSD's Name and NMTOKEN."""

from __future__ import annotations

Ranges = tuple[tuple[int, int], ...]

NAME_START: Ranges = (
    (0x3A, 0x3A),
    (0x41, 0x5A),
    (0x5F, 0x5F),
    (0x61, 0x7A),
    (0xC0, 0xD6),
    (0xD8, 0xF6),
    (0xF8, 0x2FF),
    (0x370, 0x37D),
    (0x37F, 0x1FFF),
    (0x200C, 0x200D),
    (0x2070, 0x218F),
    (0x2C00, 0x2FEF),
    (0x3001, 0xD7FF),
    (0xF900, 0xFDCF),
    (0xFDF0, 0xFFFD),
    (0x10000, 0xEFFFF),
)
"""NameStartChar of XML 1.0, fifth edition."""

NAME: Ranges = tuple(sorted((*NAME_START, (0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040))))
"""NameChar of XML 1.0, fifth edition."""


def is_within(character: str, ranges: Ranges) -> bool:
    """Say whether the character is in one of the ranges."""
    return any(low <= ord(character) <= high for low, high in ranges)


def complement(ranges: Ranges) -> Ranges:
    """Return the code points that are in none of the ranges, which are sorted and do not overlap."""
    starts = (0, *(high + 1 for _, high in ranges))
    ends = (*(low - 1 for low, _ in ranges), 0x10FFFF)
    return tuple((low, high) for low, high in zip(starts, ends, strict=True) if low <= high)
