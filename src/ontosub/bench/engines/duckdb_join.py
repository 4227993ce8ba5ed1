"""DuckDB, an analytical database: subscriptions are rows, and all rows of one shape are matched by one join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
from pyoxigraph import Store

from ontosub.bench.engines.engine import Engine
from ontosub.bench.engines.oxigraph import confirmed, store_of
from ontosub.bench.engines.shapes import HOME_NUMBER, Instance, Numbers, Shape, instance_of
from ontosub.bench.query_text import existence_query
from ontosub.bench.workload import Workload
from ontosub.model import Event, Ontology, Subscription
from ontosub.model.terms import TYPE
from ontosub.semantics import Entailment

WORK_MAX = 20_000
"""What can be planned in some seconds: over all shapes, the square of the number of relations to join."""


JOINS_PER_STATEMENT = 50
"""A statement costs time of its own, so many joins share one."""


class Decoded(NamedTuple):
    """An event as a relation, and as a store for what SQL cannot say."""

    triples: pa.Table
    store: Store | None


class DuckDb(Engine):
    """One relation of triples, one relation of subscriptions for each shape, one join for each of these.

    Alternatives are joined each. With a residual, the core is joined, and the core's matches are asked of Oxigraph.
    """

    name = "duckdb"
    requires: ClassVar[str | None] = "duckdb"

    def __init__(self) -> None:
        self._entailment = Entailment(Ontology())
        self._numbers = Numbers()
        self._type = self._numbers.add(TYPE)
        self._ids: list[str] = []
        self._residuals: dict[str, str] = {}
        self._database: Any = None
        self._joins: list[str] = []

    def capacity(self, workload: Workload) -> int:
        """Return how many subscriptions there are before their shapes become too many."""
        numbers, known, left = Numbers(), set[Shape](), WORK_MAX
        for position, subscription in enumerate(workload.subscriptions):
            for pattern in subscription.patterns:
                shape = instance_of(pattern, numbers).shape
                left -= 0 if shape in known else (1 + len(shape.arcs) + len(shape.types)) ** 2
                known.add(shape)
            if left < 0:
                return position
        return workload.size

    def prepare(self, subscriptions: Sequence[Subscription], ontology: Ontology) -> None:
        import duckdb

        self._entailment = Entailment(ontology)
        self._ids = [subscription.id for subscription in subscriptions]
        self._residuals = {each.id: existence_query(each) for each in subscriptions if each.residual is not None}
        by_shape: dict[Shape, list[tuple[int, Instance]]] = {}
        for row, subscription in enumerate(subscriptions):
            for pattern in subscription.patterns:
                instance = instance_of(pattern, self._numbers)
                by_shape.setdefault(instance.shape, []).append((row, instance))
        self._database = duckdb.connect()
        self._database.execute("SET threads = 1")
        for number, (shape, instances) in enumerate(by_shape.items()):
            self._database.register("incoming", _relation(shape, instances))
            self._database.execute(f"CREATE TABLE shape{number} AS SELECT * FROM incoming")  # noqa: S608
        joins = [join_text(shape, number, self._type) for number, shape in enumerate(by_shape)]
        self._joins = [
            " UNION ALL ".join(joins[first : first + JOINS_PER_STATEMENT])
            for first in range(0, len(joins), JOINS_PER_STATEMENT)
        ]

    def decode(self, event: Event) -> Decoded:
        rows = self._numbers.rows(self._entailment.event_graph(event).triples, event.home)
        columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
        types = (pa.int32(), pa.int32(), pa.int32(), pa.float64())
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        store = store_of(event, self._entailment) if self._residuals else None
        return Decoded(pa.table(arrays, names=["s", "p", "o", "v"]), store)

    def match(self, decoded: Decoded) -> set[str]:
        self._database.register("incoming", decoded.triples)
        # A new table is cheaper than an emptied one, in which deleted rows would pile up.
        self._database.execute("CREATE OR REPLACE TABLE triple AS SELECT * FROM incoming")
        found = {self._ids[row] for joins in self._joins for (row,) in self._database.execute(joins).fetchall()}
        return confirmed(found, self._residuals, decoded.store)


def _relation(shape: Shape, instances: list[tuple[int, Instance]]) -> pa.Table:
    """Return the relation of a shape: the subscription's row, its constants, its limits."""
    columns: dict[str, Any] = {"id": pa.array([row for row, _ in instances], pa.int32())}
    for number in range(len(shape.constants)):
        columns[f"c{number}"] = pa.array([instance.constants[number] for _, instance in instances], pa.int32())
    for number in range(len(shape.limits)):
        columns[f"l{number}"] = pa.array([instance.limits[number] for _, instance in instances], pa.float64())
    return pa.table(columns)


def join_text(shape: Shape, number: int, type_: int) -> str:
    """Return the query for the rows of one shape that the triples match."""
    tables = [f"shape{number} q"]
    tables += [f"triple a{arc}" for arc in range(len(shape.arcs))]
    tables += [f"triple t{type_}" for type_ in range(len(shape.types))]
    conditions = " AND ".join(_conditions(shape, type_))
    return f"SELECT DISTINCT q.id FROM {', '.join(tables)} WHERE {conditions}"  # noqa: S608 - names of our own


def _conditions(shape: Shape, type_: int) -> Iterator[str]:
    known = {vertex: f"q.c{column}" for column, vertex in enumerate(shape.constants)}
    if shape.home is not None:
        known[shape.home] = str(HOME_NUMBER)
    values = {}
    for number, (subject, property_, object_) in enumerate(shape.arcs):
        values[object_] = f"a{number}.v"
        yield f"a{number}.p = {property_}"
        for vertex, column in ((subject, f"a{number}.s"), (object_, f"a{number}.o")):
            if known.setdefault(vertex, column) != column:
                yield f"{column} = {known[vertex]}"
    for number, (vertex, class_) in enumerate(shape.types):
        yield f"t{number}.p = {type_} AND t{number}.o = {class_}"
        if known.setdefault(vertex, f"t{number}.s") != f"t{number}.s":
            yield f"t{number}.s = {known[vertex]}"
    for number, limit in enumerate(shape.limits):
        yield f"{values[limit.vertex]} {limit.function} q.l{number}"
    if shape.injective:
        yield from (f"{first} <> {second}" for first, second in combinations(known.values(), 2))
