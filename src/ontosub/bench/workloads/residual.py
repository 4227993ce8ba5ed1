"""Queries that say more than a basic graph pattern: OPTIONAL, negation, computed values, aggregates, paths, order.

Words, events and pools are those of `mixed`. A subscription is a core of one to three vertices, cut out of an event
drawn for it alone and made more general, and one addition to it. `SHARES` says how many subscriptions have which kind
of addition. Cores are wider than those of `mixed`: one or two in a hundred subscriptions pass theirs on an event, and
the addition decides or completes these.

Every answer is determined by SPARQL alone: numbers are integers, averages are compared and never shown, and what ORDER
BY with LIMIT cuts off differs from what it keeps only in what is not projected.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ontosub.bench.query_text import group_text
from ontosub.bench.workload import Published, Workload
from ontosub.bench.workloads.mixed import (
    MEASURES,
    NUMBERS,
    SUBSCRIPTIONS_PER_NAME,
    WORDS,
    Telling,
    Word,
    measure,
    ontology,
    word_property,
)
from ontosub.model import Subscription

SHARES: Mapping[str, int] = MappingProxyType(
    {"optional": 35, "negation": 15, "computed": 15, "aggregate": 15, "values": 10, "path": 5, "order": 5}
)
"""How many in a hundred subscriptions have which kind of addition."""

KINDS = tuple(kind for kind, share in SHARES.items() for _ in range(share))


def generate(size: int, events: int, seed: int) -> Workload:
    """Return `size` queries with an addition to their core, and events of a dozen vertices."""
    telling = Telling(random.Random(f"residual {seed}"), max(20, size // SUBSCRIPTIONS_PER_NAME))  # noqa: S311
    asking = Asking(telling)
    # 37 has no divisor in common with 100: any hundred subscriptions in a row have all kinds in their shares.
    subscriptions = [
        Subscription.parse(asking.query(KINDS[number * 37 % 100]), "sparql", id=f"s{number}") for number in range(size)
    ]
    published = [Published.of(telling.event(f"e{number}")) for number in range(events)]
    return Workload("residual", seed, ontology(), subscriptions, published)


class Asking:
    """Draws queries. Each starts at `?v0`; a core may compare `?value`, an addition binds other names."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._forms: dict[str, tuple[Callable[[str], str], ...]] = {
            "optional": (
                lambda core: f"SELECT * {{ {core} OPTIONAL {{ ?v0 {self._property()} ?more }} }}",
                lambda core: (
                    f"SELECT * {{ {core} OPTIONAL {{ ?v0 {self._measure()} ?number }} "
                    f"OPTIONAL {{ ?v0 {self._word()} ?text }} }}"
                ),
                lambda core: (
                    f"SELECT * {{ {core} OPTIONAL {{ ?v0 {self._property()} ?more . ?more a {self._class()} "
                    f"OPTIONAL {{ ?more {self._measure()} ?number }} }} }}"
                ),
                lambda core: (
                    f"SELECT * {{ {core} OPTIONAL {{ ?v0 {self._measure()} ?number "
                    f"FILTER(?number > {self._number()}) }} }}"
                ),
                lambda core: (
                    f"SELECT ?v0 {{ {core} OPTIONAL {{ ?v0 {self._property()} ?more }} FILTER(!BOUND(?more)) }}"
                ),
            ),
            "negation": (
                lambda core: f"SELECT * {{ {core} FILTER NOT EXISTS {{ ?v0 {self._property()} ?more }} }}",
                lambda core: (
                    f"SELECT * {{ {core} FILTER EXISTS {{ ?v0 {self._property()} ?more . ?more a {self._class()} }} }}"
                ),
                lambda core: (
                    f"SELECT * {{ {core} FILTER NOT EXISTS {{ ?v0 {self._measure()} ?number "
                    f"FILTER(?number > {self._number()}) }} }}"
                ),
                lambda core: f"SELECT * {{ {core} MINUS {{ ?v0 {self._property()} ?more }} }}",
                lambda core: (
                    f"SELECT * {{ {core} MINUS {{ ?v0 {self._measure()} ?number "
                    f"FILTER(?number < {self._number()}) }} }}"
                ),
            ),
            "computed": (
                lambda core: (
                    f"SELECT * {{ {core} ?v0 {self._measure()} ?number BIND(?number * 2 + 1 AS ?computed) "
                    f"FILTER(?computed > {self._number()}) }}"
                ),
                lambda core: (
                    f"SELECT * {{ {core} ?v0 {self._measure()} ?number "
                    f'BIND(IF(?number > {self._number()}, "high", "low") AS ?level) }}'
                ),
                lambda core: (
                    f'SELECT * {{ {core} ?v0 {self._word()} ?text BIND(CONCAT(UCASE(?text), "!") AS ?shout) }}'
                ),
                lambda core: (
                    f"SELECT ?v0 (STRLEN(?text) AS ?length) {{ {core} ?v0 {self._word()} ?text "
                    f'FILTER(STRENDS(?text, "{self._telling.below(10)}")) }}'
                ),
                lambda core: (
                    f"SELECT * {{ {core} ?v0 {self._measure()} ?number ; {self._property()} ?more . "
                    f"?more {self._measure()} ?other BIND(?number - ?other AS ?apart) FILTER(?apart > 0) }}"
                ),
            ),
            "aggregate": (
                lambda core: (
                    f"SELECT ?v0 (COUNT(?more) AS ?count) {{ {core} ?v0 {self._property()} ?more }} "
                    "GROUP BY ?v0 HAVING(COUNT(?more) > 1)"
                ),
                lambda core: (
                    f"SELECT ?v0 (SUM(?number) AS ?sum) {{ {core} ?v0 {self._property()} ?more . "
                    f"?more {self._measure()} ?number }} GROUP BY ?v0"
                ),
                lambda core: (
                    f"SELECT ?v0 {{ {core} ?v0 {self._property()} ?more . ?more {self._measure()} ?number }} "
                    f"GROUP BY ?v0 HAVING(AVG(?number) > {self._number()})"
                ),
                lambda core: (
                    f"SELECT (MAX(?number) AS ?most) (COUNT(DISTINCT ?v0) AS ?count) {{ {core} "
                    f"?v0 {self._measure()} ?number }} GROUP BY ?v0"
                ),
            ),
            "values": (
                lambda core: (
                    f"SELECT * {{ VALUES ?class {{ {self._class()} {self._class()} {self._class()} }} {core} "
                    f"?v0 a ?class }}"
                ),
                lambda core: (
                    f"SELECT * {{ {core} ?v0 {self._measure()} ?number VALUES (?limit ?level) {{ "
                    f'({self._number()} "low") ({self._number()} "high") }} FILTER(?number > ?limit) }}'
                ),
                lambda core: (
                    f"SELECT * {{ {core} ?v0 ?property ?more }} "
                    f"VALUES ?property {{ {self._property()} {self._property()} }}"
                ),
            ),
            "path": (
                lambda core: f"SELECT * {{ {core} ?v0 {self._property()}+ ?reached }}",
                lambda core: (
                    f"SELECT * {{ {core} ?v0 ({self._property()}|{self._property()})* ?reached . "
                    f"?reached a {self._class()} }}"
                ),
            ),
            "order": (
                lambda core: (
                    f"SELECT ?number {{ {core} ?v0 {self._measure()} ?number }} ORDER BY DESC(?number) LIMIT 3"
                ),
                lambda core: (
                    f"SELECT DISTINCT ?number {{ {core} ?v0 {self._property()} ?more . "
                    f"?more {self._measure()} ?number }} ORDER BY ?number LIMIT 2"
                ),
            ),
        }

    def query(self, kind: str) -> str:
        """Draw a query with an addition of that kind."""
        forms = self._forms[kind]
        core = group_text(self._telling.pattern(self._telling.story(self._vertices(kind))))
        return forms[self._telling.below(len(forms))](core)

    def _vertices(self, kind: str) -> int:
        """Draw how many vertices a core has. What an addition asks for besides makes it as rare as a longer core."""
        drawn = self._telling.below(12)
        if kind in ("optional", "negation"):
            return 1 if drawn < 1 else 2 if drawn < 5 else 3
        return 1 if drawn < 3 else 2 if drawn < 8 else 3

    def _property(self) -> str:
        return str(self._telling.property_word().wider(1 + self._telling.below(2)).iri)

    def _class(self) -> str:
        return str(Word("C", (0, *(self._telling.below(3) for _ in range(1 + self._telling.below(2))))).iri)

    def _measure(self) -> str:
        return str(measure(self._telling.below(MEASURES)))

    def _word(self) -> str:
        return str(word_property(self._telling.below(WORDS)))

    def _number(self) -> int:
        return self._telling.below(NUMBERS)
