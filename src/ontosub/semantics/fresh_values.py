"""Values that are new in each solution (RAND, UUID, STRUUID, BNODE), and the same whenever an event is matched again.

They are derived from the event's id, the solution and the position of the call. So the answers are a function of the
event: every engine gives the same ones, and a pipeline that goes on after a crash gives them again. Two solutions that
are the same share their values. Nobody should take them for secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import TypeAlias
from uuid import UUID

from ontosub.model.errors import Span
from ontosub.model.terms import BlankNode, Literal, NamedNode, Term, Variable
from ontosub.semantics.numeric import Number, NumericType
from ontosub.semantics.values import literal_of

Mark: TypeAlias = Span | int | str
"""What tells calls in one solution apart: the position in the text, else in the expression; or the string of BNODE."""

_SIZE_BYTES = 16


def seed(event_id: str, solution: Mapping[Variable, Term], mark: Mark) -> bytes:
    """Return what a value is derived from."""
    digest = blake2b(digest_size=_SIZE_BYTES)
    parts = [f"{variable} {term}" for variable, term in sorted(solution.items(), key=lambda item: item[0].value)]
    for part in (event_id, *parts, _marked(mark)):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def _marked(mark: Mark) -> str:
    """Return the mark as a text; no two kinds of marks share one."""
    if isinstance(mark, str):
        return f'"{mark}'
    if isinstance(mark, Span):
        return f"{mark.line}:{mark.column}"
    return f"/{mark}"


def random_number(seed: bytes) -> Literal:
    """Return a double of at least 0 and less than 1."""
    # 53 bits are what a double holds.
    return literal_of(Number(NumericType.DOUBLE, (int.from_bytes(seed, "big") >> 75) / (1 << 53)))


def uuid_iri(seed: bytes) -> NamedNode:
    """Return a UUID as an IRI."""
    return NamedNode(f"urn:uuid:{_uuid(seed)}")


def uuid_string(seed: bytes) -> Literal:
    """Return a UUID as a string."""
    return Literal(str(_uuid(seed)))


def _uuid(seed: bytes) -> UUID:
    """Return a UUID of version 8, whose bits are its maker's own (RFC 9562)."""
    bits = int.from_bytes(seed, "big")
    bits = bits & ~(0xF << 76) | 0x8 << 76
    return UUID(int=bits & ~(0x3 << 62) | 0x2 << 62)


def blank_node(seed: bytes) -> BlankNode:
    """Return a blank node. Its label is a digest, so that it is none of the event's."""
    return BlankNode(f"fresh{seed.hex()}")
