"""The stages on batch frames: columns, rejects, refusals."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ontosub import Event, Matcher
from ontosub.model.errors import FormatError, UsageError
from ontosub.model.terms import TYPE
from ontosub.spark import EVENTS, MATCHES, REJECT, REJECTS, accepted, decode, match, outcomes, rejected
from ontosub.spark.schemas import ARROW_EVENTS

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")]

AUCTION = "http://example.org/auction#"


def ids(frame) -> list[tuple]:
    return sorted((row.event_id, row.subscription_id) for row in frame.collect())


def test_schemas_are_those_of_the_matcher():
    assert EVENTS.names == ARROW_EVENTS.names
    assert MATCHES["bindings"].dataType.simpleString() == "array<map<string,string>>"
    assert [(field.name, field.dataType) for field in REJECT.dataType] == [
        (field.name, field.dataType) for field in REJECTS if field.name != "event_id"
    ]


class TestMatch:
    def test_matches_with_the_user_s_columns(self, auction, cheap, computers, offers):
        frame = offers.transform(match(auction, [cheap, computers]))
        assert frame.columns == [*MATCHES.names, "kafka.offset", "tags"]
        assert frame.schema["bindings"].dataType == MATCHES["bindings"].dataType
        rows = sorted(map(tuple, frame.collect()))
        assert rows == [
            ("e1", "cheap", [{"x": f"<{AUCTION}a>"}], None, None, 1, ["x"]),
            ("e1", "computers", [{"x": f"<{AUCTION}a>"}], None, None, 1, ["x"]),
            ("e2", "computers", [{"x": f"<{AUCTION}b>"}], None, None, 2, None),
        ]

    def test_without_bindings(self, auction, computers, offers):
        frame = offers.transform(match(auction, [computers], bindings=False))
        assert frame.columns == ["event_id", "subscription_id", "time_start", "time_end", "kafka.offset", "tags"]
        assert ids(frame) == [("e1", "computers"), ("e2", "computers")]

    def test_times_come_back_in_any_zone(self, spark, auction, computers, offers):
        timed = offers.withColumn("time_end", F.expr("timestamp'2024-05-01T11:00:00Z'")).withColumn(
            "time_start", F.expr("timestamp'2024-05-01T10:00:00Z'")
        )
        expected = [datetime(2024, 5, 1, hour, tzinfo=UTC).timestamp() for hour in (10, 11)]
        zone = spark.conf.get("spark.sql.session.timeZone")
        try:
            spark.conf.set("spark.sql.session.timeZone", "America/New_York")
            frame = timed.transform(match(auction, [computers]))
            for row in frame.select(F.unix_timestamp("time_start"), F.unix_timestamp("time_end")).collect():
                assert list(row) == expected
        finally:
            spark.conf.set("spark.sql.session.timeZone", zone)

    def test_rows_are_told_apart_whatever_their_ids(self, spark, auction, cheap, computers):
        """Equal ids, empty ones and none at all: a match still has the columns of its own row."""
        ids = ["same", "same", None, "", None]
        payloads = [f"<urn:{n}> <{TYPE.value}> <{AUCTION}Computer> .".encode() for n in range(5)]
        rows = [(ids[n], "application/n-triples", bytearray(payloads[n]), n) for n in range(5)]
        frame = spark.createDataFrame(rows, "event_id string, content_type string, payload binary, n int")
        found = frame.transform(match(auction, [computers])).select("n", "bindings", "event_id")
        named = [ids[n] or Event.read(payloads[n], "nt").id for n in range(5)]
        assert sorted(map(tuple, found.collect())) == [(n, [{"x": f"<urn:{n}>"}], named[n]) for n in range(5)]

    def test_a_saved_index_brings_its_ontology(self, auction, computers, offers, tmp_path):
        matcher = Matcher(auction)
        matcher.subscribe(computers)
        matcher.save(tmp_path / "index")
        assert ids(offers.transform(match(None, tmp_path / "index"))) == [("e1", "computers"), ("e2", "computers")]

    def test_an_empty_frame(self, auction, computers, offers):
        assert offers.limit(0).transform(match(auction, [computers])).collect() == []

    def test_more_rows_than_are_worked_on_at_once(self, spark, auction, computers):
        payload = f"<urn:x> <{TYPE.value}> <{AUCTION}Computer> ."
        many = spark.range(0, 2_500, numPartitions=1).select(
            F.concat(F.lit("e"), "id").alias("event_id"),
            F.lit("application/n-triples").alias("content_type"),
            F.lit(payload).cast("binary").alias("payload"),
            "id",
        )
        frame = many.transform(match(auction, [computers])).where("event_id = concat('e', id)")
        assert frame.select("event_id").distinct().count() == 2_500


class TestRejects:
    def test_outcomes_are_matches_and_dead_letters(self, auction, computers, offers):
        both = offers.transform(outcomes(auction, [computers]))
        assert ids(both.transform(accepted)) == [("e1", "computers"), ("e2", "computers")]
        assert both.transform(accepted).columns == [*MATCHES.names, "kafka.offset", "tags"]
        letters = both.transform(rejected)
        assert letters.columns == [*REJECTS.names, "kafka.offset", "tags"]
        [letter] = letters.collect()
        assert letter.event_id == "e3"
        assert letter.content_type == "text/turtle"
        assert bytes(letter.payload) == b"this is no Turtle"
        assert (letter.line, letter.column) == (1, 1)
        assert letter.reason
        assert (letter["kafka.offset"], letter.tags) == (3, [])

    def test_they_are_what_the_matcher_rejects(self, spark, auction, computers):
        table = pa.table(
            {
                "event_id": ["late", None, "unknown", "odd"],
                "content_type": ["text/turtle", None, "no/format", "application/n-triples"],
                "payload": [b"", b"<", b"", b"\xff"],
                "time_start": [datetime(2024, 5, 2, tzinfo=UTC), None, None, None],
                "time_end": [datetime(2024, 5, 1, tzinfo=UTC), None, None, None],
            },
            schema=ARROW_EVENTS,
        )
        matcher = Matcher(auction)
        matcher.subscribe(computers)
        expected = matcher.match_batch(table).rejects.to_pylist()
        letters = spark.createDataFrame(table).transform(outcomes(auction, [computers])).transform(rejected).collect()
        assert len(letters) == 4
        got = [{**row.asDict(), "payload": bytes(row.payload)} for row in letters]
        assert sorted(got, key=str) == sorted(expected, key=str)

    def test_what_decode_rejects_stays_rejected(self, auction, computers, offers):
        decoded = offers.transform(decode())
        both = decoded.transform(outcomes(auction, [computers]))
        assert ids(decoded.transform(match(auction, [computers]))) == ids(both.transform(accepted))
        first, second = (frame.transform(rejected).collect() for frame in (decoded, both))
        assert first == second
        assert [row.event_id for row in first] == ["e3"]

    def test_only_frames_with_rejects_can_be_taken_apart(self, offers):
        for part in (accepted, rejected):
            with pytest.raises(UsageError, match="lacks the column reject"):
                offers.transform(part)


class TestDecode:
    def decoded(self, spark, event_id, content_type, payload, **options):
        frame = spark.createDataFrame(
            [(event_id, content_type, bytearray(payload), 7)],
            "event_id string, content_type string, payload binary, n int",
        )
        return frame.transform(decode(**options))

    def test_one_row_per_event(self, spark):
        payload = b'{"@id": "urn:a", "p": 1}\n{"@id": "urn:b", "p": 2}\n'
        rows = self.decoded(spark, "k1", "application/x-ndjson", payload, vocab="urn:").collect()
        assert [(row.event_id, row.content_type, row.n, row.reject) for row in rows] == [
            ("k1", "application/n-triples", 7, None),
            ("k1#2", "application/n-triples", 7, None),
        ]
        integer = b"<http://www.w3.org/2001/XMLSchema#integer>"
        assert [bytes(row.payload) for row in rows] == [
            b'<urn:a> <urn:p> "1"^^' + integer + b" .\n",
            b'<urn:b> <urn:p> "2"^^' + integer + b" .\n",
        ]

    def test_own_names_and_the_row_s(self, spark):
        payload = b"<urn:s> <urn:p> <urn:o> <urn:g1> .\n<urn:s> <urn:p> <urn:o> <urn:g2> .\n"
        one = payload.splitlines()[0]
        several = self.decoded(spark, "k", "application/n-quads", payload).collect()
        assert [row.event_id for row in several] == ["urn:g1", "urn:g2"]
        assert [row.event_id for row in self.decoded(spark, "k", "application/n-quads", one).collect()] == ["k"]
        assert [row.event_id for row in self.decoded(spark, None, "application/n-quads", one).collect()] == ["urn:g1"]

    def test_a_mapping_from_a_file_that_workers_need_not_have(self, spark, tmp_path):
        mapping = tmp_path / "mapping.json"
        mapping.write_text(
            '{"subject": "urn:{id}", "id": "{id}", "time": "when",'
            ' "properties": [{"property": "urn:price", "from": "price"}]}'
        )
        payload = b"id,price,when\na,1,2024-05-01T10:00:00Z\nb,2,2024-05-01T11:00:00Z\n"
        frame = self.decoded(spark, "k", "text/csv", payload, mapping=mapping)
        mapping.unlink()
        rows = frame.select("event_id", F.unix_timestamp("time_start").alias("start")).collect()
        assert [row.event_id for row in rows] == ["a", "b"]
        assert [row.start for row in rows] == [datetime(2024, 5, 1, hour, tzinfo=UTC).timestamp() for hour in (10, 11)]

    def test_records_that_cannot_be_read_do_not_stop_the_others(self, spark):
        payload = b'{"p": 1}\n{oops\n{"p": 2}\n[broken\n'
        frame = self.decoded(spark, "k", "application/x-ndjson", payload, vocab="urn:")
        assert [row.event_id for row in frame.transform(accepted).collect()] == ["k", "k#2"]
        letters = frame.transform(rejected).collect()
        assert [(row.event_id, row.line, row.n) for row in letters] == [("k", 2, 7), ("k", 4, 7)]
        assert [row.payload and bytes(row.payload) for row in letters] == [payload, None]

    def test_bad_options_are_refused_at_once(self):
        with pytest.raises(UsageError, match="mapping says nothing"):
            decode(mapping={})
        with pytest.raises(FormatError):
            decode(context="{")


class TestRefusals:
    """A frame that does not fit is refused before any job starts."""

    @pytest.fixture
    def stages(self, auction, computers):
        return [match(auction, [computers]), outcomes(auction, [computers]), decode()]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda f: f.drop("payload"), "lacks the column payload: it has event_id, content_type"),
            (lambda f: f.withColumnRenamed("event_id", "Event_Id"), "lacks the column event_id"),
            (lambda f: f.withColumn("payload", F.lit("text")), "payload is of type string: cast it to binary"),
            (lambda f: f.withColumn("event_id", F.lit(1)), "event_id is of type int: cast it to string"),
            (lambda f: f.withColumn("time_start", F.lit("now")), "time_start is of type string: cast it to timestamp"),
            (lambda f: f.withColumn("subscription_id", F.lit(1)), "the column subscription_id is in the way"),
            (lambda f: f.withColumn("Bindings", F.lit(1)), "the column Bindings is in the way"),
            (lambda f: f.withColumn("reject", F.lit(1)), "the column reject is in the way"),
            (lambda f: f.select("*", F.lit(1).alias("payload")), "more than one column payload"),
            (lambda f: f.select("*", F.lit(1).alias("TAGS")), "the column TAGS is in the way"),
            (lambda f: f.withColumn("i", F.expr("make_interval(1)")), "the column i is of type interval, which Arrow"),
        ],
    )
    def test_columns(self, stages, offers, change, message):
        for stage in stages:
            with pytest.raises(UsageError, match=message):
                stage(change(offers))

    def test_names_of_a_dead_letter_are_taken_where_there_are_some(self, stages, offers):
        lines = offers.withColumn("line", F.lit(1))
        only_matches, *with_rejects = stages
        assert only_matches(lines).columns[-1] == "line"
        for stage in with_rejects:
            with pytest.raises(UsageError, match="the column line is in the way"):
                stage(lines)

    def test_what_is_no_frame(self, stages):
        for stage in stages:
            with pytest.raises(UsageError, match=r"takes a DataFrame of Spark, not Table: use df\.transform"):
                stage(pa.table({}))


def test_events_may_come_with_the_declared_schema(spark, auction, computers):
    frame = spark.createDataFrame([("e", "text/turtle", bytearray(b""), None, None)], EVENTS)
    assert frame.transform(match(auction, [computers])).collect() == []
