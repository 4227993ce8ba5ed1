"""The columns of a frame of events, checked before anything runs: ours by name and type, and the user's own."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import StructField, StructType

from ontosub.model.errors import UsageError
from ontosub.spark.schemas import EVENTS, MATCHES, OPTIONAL, REJECT, REJECTS


@dataclass(frozen=True, slots=True)
class Columns:
    """What a frame has."""

    schema: StructType

    @classmethod
    def of(cls, frame: DataFrame) -> Columns:
        """Return the columns of a frame."""
        if not isinstance(frame, DataFrame):
            raise UsageError(f"a stage takes a DataFrame of Spark, not {type(frame).__name__}: use df.transform(stage)")
        return cls(frame.schema)

    @property
    def has_rejects(self) -> bool:
        """Whether an earlier stage has marked rows as rejected."""
        return any(_is_reject(field) for field in self.schema)

    @property
    def extra(self) -> list[StructField]:
        """The user's own columns."""
        return [field for field in self.schema if field.name not in EVENTS.names and not _is_reject(field)]

    def check(self, *, keeps_rejects: bool) -> None:
        """Raise UsageError, with the name of the column, unless the frame has events and leaves room for results."""
        for wanted in EVENTS:
            self._check_event(wanted)
        taken = [*EVENTS.names, *MATCHES.names, REJECT.name, *(REJECTS.names if keeps_rejects else [])]
        seen = {name.lower() for name in taken}
        for field in self.extra:
            # As Spark compares names: whatever their case.
            if field.name.lower() in seen:
                raise UsageError(f"the column {field.name} is in the way of one that Ontosub reads or adds: rename it")
            seen.add(field.name.lower())
            _check_type(field)

    def _check_event(self, wanted: StructField) -> None:
        found = [field for field in self.schema if field.name == wanted.name]
        if not found and wanted.name not in OPTIONAL:
            has = ", ".join(self.schema.names) or "none"
            raise UsageError(f"the frame lacks the column {wanted.name}: it has {has}")
        if len(found) > 1:
            raise UsageError(f"the frame has more than one column {wanted.name}")
        if found and found[0].dataType != wanted.dataType:
            has, asked = found[0].dataType.simpleString(), wanted.dataType.simpleString()
            raise UsageError(f"the column {wanted.name} is of type {has}: cast it to {asked}")


def _is_reject(field: StructField) -> bool:
    return field.name == REJECT.name and field.dataType == REJECT.dataType


def _check_type(field: StructField) -> None:
    try:
        to_arrow_type(field.dataType, timezone="UTC")
    except PySparkTypeError:
        told = field.dataType.simpleString()
        raise UsageError(f"the column {field.name} is of type {told}, which Arrow lacks: drop or cast it") from None
