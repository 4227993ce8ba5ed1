"""Sharding: what subscriptions are sharded by, where events go, and that a task has one shard."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from ontosub import Matcher, Ontology, Subscription
from ontosub.bench.workloads import mixed
from ontosub.event_log import EventLog
from ontosub.model.errors import IndexDirectoryError, UsageError
from ontosub.model.terms import NamedNode
from ontosub.pipeline.batches import Done
from ontosub.pipeline.config import Config
from ontosub.pipeline.running import Running
from ontosub.pipeline.snapshots import Snapshots
from ontosub.pipeline.standing import ShardedCopy
from ontosub.pipeline.watched_files import WatchedFiles
from ontosub.semantics import Entailment
from ontosub.spark import EVENTS, accepted, decode, match, outcomes, rejected, worker_index
from ontosub.spark.answering import matched
from ontosub.spark.schemas import ARROW_EVENTS
from ontosub.spark.sharding import ShardedIndex, routing, shard_index
from ontosub.spark.sharding.placing import chosen_classes, placed_anew, placed_beside, weight_of
from ontosub.spark.sharding.requiring import Requirements
from ontosub.spark.sharding.router import router_of
from ontosub.spark.sharding.routing import NUMBERS, SHARD, payloads_in, routed
from ontosub.spark.sharding.shards import Shards
from ontosub.spark.sharding.table import read_table

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")]

PREFIXES = "PREFIX : <urn:> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX owl: <http://www.w3.org/2002/07/owl#>\n"
ONTOLOGY = Ontology.read(
    PREFIXES
    + """
    :Notebook rdfs:subClassOf :Computer . :Tower rdfs:subClassOf :Computer . :Computer rdfs:subClassOf :Item .
    :Car rdfs:subClassOf :Item . :Everything rdfs:subClassOf :Anything . owl:Thing rdfs:subClassOf :Everything .
    :wheels rdfs:domain :Car . :tyres rdfs:subPropertyOf :wheels . :owner rdfs:range :Person .
    :anna a :Dealer .
    """,
    format="ttl",
)
KINDS = ("Notebook", "Tower", "Car", "Person", "Dealer")


def query(text: str, id: str = "s") -> Subscription:
    return Subscription.parse(PREFIXES + text, id=id)


def required(text: str) -> set[str]:
    return {class_.value.removeprefix("urn:") for class_ in Requirements(Entailment(ONTOLOGY)).of(query(text))}


class TestRequirements:
    def test_classes_with_all_above(self):
        assert required("SELECT * { ?x a :Notebook ; :p ?y . ?y a :Person }") == {
            "Notebook", "Computer", "Item", "Person"
        }  # fmt: skip

    def test_of_alternatives_what_they_share(self):
        assert required("SELECT * { { ?x a :Notebook } UNION { ?x a :Tower } }") == {"Computer", "Item"}
        assert required("SELECT * { { ?x a :Notebook } UNION { ?x :p ?y } }") == set()

    def test_an_optional_part_requires_nothing(self):
        assert required("SELECT * { ?x a :Car OPTIONAL { ?x :p ?y . ?y a :Person } }") == {"Car", "Item"}
        assert required("SELECT * { ?x :p ?z OPTIONAL { ?x a :Car } }") == set()

    def test_what_vertices_are_without_a_triple_does_not_restrict(self):
        assert required("SELECT * { ?x a owl:Thing ; :p ?y . ?z a :Everything , :Anything }") == set()

    def test_the_domain_of_a_property(self):
        assert required("SELECT * { ?x :tyres 4 }") == {"Car", "Item"}
        assert required("SELECT * { ?x :owner ?y ; ?p 4 }") == set()


class TestPlacing:
    def test_the_class_that_fewest_ask_for(self):
        texts = ["?x a :Car ; :p ?y . ?y a :Person", "?x a :Car", "?x a :Car", "?x a :Computer", "?x :p ?y"]
        subscriptions = [query(f"SELECT * {{ {text} }}", str(number)) for number, text in enumerate(texts)]
        chosen = chosen_classes(Requirements(Entailment(ONTOLOGY)), subscriptions)
        assert chosen == [NamedNode(f"urn:{name}") for name in ("Person", "Car", "Car", "Computer")] + [None]

    def test_shares_are_equal_and_what_belongs_together_stays_together(self):
        workload = mixed.generate(2_000, 0, 1)
        requirements = Requirements(Entailment(workload.ontology))
        classes = chosen_classes(requirements, workload.subscriptions)
        places = placed_anew(workload.ontology, workload.subscriptions, classes, 4)
        loads = Counter()
        for subscription, place in zip(workload.subscriptions, places, strict=True):
            loads[place.shard] += weight_of(subscription)
        assert max(loads.values()) - min(loads.values()) <= 2 * max(map(weight_of, workload.subscriptions))
        shards_of = {class_: {place.shard for place in places if place.class_ == class_} for class_ in set(classes)}
        assert sum(len(shards) > 1 for shards in shards_of.values()) <= 3

    def test_what_has_no_class_is_in_as_few_shards_as_can_be(self):
        subscriptions = [query(f"SELECT * {{ ?x a :{KINDS[n % 5]} }}", f"c{n}") for n in range(60)]
        subscriptions += [query("SELECT * { ?x :p ?y . ?y :q ?z }", f"g{n}") for n in range(5)]
        classes = chosen_classes(Requirements(Entailment(ONTOLOGY)), subscriptions)
        places = placed_anew(ONTOLOGY, subscriptions, classes, 3)
        assert {place.shard for place in places if place.class_ is None} == {2}

    def test_later_ones_go_where_their_class_is_unless_that_is_full(self):
        car = NamedNode("urn:Car")
        one = [query("SELECT * { ?x a :Car }")]
        assert placed_beside(one, [car], [10, 11, 10], {car: frozenset({1})})[0].shard == 1
        assert placed_beside(one, [car], [10, 90, 11], {car: frozenset({1})})[0].shard == 0
        assert placed_beside(one, [None], [10, 11, 9], {car: frozenset({1})})[0].shard == 2


@pytest.fixture
def shards(tmp_path: Path) -> ShardedIndex:
    """Return five subscriptions to classes in five shards, and one to everything with a price."""
    subscriptions = [query(f"SELECT * {{ ?x a :{kind} ; :p ?y }}", kind) for kind in KINDS]
    return shard_index(ONTOLOGY, subscriptions, tmp_path / "shards", shards=5)


class TestDirectory:
    def test_what_it_says(self, shards):
        table = read_table(Path(shards.directory))
        assert sorted(table.classes.values()) == [(0,), (1,), (2,), (3,), (4,)]
        assert set(table.classes) == {f"urn:{kind}" for kind in KINDS}
        assert table.general == ()
        assert sorted(shards.subscription_ids()) == sorted(KINDS)
        assert ShardedIndex.open(shards.directory, ONTOLOGY) == shards

    def test_a_matcher_or_an_index_can_be_sharded(self, tmp_path, shards):
        matcher = Matcher(ONTOLOGY, "compiled")
        for kind in KINDS:
            matcher.subscribe(query(f"SELECT * {{ ?x a :{kind} ; :p ?y }}", kind))
        matcher.save(tmp_path / "index")
        for number, given in enumerate((matcher, tmp_path / "index")):
            again = shard_index(None, given, tmp_path / str(number), shards=5)
            assert read_table(Path(again.directory)) == read_table(Path(shards.directory))

    def test_refusals(self, tmp_path, shards):
        with pytest.raises(IndexDirectoryError, match="the directory holds a sharded index already"):
            shard_index(ONTOLOGY, [], shards.directory, shards=2)
        with pytest.raises(IndexDirectoryError, match="the directory holds 'shards'"):
            shard_index(ONTOLOGY, [], tmp_path, shards=2)
        with pytest.raises(UsageError, match="shards: 0 is not a number"):
            shard_index(ONTOLOGY, [], tmp_path / "none", shards=0)
        with pytest.raises(IndexDirectoryError, match="another ontology"):
            match(Ontology(), shards)
        book = Shards.open(Path(shards.directory), ONTOLOGY)
        with pytest.raises(UsageError, match="the id 'Car' is taken"):
            book.subscribe(query("ASK { ?x a :Item }", "Car"))

    @pytest.mark.parametrize(
        ("altered", "fault"),
        [
            (lambda data: data.replace(b"urn:Car", b"urn:Cat"), "altered"),
            (lambda data: data.replace(b"shards 1", b"shards 2"), "of format 2, not 1"),
            (lambda data: data[10:], "no routing table of ours"),
        ],
    )
    def test_a_table_that_is_not_as_it_was(self, shards, altered, fault):
        path = Path(shards.directory, "shards")
        path.write_bytes(altered(path.read_bytes()))
        with pytest.raises(IndexDirectoryError, match=fault):
            ShardedIndex.open(shards.directory)

    def test_half_a_save_is_noticed(self, shards):
        matcher = Matcher.open(Path(shards.directory, "3"))
        matcher.subscribe(query("ASK { ?x a :Item }", "late"))
        matcher.save(Path(shards.directory, "3"))
        with pytest.raises(IndexDirectoryError, match="changed"):
            ShardedIndex.open(shards.directory)
        with pytest.raises(IndexDirectoryError, match="changed since the query began"):
            shards.opened(3)
        assert shards.opened(2) is not None

    def test_only_shards_that_change_are_saved(self, shards):
        book = Shards.open(Path(shards.directory), ONTOLOGY)
        book.unsubscribe("Car")
        book.save(shards.directory)
        with pytest.raises(IndexDirectoryError, match="changed since the query began"):
            router_of(shards.directory, shards.generations)
        assert Counter(shards.at(Path(shards.directory)).generations) == {1: 4, 2: 1}
        assert sorted(ShardedIndex.open(shards.directory).subscription_ids()) == sorted({*KINDS} - {"Car"})


def payload(text: str, content_type: str = "text/turtle", id: str | None = "e") -> dict[str, object]:
    text = text if "json" in content_type else PREFIXES + text if content_type != "application/n-triples" else text
    return {"event_id": id, "content_type": content_type, "payload": text.encode()}


def ways(index: ShardedIndex, rows: list[dict[str, object]], options=None):
    return routed(
        router_of(index.directory, index.generations), pa.Table.from_pylist(rows, schema=ARROW_EVENTS), options
    )


def kinds_of(index: ShardedIndex, text: str) -> set[str]:
    """Return the classes of the shards that an event goes to."""
    classes = {shards[0]: class_ for class_, shards in read_table(Path(index.directory)).classes.items()}
    sent = ways(index, [payload(text)]).results[SHARD].drop_null().to_pylist()
    return {classes[shard].removeprefix("urn:") for shard in sent}


class TestRouting:
    def test_an_event_goes_to_the_shards_of_its_classes(self, shards):
        assert kinds_of(shards, ":a a :Notebook .") == {"Notebook"}
        assert kinds_of(shards, ":a a :Notebook ; :p :b . :b a :Person .") == {"Notebook", "Person"}
        assert kinds_of(shards, ":a a :Computer .") == set()
        assert kinds_of(shards, ":a :p 3 .") == set()

    def test_what_follows_counts(self, shards):
        assert kinds_of(shards, ":a :tyres 4 .") == {"Car"}
        assert kinds_of(shards, ":a :owner :b .") == {"Person"}

    def test_what_the_background_says_counts(self, shards):
        assert kinds_of(shards, ":a :seller :anna .") == {"Dealer"}

    def test_payloads_in_ntriples_go_on_as_they_are_and_others_are_written(self, shards):
        plain = payload(
            "<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:Car> .\n", "application/n-triples"
        )
        made = ways(shards, [plain, payload(":a a :Car .", id=None)])
        first, second, count = made.results.to_pylist()
        assert first["payload"] == second["payload"] == plain["payload"]
        assert second["content_type"] == "application/n-triples"
        assert second["event_id"].startswith("sha256:")
        assert (count["payload"], payloads_in(made.results)) == (None, 2)
        assert made.sources.to_pylist() == [0, 1, 0]

    def test_an_event_that_ntriples_cannot_say_goes_on_with_its_payload(self, shards):
        graphs = ":g { :a a :Car ; :p 1 } :h { :b a :Person , :Car ; :p 2 } :i { :c a :Person ; :p 3 }"
        text = graphs + " :g :said :a . :h :said :b ."
        made = ways(shards, [payload(text, "application/trig")], {})
        table = read_table(Path(shards.directory))
        sent = {row[SHARD]: row for row in made.results.to_pylist() if row[NUMBERS] is not None}
        numbers = {class_: sent[table.classes[f"urn:{class_}"][0]][NUMBERS] for class_ in ("Car", "Person")}
        assert numbers == {"Car": [0, 1], "Person": [1]}
        assert {row["payload"] for row in sent.values()} == {(PREFIXES + text).encode()}
        found = shards.matching({}, bindings=True)(made.results).results.to_pylist()
        assert {(row["event_id"], row["subscription_id"]) for row in found} == {
            ("urn:g", "Car"), ("urn:h", "Car"), ("urn:h", "Person"), ("urn:i", "Person")
        }  # fmt: skip

    @pytest.mark.parametrize("written_max", [routing.WRITTEN_MAX, 0], ids=["written", "as it came"])
    def test_what_cannot_be_read_is_rejected_once(self, shards, monkeypatch, written_max):
        monkeypatch.setattr(routing, "WRITTEN_MAX", written_max)
        lines = '{"@id": "urn:a", "@type": ["urn:Car", "urn:Person"], "urn:p": 1}\nnonsense\n'
        given = [payload(lines, "application/x-ndjson"), payload("this is no Turtle"), payload(":a a :Car .")]
        table = pa.Table.from_pylist(given, schema=ARROW_EVENTS)
        made = ways(shards, given, {})
        assert made.reject_sources.to_pylist() == [0, 1]
        again = shards.matching({}, bindings=True)(made.results)
        assert len(again.rejects) == 0
        whole = Matcher(ONTOLOGY, "compiled")
        for kind in KINDS:
            whole.subscribe(query(f"SELECT * {{ ?x a :{kind} ; :p ?y }}", kind))
        expected = matched(whole, table, {}, bindings=True)
        assert made.rejects == expected.rejects
        assert sorted(again.results["subscription_id"].to_pylist()) == ["Car", "Person"]
        assert sorted(expected.results["subscription_id"].to_pylist()) == ["Car", "Person"]

    def test_events_about_one_thing_go_to_few_shards(self, tmp_path, monkeypatch):
        """Of a workload with 364 classes in six levels, each event has one of the lowest, and all above it."""
        monkeypatch.setattr(mixed, "EVENT_VERTICES", 1)
        workload = mixed.generate(1_000, 200, 7)
        index = shard_index(workload.ontology, workload.subscriptions, tmp_path / "shards", shards=8)
        rows = [payload(each.payload.decode(), "application/n-triples", each.event.id) for each in workload.events]
        sent = ways(index, rows).results[SHARD].drop_null()
        assert 0 < len(sent) < 0.35 * 8 * len(rows)


OFFERS = [
    ("e1", "text/turtle", bytearray(f"{PREFIXES} :a a :Notebook ; :p :b . :b a :Person ; :p 1 .".encode()), 1),
    ("e2", "text/turtle", bytearray(f"{PREFIXES} :a :seller :anna ; :p 3 ; :tyres 4 .".encode()), 2),
    ("e3", "text/turtle", bytearray(b"this is no Turtle"), 3),
    ("e4", "text/turtle", bytearray(f"{PREFIXES} :a a :Stone .".encode()), 4),
    (None, "text/turtle", bytearray(f"{PREFIXES} :a a :Tower , :Person ; :p 3 , 4 .".encode()), 5),
] * 3


def counted(frame) -> Counter:
    """Return how often each row is there, with answers in any order."""
    rows = [row.asDict() for row in frame.collect()]
    return Counter(str({**row, "bindings": sorted(map(str, row.get("bindings") or []))}) for row in rows)


COLUMNS = "event_id string, content_type string, payload binary, `my.number` int"


class TestOnSpark:
    @pytest.fixture
    def offers(self, spark):
        return spark.createDataFrame(OFFERS, COLUMNS)

    @pytest.fixture
    def expected(self, offers):
        whole = Matcher(ONTOLOGY, "compiled")
        for kind in KINDS:
            whole.subscribe(query(f"SELECT * {{ ?x a :{kind} ; :p ?y }}", kind))
        return offers.transform(outcomes(None, whole))

    def test_outcomes_are_those_without_shards(self, shards, offers, expected):
        for given, after in ((shards, None), (shards.directory, decode()), (Path(shards.directory), None)):
            found = offers.repartition(3).transform(outcomes(ONTOLOGY, given, after=after))
            assert found.schema == expected.schema
            assert counted(found) == counted(expected)
        assert found.transform(rejected).count() == 3

    def test_matches_are_those_without_shards(self, shards, offers, expected):
        found = offers.transform(match(None, shards, bindings=False))
        wanted = expected.transform(accepted).drop("bindings")
        assert found.columns == wanted.columns
        assert counted(found) == counted(wanted)

    def test_streams(self, spark, shards, offers, expected, tmp_path):
        offers.select(*EVENTS.names[:3]).write.parquet(str(tmp_path / "events"))
        stream = spark.readStream.schema(EVENTS).parquet(str(tmp_path / "events"))
        written = stream.transform(match(ONTOLOGY, shards)).writeStream.format("parquet")
        query = written.option("path", str(tmp_path / "out")).option("checkpointLocation", str(tmp_path / "check"))
        query.trigger(availableNow=True).start().awaitTermination()
        found = spark.read.parquet(str(tmp_path / "out")).select("event_id", "subscription_id").collect()
        wanted = expected.transform(accepted).select("event_id", "subscription_id").collect()
        assert Counter(found) == Counter(wanted)

    def test_a_task_has_one_shard_and_opens_no_other(self, shards, offers):
        def opened(batches):
            make = shards.matching(None, bindings=False)
            for batch in batches:
                table = pa.Table.from_batches([batch])
                make(table)
                named = set(table[SHARD].drop_null().to_pylist())
                mapped = {Path(each).name for each in worker_index._open if Path(each).parent == Path(shards.directory)}
                if named:
                    yield pa.RecordBatch.from_pydict(
                        {"shards": [",".join(map(str, sorted(named)))], "open": [",".join(sorted(mapped))]}
                    )

        spread = shards.spread(offers.select(*EVENTS.names[:3]), None, keeps_rejects=False)
        rows = spread.mapInArrow(opened, "shards string, open string").collect()
        assert {row.shards for row in rows} == {"0", "1", "2", "3", "4"}
        assert all(row.shards == row.open for row in rows)

    def test_a_column_in_the_way(self, shards, offers):
        with pytest.raises(UsageError, match="the column _ontosub_shard is in the way"):
            offers.withColumnRenamed("my.number", "_ontosub_shard").transform(match(None, shards))


class TestPipeline:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "rules").mkdir()
        (tmp_path / "ontology.ttl").write_text(PREFIXES + ":Notebook rdfs:subClassOf :Computer .")
        for kind in ("Computer", "Car", "Person"):
            (tmp_path / "rules" / f"{kind}.rq").write_text(PREFIXES + f"SELECT ?x {{ ?x a :{kind} }}")
        return tmp_path

    def run(self, spark, folder: Path, **options: object) -> tuple[list[Done], set[tuple[str, str]]]:
        given = {
            "name": "sharded",
            "source": {"kind": "log", "directory": str(folder / "log")},
            "state": str(folder / "state"),
            "sinks": [{"kind": "json", "path": str(folder / "matches")}],
            "shards": 2,
            **options,
        }
        done: list[Done] = []
        Running(Config(**given).plan(), spark, say=lambda told: None, on_done=done.append).run(once=True)
        found = spark.read.json(str(folder / "matches")).collect()
        return done, {(row.event_id, row.subscription_id) for row in found}

    def publish(self, folder: Path, *texts: str) -> None:
        with EventLog(folder / "log") as log:
            rows = [payload(text, id=text) for text in texts]
            log.append(pa.Table.from_pylist(rows, schema=ARROW_EVENTS))

    def test_a_run_with_changes(self, spark, folder):
        files = {"ontology": str(folder / "ontology.ttl"), "subscriptions": str(folder / "rules")}
        self.publish(folder, ":a a :Notebook .", ":b a :Car , :Person .", "nonsense", ":c a :Stone .")
        done, found = self.run(spark, folder, **files)
        first = {
            (":a a :Notebook .", "Computer"),
            (":b a :Car , :Person .", "Car"),
            (":b a :Car , :Person .", "Person"),
        }
        assert found == first
        assert [(each.outcome.payloads, each.outcome.matches, each.outcome.rejects) for each in done] == [(4, 3, 1)]
        (folder / "rules" / "Car.rq").unlink()
        (folder / "rules" / "Stone.rq").write_text(PREFIXES + "SELECT ?x { ?x a :Stone }")
        self.publish(folder, ":d a :Car .", ":e a :Stone .")
        _, found = self.run(spark, folder, **files)
        assert found == first | {(":e a :Stone .", "Stone")}

    def test_a_saved_index_is_sharded(self, spark, folder):
        matcher = Matcher(Ontology.read(folder / "ontology.ttl"))
        for kind in ("Computer", "Person"):
            matcher.subscribe(query(f"SELECT ?x {{ ?x a :{kind} }}", kind))
        matcher.save(folder / "index")
        self.publish(folder, ":a a :Notebook , :Person .")
        _, found = self.run(spark, folder, index=str(folder / "index"))
        assert {name for _, name in found} == {"Computer", "Person"}

    def test_what_stands(self, folder):
        ontology = Ontology.read(folder / "ontology.ttl")
        watched = WatchedFiles([folder / "rules"], None, ontology, folder / "own", lambda told: None, shards=3)
        snapshots = Snapshots(folder / "snapshots", watched.index())
        pinned = snapshots.pin()
        assert snapshots.pin() is pinned
        (folder / "rules" / "Stone.rq").write_text(PREFIXES + "SELECT ?x { ?x a :Stone }")
        watched.refresh()
        assert sorted(pinned.subscription_ids()) == ["Car", "Computer", "Person"]
        assert sorted(snapshots.pin().subscription_ids()) == ["Car", "Computer", "Person", "Stone"]
        again = WatchedFiles([folder / "rules"], None, ontology, folder / "own", lambda told: None, shards=4)
        assert len(again.index().generations) == 4

    def test_what_its_owner_changes_in_a_saved_index_is_taken_over(self, folder):
        matcher = Matcher(Ontology.read(folder / "ontology.ttl"))
        matcher.subscribe(query("SELECT ?x { ?x a :Car }", "first"))
        matcher.subscribe(query("SELECT ?x { ?x a :Car }", "second"))
        matcher.save(folder / "index")
        copy = ShardedCopy(folder / "index", None, 2, folder / "own")
        assert sorted(copy.index().subscription_ids()) == ["first", "second"]
        matcher.unsubscribe("first")
        matcher.subscribe(query("SELECT ?y { ?y a :Person }", "first"))
        matcher.unsubscribe("second")
        matcher.save(folder / "index")
        copy.refresh()
        assert copy.index().subscription_ids() == ["first"]
        assert kinds_of(copy.index(), ":a a :Person .") == {"Person"}
