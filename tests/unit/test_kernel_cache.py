"""The compiled kernels: one process makes them for all, and the naive algorithm serves until then."""

import os
import select
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.matching.compiled import Compiled, Provisional, provisional
from ontosub.matching.compiled.files.directory import read_manifest
from ontosub.matching.kernel_cache import KernelCache
from ontosub.model.errors import IndexDirectoryError, LimitError, UsageError
from ontosub.semantics import Entailment

# One worker compiles the kernels for all of these tests.
pytestmark = pytest.mark.xdist_group("compiled")

ONTOLOGY = Ontology.read(
    "@prefix : <urn:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . :Notebook rdfs:subClassOf :Computer .",
    format="text/turtle",
)
EVENT = Event.read("<urn:pc> a <urn:Notebook> ; <urn:price> 7 .", "text/turtle", id="e")


def wanted(name: str, class_: str = "Computer") -> Subscription:
    return Subscription.parse(f"SELECT ?p {{ ?x a <urn:{class_}> ; <urn:price> ?p }}", id=name)


@pytest.fixture
def cache(tmp_path):
    """Return a cache without kernels, which nobody fills but who says so."""
    cache = KernelCache(tmp_path / "cache", rehearse=lambda: None)
    with cache._locked():
        yield cache


@pytest.fixture
def filled(tmp_path, cache):
    """Return how the cache is filled."""

    def fill() -> None:
        other = KernelCache(tmp_path / "cache", rehearse=lambda: None)
        other._ready.touch()

    return fill


class TestCache:
    def test_is_ready_for_everybody_once_one_has_filled_it(self, tmp_path):
        first, second = (KernelCache(tmp_path, rehearse=lambda: None) for _ in range(2))
        assert not first.is_ready()
        first.fill()
        assert first.is_ready()
        assert second.is_ready()

    def test_of_many_that_fill_it_one_compiles(self, tmp_path):
        rehearsals, together = [], threading.Barrier(5)

        def fill() -> None:
            cache = KernelCache(tmp_path, rehearse=lambda: rehearsals.append(1))
            together.wait()
            cache.fill()

        threads = [threading.Thread(target=fill) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert rehearsals == [1]

    def test_a_rehearsal_that_fails_leaves_it_empty_and_open(self, tmp_path):
        def fail() -> None:
            raise LimitError("interrupted")

        with pytest.raises(LimitError):
            KernelCache(tmp_path, fail).fill()
        cache = KernelCache(tmp_path, lambda: None)
        assert not cache.is_ready()
        cache.fill()
        assert cache.is_ready()

    def test_what_other_sources_gave_is_thrown_away(self, tmp_path):
        cache = KernelCache(tmp_path, lambda: None)
        cache.fill()
        (tmp_path / "walk.walk-1.py311.nbi").touch()
        cache.discard_stale()
        assert list(tmp_path.glob("*.nbi"))
        (tmp_path / "kernels.sha256").write_text("of other sources")
        cache.discard_stale()
        assert not list(tmp_path.glob("*.nbi"))
        assert not KernelCache(tmp_path).is_ready()

    def test_a_request_has_another_process_compile_them(self, tmp_path):
        cache = KernelCache(tmp_path)
        cache.request()
        started = cache._process
        cache.request()
        assert cache._process is started
        assert os.getsid(started.pid) == os.getsid(0)  # sessions get equal shares, whatever their priority
        assert os.getpgid(started.pid) != os.getpgid(0)  # and Ctrl-C goes to groups
        assert started.wait() == 0
        assert cache.is_ready()
        assert not cache.has_failed()
        cache.close()

    def test_the_process_ends_with_the_one_that_wanted_it(self, tmp_path):
        program = (
            "from pathlib import Path; from ontosub.matching.kernel_cache import KernelCache;"
            f"cache = KernelCache(Path({str(tmp_path)!r})); cache.request(); print(cache._process.pid, flush=True)"
        )
        requester = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        with suppress(ProcessLookupError):  # it may be gone already
            child = os.pidfd_open(int(requester.stdout))
            select.select([child], [], [])
            os.close(child)
        assert not KernelCache(tmp_path).is_ready()

    def test_a_process_that_is_killed_has_failed_and_is_not_started_again(self, tmp_path):
        cache = KernelCache(tmp_path)
        cache.request()
        cache._process.kill()
        cache._process.wait()
        assert cache.has_failed()
        cache.request()
        assert cache.has_failed()
        cache.close()

    def test_while_another_process_fills_it_none_is_started(self, cache):
        cache.request()
        assert cache._process is None
        assert not cache.has_failed()

    def test_nothing_is_left_to_compile_after_a_rehearsal(self):
        """In a process of its own: what other tests have called does not count there."""
        program = Path(__file__).parent / "kernels_after_rehearsal.py"
        done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr


class TestProvisional:
    def test_answers_before_and_after_the_kernels_are_there(self, cache, filled):
        algorithm = Provisional(Entailment(ONTOLOGY), cache)
        for subscription in (wanted("s"), wanted("t", "Notebook"), wanted("u", "Car")):
            algorithm.subscribe(subscription)
        before = list(algorithm.match(EVENT))
        assert [match.subscription_id for match in before] == algorithm.match_ids(EVENT) == ["s", "t"]
        assert algorithm._compiled is None
        filled()
        assert list(algorithm.match(EVENT)) == before
        assert algorithm._compiled is not None
        algorithm.unsubscribe("s")
        algorithm.subscribe(wanted("v"))
        assert algorithm.match_ids(EVENT) == ["t", "v"]
        assert list(algorithm.standing) == ["t", "u", "v"]

    def test_what_is_saved_without_kernels_is_opened_with_and_without(self, cache, filled, tmp_path):
        directory, entailment = tmp_path / "index", Entailment(ONTOLOGY)
        algorithm = Provisional(entailment, cache)
        algorithm.subscribe(wanted("s"))
        algorithm.save(directory)
        algorithm.subscribe(wanted("t"))
        algorithm.save(directory)
        assert read_manifest(directory).generation == 2
        again = Provisional.open(directory, entailment, kernels=cache)
        assert again._compiled is None
        assert again.match_ids(EVENT) == ["s", "t"]
        assert Compiled.open(directory, entailment).match_ids(EVENT) == ["s", "t"]
        assert dict(again.standing) == dict(Compiled.open(directory, entailment).standing)
        again.unsubscribe("s")
        filled()
        again.save(directory)
        assert read_manifest(directory).segments
        assert Compiled.open(directory, entailment).match_ids(EVENT) == ["t"]

    def test_a_compiled_index_goes_on_from_one_that_was_saved_without_kernels(self, cache, tmp_path):
        directory, entailment = tmp_path / "index", Entailment(ONTOLOGY)
        algorithm = Provisional(entailment, cache)
        algorithm.subscribe(wanted("s"))
        algorithm.save(directory)
        compiled = Compiled.open(directory, entailment)
        compiled.subscribe(wanted("t"))
        compiled.save(directory)
        assert Compiled.open(directory, entailment).match_ids(EVENT) == ["s", "t"]
        with pytest.raises(IndexDirectoryError, match="another index"):
            algorithm.save(directory)

    def test_a_compiled_index_is_opened_without_kernels(self, cache, tmp_path):
        directory, entailment = tmp_path / "index", Entailment(ONTOLOGY)
        compiled = Compiled(entailment)
        for name in ("s", "t", "u"):
            compiled.subscribe(wanted(name))
        compiled.save(directory)
        compiled.unsubscribe("t")
        compiled.save(directory)
        opened = Provisional.open(directory, entailment, kernels=cache)
        assert opened._compiled is None
        assert dict(opened.standing) == dict(compiled.standing)
        assert opened.match_ids(EVENT) == ["s", "u"]
        opened.save(directory)
        assert Compiled.open(directory, entailment).match_ids(EVENT) == ["s", "u"]

    def test_the_order_of_subscription_stays(self, cache, tmp_path):
        directory, entailment = tmp_path / "index", Entailment(ONTOLOGY)
        names = [f"s{number}" for number in range(70)]
        algorithm = Provisional(entailment, cache)
        for name in names:
            algorithm.subscribe(wanted(name))
        algorithm.save(directory)
        assert Provisional.open(directory, entailment, kernels=cache).match_ids(EVENT) == names
        assert Compiled.open(directory, entailment).match_ids(EVENT) == names

    def test_many_subscriptions_wait_for_the_kernels(self, tmp_path, monkeypatch):
        monkeypatch.setattr(provisional, "NAIVE_SUBSCRIPTIONS", 2)
        entailment, rehearsals = Entailment(ONTOLOGY), []
        caches = [KernelCache(tmp_path / name, lambda: rehearsals.append(1)) for name in ("a", "b")]
        algorithm = Provisional(entailment, caches[0])
        algorithm.subscribe(wanted("s"))
        algorithm.save(tmp_path / "index")
        assert rehearsals == []
        algorithm.subscribe(wanted("t"))
        algorithm.save(tmp_path / "index")
        assert rehearsals == [1]
        assert Provisional.open(tmp_path / "index", entailment, kernels=caches[1]).match_ids(EVENT) == ["s", "t"]
        assert rehearsals == [1, 1]

    def test_where_compiling_fails_each_process_compiles_what_it_needs(self, tmp_path):
        cache = KernelCache(tmp_path)
        cache.request()
        cache._process.kill()
        cache._process.wait()
        algorithm = Provisional(Entailment(ONTOLOGY), cache)
        algorithm.subscribe(wanted("s"))
        assert algorithm.match_ids(EVENT) == ["s"]
        assert algorithm._compiled is not None
        cache.close()

    def test_an_index_of_another_ontology_is_refused(self, cache, tmp_path):
        Provisional(Entailment(ONTOLOGY), cache).save(tmp_path / "index")
        with pytest.raises(IndexDirectoryError, match="another ontology"):
            Provisional.open(tmp_path / "index", Entailment(Ontology()), kernels=cache)

    def test_a_matcher_is_opened_with_an_algorithm_that_can_be(self, tmp_path):
        matcher = Matcher(ONTOLOGY, "provisional")
        matcher.subscribe(wanted("s"))
        matcher.save(tmp_path)
        assert Matcher.open(tmp_path, algorithm="provisional").match_ids(EVENT) == ["s"]
        with pytest.raises(UsageError, match="'naive': choose compiled or provisional"):
            Matcher.open(tmp_path, algorithm="naive")
