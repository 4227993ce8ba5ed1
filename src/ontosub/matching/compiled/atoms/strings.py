"""All tests of strings that read one view: whatever of them is in use has its own machine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol

from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.automaton import Automaton
from ontosub.matching.compiled.atoms.bodies import DOMAINS, Bodies
from ontosub.matching.compiled.atoms.regexes import Regex, Regexes, regex_of
from ontosub.matching.compiled.atoms.spellings import Spellings
from ontosub.matching.compiled.atoms.tiers import Tiers
from ontosub.matching.compiled.atoms.trie import BACKWARD, FORWARD, Needle, Trie
from ontosub.matching.compiled.atoms.unary import Atom, Domain, Test

Array = NDArray[Any]


class Finder(Protocol):
    """A machine that finds which of its atoms hold."""

    def find(self, bodies: Bodies, domain: int) -> Array:
        """Return the keys of the atoms that hold of the bodies in the domain, which is given in bits of kinds."""


class StringTests:
    """The tests of one view."""

    def __init__(self, domain: Domain) -> None:
        self._domain = DOMAINS[domain]
        self._needles: dict[Test, Tiers[Needle, Automaton] | Tiers[Needle, Trie]] = {
            Test.CONTAINS: Tiers(Automaton),
            Test.STARTS: Tiers(partial(Trie, direction=FORWARD)),
            Test.ENDS: Tiers(partial(Trie, direction=BACKWARD)),
        }
        self._regexes: Tiers[Regex, Regexes] = Tiers(Regexes)
        self._spellings = Spellings()

    def add(self, atom: Atom, number: int) -> None:
        """Add an atom of this view that was not added before."""
        if atom.test is Test.EQUALS:
            self._spellings.add(atom.text, number)
        elif atom.test is Test.REGEX:
            self._regexes.add(regex_of(atom.text, atom.flags, number))
        else:
            self._needles[atom.test].add(Needle(atom.text.encode(), number))

    def find(self, bodies: Bodies) -> Iterator[Array]:
        """Yield the keys of the atoms that hold of the bodies, which are in the case of this view."""
        for machine in self._machines():
            yield machine.find(bodies, self._domain)

    @property
    def steps(self) -> int:
        """How many moves the automata and tries made for the last event, and how many needles they met."""
        return sum(machine.steps for tiers in self._needles.values() for machine in tiers.machines())

    def _machines(self) -> Iterator[Finder]:
        for tiers in self._needles.values():
            yield from tiers.machines()
        yield from self._regexes.machines()
        if len(self._spellings):
            yield self._spellings
