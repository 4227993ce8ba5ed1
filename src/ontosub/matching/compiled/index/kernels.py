"""What kernels have in common: how the inner ones are compiled, and how numbers are hashed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

# Numba counts references to arrays, atomically, wherever one is passed on: in a walk that is most of the time. What
# makes no arrays needs no counting.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}


def uncounted(function: Function) -> Function:
    """Compile a kernel that makes no arrays."""
    compiled: Function = njit(cache=True, nogil=True, **_UNCOUNTED)(function)
    return compiled


def inlined(function: Function) -> Function:
    """Compile a piece of an uncounted kernel into it."""
    compiled: Function = njit(forceinline=True, **_UNCOUNTED)(function)
    return compiled


@njit(cache=True, nogil=True)
def mixed(value: int, more: int) -> int:
    """Return a 64-bit hash that continues `value` with `more`."""
    value = (value ^ np.uint64(more)) * np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(32))
