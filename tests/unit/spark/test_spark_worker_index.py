"""What reaches the workers, and which version they see. No JVM takes part."""

import gc
import pickle
import weakref
from pathlib import Path

import pyarrow as pa
import pytest

from ontosub import Matcher, Ontology, Subscription
from ontosub.matching.batch import MATCHES
from ontosub.model.errors import IndexDirectoryError, UsageError
from ontosub.spark import match
from ontosub.spark.finding import Matching
from ontosub.spark.passing import Passing
from ontosub.spark.schemas import ARROW_EVENTS
from ontosub.spark.worker_index import WorkerIndex

pytestmark = pytest.mark.xdist_group("spark")

PAYLOAD = (
    b"<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/auction#Notebook> .\n"
    b'<urn:a> <http://example.org/auction#price> "350"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
)
EVENT = pa.RecordBatch.from_pylist(
    [{"event_id": "e", "content_type": "application/n-triples", "payload": PAYLOAD}], schema=ARROW_EVENTS
)


def task(index: WorkerIndex) -> Matching:
    """Return what a worker gets, as it gets it."""
    through = Passing(tuple(ARROW_EVENTS.names), MATCHES, (), has_rejects=False, keeps_rejects=False)
    return pickle.loads(pickle.dumps(Matching(index, through, None, bindings=True)))


def found(batches) -> list[str]:
    return [name for batch in batches for name in batch["subscription_id"].to_pylist()]


@pytest.fixture
def saved(tmp_path: Path, auction: Ontology, cheap: Subscription) -> tuple[Matcher, Path]:
    matcher = Matcher(auction, "compiled")
    matcher.subscribe(cheap)
    matcher.save(tmp_path / "index")
    return matcher, tmp_path / "index"


def test_the_next_task_sees_a_new_version_and_a_running_one_does_not(saved, auction, computers):
    matcher, directory = saved
    work = task(WorkerIndex.of(auction, directory))

    def batches():
        yield EVENT
        matcher.subscribe(computers)
        matcher.save(directory)
        yield EVENT

    assert found(work.run(batches())) == ["cheap", "cheap"]
    assert found(work.run(iter([EVENT]))) == ["cheap", "computers"]
    matcher.unsubscribe("cheap")
    matcher.save(directory)
    assert found(work.run(iter([EVENT]))) == ["computers"]


def test_a_version_is_opened_once(saved, auction):
    index = WorkerIndex.of(auction, saved[1])
    assert index.current() is index.current()
    assert pickle.loads(pickle.dumps(index)).current() is index.current()


def test_spark_s_collections_pass_over_what_is_loaded_and_not_over_what_was(saved, auction, computers):
    matcher, directory = saved
    index = WorkerIndex.of(auction, directory)
    former = weakref.ref(index.current())
    assert gc.get_freeze_count() == 0
    index.current()  # in the next task
    assert gc.get_freeze_count() > len(gc.get_objects())
    matcher.subscribe(computers)
    matcher.save(directory)
    assert index.current() is not former()
    gc.collect()  # as Spark does when the task is done
    assert former() is None


def test_a_directory_that_turns_into_another_ontology_s_index_is_refused(saved, auction, tmp_path):
    index = WorkerIndex.of(auction, saved[1])
    index.current()
    saved[1].rename(tmp_path / "former")
    Matcher(Ontology(), "compiled").save(saved[1])
    with pytest.raises(IndexDirectoryError, match="another ontology"):
        index.current()


@pytest.mark.parametrize("algorithm", ["auto", "naive", "compiled"])
def test_a_matcher_is_copied_as_it_stands(auction, cheap, computers, algorithm, tmp_path):
    matcher = Matcher(auction, algorithm)
    matcher.subscribe(cheap)
    index = WorkerIndex.of(None, matcher)
    matcher.subscribe(computers)
    assert found(task(index).run(iter([EVENT]))) == ["cheap"]


def test_a_matcher_can_still_be_saved_where_it_is_from(saved, auction, computers):
    matcher, directory = saved
    match(auction, matcher)
    matcher.subscribe(computers)
    matcher.save(directory)
    assert list(Matcher.open(directory).subscriptions) == ["cheap", "computers"]


class TestRefusals:
    def test_paths(self, auction, saved, tmp_path):
        with pytest.raises(IndexDirectoryError, match="there is no such directory"):
            match(auction, tmp_path / "nowhere")
        with pytest.raises(IndexDirectoryError, match="it has no manifest"):
            match(auction, str(tmp_path))
        with pytest.raises(IndexDirectoryError, match="another ontology"):
            match(Ontology(), saved[1])

    def test_a_corrupt_index(self, auction, saved):
        part = next((saved[1] / "segments").glob("part-*"))
        data = bytearray(part.read_bytes())
        data[-1] ^= 1
        part.write_bytes(data)
        with pytest.raises(IndexDirectoryError):
            match(auction, saved[1])

    def test_other_things(self, auction, cheap):
        with pytest.raises(UsageError, match=r"the ontology is of type str: read it with Ontology\.read"):
            match("auction.ttl", [cheap])
        with pytest.raises(UsageError, match=r"'cheap' is no subscription: make it one with Subscription\.parse"):
            match(auction, ["cheap"])
        with pytest.raises(UsageError, match="an iterable of Subscription, a Matcher, or the path of an index"):
            match(auction, 7)
        with pytest.raises(UsageError, match="the matcher has another ontology"):
            match(auction, Matcher(Ontology()))
        with pytest.raises(UsageError, match="taken by another"):
            match(auction, [cheap, Subscription.parse("ASK { ?x a <urn:C> }", id="cheap")])
