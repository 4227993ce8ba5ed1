"""When to look for what can be forgotten: as seldom as keeps what is held within a small multiple of what is needed.

Looking through everything costs as much as there is. So it is done when as many more are held as were left the last
time, and once more when the last of them is outlived: a stream that has fallen silent leaves nothing behind.
"""

from __future__ import annotations

from ontosub.composite.moments import FOREVER

_FEW = 4


class Fading:
    """Counts what is held. `due` is the moment by which all of it can be forgotten, FOREVER when nothing is held."""

    __slots__ = ("_bound", "_count", "due")

    def __init__(self) -> None:
        self._count, self._bound, self.due = 0, _FEW, FOREVER

    def hold(self, last: int) -> bool:
        """Note one more, which is needed until `last`; say whether it is time to look."""
        if last > self.due or not self._count:
            self.due = last
        self._count += 1
        return self._count > self._bound

    def looked(self, left: int, last: int) -> None:
        """Note how many are left, and until when the last of them is needed."""
        self._count, self._bound = left, 2 * left + _FEW
        self.due = last if left else FOREVER
