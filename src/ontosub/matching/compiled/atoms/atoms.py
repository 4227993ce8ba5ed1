"""Predicate indexes over strings and kinds of term: which tests hold of which vertex, found once per event for all.

An atom is a test of one term that some filter demands (`unary`). Equal atoms have one number, and whether number 17
holds of a vertex is then to an index what a constant is. Nothing here costs as much as there are atoms: needles are
found by an automaton, patterns by sets of RE2, whole texts, languages and datatypes by hashing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.alternatives import Alternatives
from ontosub.matching.compiled.atoms.bodies import Texts, read_bodies, recased
from ontosub.matching.compiled.atoms.keys import rows_of
from ontosub.matching.compiled.atoms.kinds import Kinds
from ontosub.matching.compiled.atoms.strings import StringTests
from ontosub.matching.compiled.atoms.unary import Atom, Case, Domain, Test, View, atoms_of
from ontosub.model.expression import Expression
from ontosub.model.terms import Variable

Array = NDArray[Any]

AnyOf = tuple[int, ...]
"""An atom that holds where one of others holds: their numbers, in order."""


class Atoms:
    """Numbers for atoms, in the order in which they first came, and the machines that find those that hold.

    Atoms are only ever added. Not to be used by two threads at once.
    """

    def __init__(self) -> None:
        self._numbers: dict[Atom | AnyOf, int] = {}
        self._strings: dict[View, StringTests] = {}
        self._kinds = Kinds()
        self._alternatives = Alternatives()

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, expression: Expression) -> tuple[Variable, int] | None:
        """Return the variable and the number of a filter's part that is an atom, adding it if it is new; else None."""
        read = atoms_of(expression)
        if read is None:
            return None
        variable, atoms = read
        numbers = sorted(self._number(atom) for atom in sorted(atoms))
        return variable, numbers[0] if len(numbers) == 1 else self._number(tuple(numbers))

    def held(self, texts: Texts) -> tuple[Array, Array]:
        """Return (from, atoms): atoms[from[v]:from[v + 1]] are, in order, the atoms that hold of vertex v.

        An atom holds when `ontosub.semantics.expressions.holds` says so of its expression and the vertex's term.
        """
        keys: list[Array] = []
        if self._numbers:
            bodies = read_bodies(texts)
            in_case = {Case.KEPT: bodies}
            for view, tests in self._strings.items():
                if view.case not in in_case:
                    in_case[view.case] = recased(bodies, view.case)
                keys.extend(tests.find(in_case[view.case]))
            if len(self._kinds):
                keys.append(self._kinds.find(bodies))
        found = np.concatenate(keys) if keys else np.empty(0, np.int64)
        if len(self._alternatives):
            found = self._alternatives.widen(found)
        starts, atoms = rows_of(found, len(texts.vertices))
        return starts, atoms

    @property
    def steps(self) -> int:
        """How many moves automata and tries made for the last event, and how many needles they met."""
        return sum(tests.steps for tests in self._strings.values())

    def export(self) -> list[list[Any]]:
        """Return the atoms in the order of their numbers, as JSON can hold them."""
        return [
            [atom.test, atom.text, *(atom.view or ()), *([atom.flags] if atom.flags else ())]
            if isinstance(atom, Atom)
            else list(atom)
            for atom in self._numbers
        ]

    @classmethod
    def load(cls, rows: Iterable[list[Any]]) -> Atoms:
        """Return atoms with the numbers that they had when they were exported."""
        atoms = cls()
        for row in rows:
            atoms._number(_atom_of(row))
        return atoms

    def needed(self, numbers: Array) -> Array:
        """Return the numbers, and those of the atoms that these are made of."""
        by_number = list(self._numbers)
        made_of = [member for number in numbers.tolist() for member in _members(by_number[number])]
        return np.union1d(numbers, np.array(made_of, np.int64))

    def chosen(self, numbers: Array) -> Atoms:
        """Return only the atoms with these numbers, numbered anew in this order; see `needed`."""
        by_number, new = list(self._numbers), {number: place for place, number in enumerate(numbers.tolist())}
        atoms = Atoms()
        for number in new:
            atom = by_number[number]
            atoms._number(atom if isinstance(atom, Atom) else tuple(new[member] for member in atom))
        return atoms

    def _number(self, atom: Atom | AnyOf) -> int:
        known = self._numbers.get(atom)
        if known is not None:
            return known
        number = self._numbers[atom] = len(self._numbers)
        if not isinstance(atom, Atom):
            self._alternatives.add(atom, number)
        elif atom.view is None:
            self._kinds.add(atom, number)
        else:
            if atom.view not in self._strings:
                self._strings[atom.view] = StringTests(atom.view.domain)
            self._strings[atom.view].add(atom, number)
        return number


def _members(atom: Atom | AnyOf) -> AnyOf:
    return () if isinstance(atom, Atom) else atom


def _atom_of(row: list[Any]) -> Atom | AnyOf:
    match row:
        case [str(test), str(text)]:
            return Atom(Test(test), text)
        case [str(test), str(text), str(domain), str(case), *flags]:
            return Atom(Test(test), text, _view_of(domain, case), *flags)
    return tuple(row)


@cache
def _view_of(domain: str, case: str) -> View:
    return View(Domain(domain), Case(case))
