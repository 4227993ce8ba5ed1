"""The hierarchy of classes in numbers, and what of it lies above each class that subscriptions ask about.

To list all classes above each class takes quadratic space in a deep hierarchy. So only the asked ones are listed, and
of these only the nearest: whoever wants all goes on from there, upwards. Classes with the same nearest ones share a
list, so a hierarchy of which little is asked takes little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

Lists = tuple[Array, Array]
"""Lists of varying length: list i is `second[first[i]:first[i + 1]]`."""

EMPTY = 0
"""The list without members."""


class Nearest(NamedTuple):
    """Lists of bits, which stand for the asked classes: list i is `lists[list_from[i]:list_from[i + 1]]`.

    `of_class` has, by class, the list of the nearest asked classes, itself included; `above` has, by bit, that of the
    nearest ones above.
    """

    of_class: Array
    above: Array
    list_from: Array
    lists: Array


class Ancestry:
    """Classes and the classes directly above them, by number. Classes with numbers beyond these stand alone."""

    def __init__(self, pairs: Iterable[tuple[int, int]], count: int) -> None:
        """Take the pairs (narrower, wider) of a hierarchy of so many classes."""
        edges = np.array(list(pairs), np.int64).reshape(-1, 2)
        edges = edges[np.argsort(edges[:, 0], kind="stable")]
        self.parents = edges[:, 1].copy()
        self.parent_from = np.concatenate([[0], np.cumsum(np.bincount(edges[:, 0], minlength=count))])
        self._component = _components(self.parent_from, self.parents)
        # Components are numbered from above.
        self._by_component = np.argsort(self._component, kind="stable")

    def parents_of(self, count: int) -> Lists:
        """Return the classes directly above each of so many classes."""
        missing = count + 1 - len(self.parent_from)
        return np.append(self.parent_from, np.full(missing, self.parent_from[-1])), self.parents

    def nearest(self, bit_of: Array) -> Nearest:
        """Return where the asked classes are, which have bits; the others have -1."""
        asked = int(bit_of.max(initial=-1)) + 1
        return Nearest(*_nearest(self.parent_from, self.parents, self._component, self._by_component, bit_of, asked))


class Unions:
    """Lists of the asked classes nearest to several classes, beside those nearest to one."""

    def __init__(self, nearest: Nearest) -> None:
        self._nearest = nearest
        self.of_class = nearest.of_class
        self._lists: dict[tuple[int, ...], int] = {}

    def of(self, classes: Iterable[int]) -> int:
        """Return the number of the list for the classes."""
        numbers = {int(self.of_class[class_]) for class_ in classes} - {EMPTY}
        if len(numbers) < 2:
            return numbers.pop() if numbers else EMPTY
        starts, lists = self._nearest.list_from, self._nearest.lists
        members = tuple(sorted({bit for each in numbers for bit in lists[starts[each] : starts[each + 1]].tolist()}))
        return self._lists.setdefault(members, len(starts) - 1 + len(self._lists))

    def of_all(self, classes: Sequence[Sequence[int]]) -> Array:
        """Return the numbers of the lists for each sequence of classes."""
        return np.array([self.of(each) if each else EMPTY for each in classes], np.int64)

    def nearest(self) -> Nearest:
        """Return all lists."""
        starts, members = packed_lists(list(self._lists))
        list_from = np.concatenate([self._nearest.list_from, self._nearest.list_from[-1] + starts[1:]])
        return self._nearest._replace(list_from=list_from, lists=np.concatenate([self._nearest.lists, members]))


def packed_lists(lists: Sequence[Sequence[int]]) -> Lists:
    """Return where each list starts in the second array, which holds them all."""
    starts = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(each) for each in lists], out=starts[1:])
    return starts, np.fromiter(chain.from_iterable(lists), np.int64, int(starts[-1]))


@njit(cache=True)
def _components(parent_from: Array, parents: Array) -> Array:
    """Return the strongly connected component of each class (Tarjan): whatever is above has a lower number."""
    count = parent_from.shape[0] - 1
    component, low, came = np.full(count, -1, np.int64), np.zeros(count, np.int64), np.full(count, -1, np.int64)
    open_, path, following = np.empty(count, np.int64), np.empty(count, np.int64), parent_from[:-1].copy()
    opened, visited, components = 0, 0, 0
    for root in range(count):
        if came[root] >= 0:
            continue
        path[0], depth = root, 1
        while depth > 0:
            at = path[depth - 1]
            if came[at] < 0:
                came[at] = low[at] = visited
                visited += 1
                open_[opened] = at
                opened += 1
            if following[at] < parent_from[at + 1]:
                parent = parents[following[at]]
                following[at] += 1
                if came[parent] < 0:
                    path[depth] = parent
                    depth += 1
                elif component[parent] < 0:
                    low[at] = min(low[at], came[parent])
                continue
            depth -= 1
            if depth > 0:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[at])
            if low[at] == came[at]:
                while True:
                    opened -= 1
                    component[open_[opened]] = components
                    if open_[opened] == at:
                        break
                components += 1
    return component


@njit(cache=True)
def _appended(values: Array, size: int, value: int) -> Array:
    """Write down a value behind the others; return the array, which may have moved."""
    if size == values.shape[0]:
        larger = np.empty(2 * size, np.int64)
        larger[:size] = values
        values = larger
    values[size] = value
    return values


@njit(cache=True)
def _nearest(
    parent_from: Array, parents: Array, component: Array, by_component: Array, bit_of: Array, asked: int
) -> tuple[Array, Array, Array, Array]:
    """Go through the components from above, those that are equivalent at once; see `Nearest`."""
    classes = component.shape[0]
    of_class, above = np.zeros(bit_of.shape[0], np.int64), np.zeros(asked, np.int64)
    starts, ends, lists, size = np.zeros(16, np.int64), 2, np.empty(16, np.int64), 0
    # A component makes two lists at most.
    seen, met = np.full(asked, -1, np.int64), np.full(2 * classes + 2, -1, np.int64)
    ids = np.empty(2 * classes + 2, np.int64)
    first = 0
    while first < classes:
        last = first
        while last < classes and component[by_component[last]] == component[by_component[first]]:
            last += 1
        # The lists of what is directly above, each once, and the longest of them.
        count, longest = 0, EMPTY
        for member in range(first, last):
            class_ = by_component[member]
            for position in range(parent_from[class_], parent_from[class_ + 1]):
                list_ = of_class[parents[position]]
                if component[parents[position]] != component[class_] and list_ != EMPTY and met[list_] != first:
                    met[list_] = first
                    ids[count] = list_
                    count += 1
                    if starts[list_ + 1] - starts[list_] > starts[longest + 1] - starts[longest]:
                        longest = list_
        wider = longest
        if count > 1:
            begin = size
            for place in range(count):
                for position in range(starts[ids[place]], starts[ids[place] + 1]):
                    bit = lists[position]
                    if seen[bit] != first:
                        seen[bit] = first
                        lists = _appended(lists, size, bit)
                        size += 1
            if size - begin == starts[longest + 1] - starts[longest]:
                size = begin  # it has all of the others
            else:
                wider = ends - 1
                starts = _appended(starts, ends, size)
                ends += 1
        own = size
        for member in range(first, last):
            bit = bit_of[by_component[member]]
            if bit >= 0:
                above[bit] = wider
                lists = _appended(lists, size, bit)
                size += 1
        if size > own:
            wider = ends - 1
            starts = _appended(starts, ends, size)
            ends += 1
        for member in range(first, last):
            of_class[by_component[member]] = wider
        first = last
    for class_ in range(classes, bit_of.shape[0]):
        if bit_of[class_] >= 0:
            lists = _appended(lists, size, bit_of[class_])
            size += 1
            of_class[class_] = ends - 1
            starts = _appended(starts, ends, size)
            ends += 1
    return of_class, above, starts[:ends].copy(), lists[:size].copy()
