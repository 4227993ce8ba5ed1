"""The compiled index as a thing that lives: it grows, shrinks, is stored, reopened, interrupted and shared.

That its answers are right is shown in `oracle`; here, most subscriptions are alike, and what is looked at is what
happens around them. Work is counted, never timed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontosub import Matcher
from ontosub.bench.workloads import WORKLOADS
from ontosub.matching import adaptive, limits
from ontosub.matching.batch import Batch
from ontosub.matching.compiled.algorithm import Compiled
from ontosub.matching.compiled.events.flat_tables import packed_tables
from ontosub.matching.compiled.files import directory as directories
from ontosub.matching.compiled.index import drafting, index, part
from ontosub.matching.naive import Naive
from ontosub.model import Arc, Event, Filter, GraphPattern, Ontology, Subscription, Vertex
from ontosub.model.errors import IndexDirectoryError, LimitError, OntosubError
from ontosub.model.expression import Call, Expression, Function
from ontosub.model.terms import TYPE, Literal, NamedNode, Triple, Variable
from ontosub.semantics import Entailment

# One worker compiles the kernels for all of these tests.
pytestmark = pytest.mark.xdist_group("compiled")

P, Q = NamedNode("urn:p"), NamedNode("urn:q")
A, B, C = (Variable(name) for name in "abc")
EVENT = Event("e", frozenset({Triple(NamedNode("urn:s"), P, NamedNode("urn:o"))}))
PLAIN = GraphPattern(arcs=(Arc(A, P, B),))


def plain(id: str) -> Subscription:
    """Return a subscription that the event matches."""
    return Subscription(id, (PLAIN,))


def filtered(id: str, condition: Expression) -> Subscription:
    return Subscription(id, (GraphPattern(arcs=PLAIN.arcs, filters=(Filter(condition),)),))


def star_of(arms: int, **options) -> GraphPattern:
    return GraphPattern(arcs=tuple(Arc(A, P, Variable(f"x{i}")) for i in range(arms)), **options)


def star_event(arms: int) -> Event:
    return Event("star", frozenset(Triple(NamedNode("urn:c"), P, NamedNode(f"urn:n{i}")) for i in range(arms)))


def compiled_of(*subscriptions: Subscription, **options) -> Compiled:
    compiled = Compiled(Entailment(Ontology()), **options)
    for subscription in subscriptions:
        compiled.subscribe(subscription)
    return compiled


def opened(directory: Path, ontology: Ontology | None = None) -> Compiled:
    return Compiled.open(directory, Entailment(ontology or Ontology()))


def table_of(*payloads: bytes) -> pa.Table:
    columns = [[f"e{i}" for i in range(len(payloads))], ["application/n-triples"] * len(payloads), list(payloads)]
    return pa.table(columns, names=["event_id", "content_type", "payload"])


PAYLOAD = b"<urn:s> <urn:p> <urn:o> .\n"


class TestGrowth:
    """Ten times the subscriptions take far less than ten times the steps."""

    @pytest.mark.parametrize(("name", "most"), [("ops", 8.5), ("templates", 3), ("mixed", 5)])
    def test_visits_grow_more_slowly_than_subscriptions(self, name, most):
        workload = WORKLOADS[name].generate(3_000, 8, 11)
        small, large = (self.visits(workload, workload.subscriptions[:size]) for size in (300, 3_000))
        assert 0 < large < most * small

    @staticmethod
    def visits(workload, subscriptions: Sequence[Subscription]) -> int:
        compiled = Compiled(Entailment(workload.ontology))
        for subscription in subscriptions:
            compiled.subscribe(subscription)
        total = 0
        for published in workload.events:
            compiled.match_ids(published.event)
            total += compiled.visits
        return total

    def test_equal_subscriptions_cost_one(self):
        one, many = compiled_of(plain("s")), compiled_of(*(plain(f"s{i}") for i in range(1_000)))
        assert len(many.match_ids(EVENT)) == 1_000
        one.match_ids(EVENT)
        assert many.visits == one.visits

    def test_costs_add_up_to_the_visits(self):
        compiled = compiled_of(*(plain(f"s{i}") for i in range(5)), Subscription("star", (star_of(3),)))
        total = 0
        for event in (EVENT, star_event(4), star_event(7)):
            compiled.match_ids(event)
            total += compiled.visits
            assert sum(compiled.costs()["visits"].to_pylist()) == pytest.approx(total)
        before = compiled.costs()
        compiled.merge()
        assert compiled.costs()["visits"].to_pylist() == pytest.approx(before["visits"].to_pylist())
        assert compiled.costs()["matches"].to_pylist() == before["matches"].to_pylist() == [3] * 6


class TestHierarchies:
    """What a hierarchy of classes takes grows with its classes and arcs, however deep it is and whatever is asked."""

    @staticmethod
    def checked(pairs: Iterable[tuple[int, int]], count: int, asked: Iterable[int], of: Iterable[int]) -> int:
        """Compare the classes of some events with the definition's; return how many numbers the tables have."""
        classes = [NamedNode(f"urn:c{number}") for number in range(count)]
        hierarchy = frozenset((classes[narrower], classes[wider]) for narrower, wider in pairs)
        entailment = Entailment(Ontology(subclasses=hierarchy))
        compiled = Compiled(entailment)
        for number in asked:
            pattern = GraphPattern((Vertex(A, frozenset({classes[number]})),))
            compiled.subscribe(Subscription(str(number), (pattern,)))
        for number in of:
            event = Event("e", frozenset({Triple(NamedNode("urn:s"), TYPE, classes[number])}))
            above = entailment.classes.above(classes[number])
            assert compiled.match_ids(event) == [str(each) for each in asked if classes[each] in above]
        return len(packed_tables(compiled._index.concepts))

    @pytest.mark.parametrize("step", [1, 10, 5_000])
    def test_a_chain(self, step):
        count = 10_000
        size = self.checked(pairwise(range(count)), count, range(0, count, step), (0, 1, 7_777, count - 1))
        assert size < 10 * count

    def test_many_classes_with_several_parents(self):
        random, count = Random(1), 30_000
        by_level = [range(level * count // 15, (level + 1) * count // 15) for level in range(15)]
        pairs = {
            (number, random.choice(wider))
            for wider, narrower in pairwise(by_level)
            for number in narrower
            for _ in range(random.choice([1, 1, 1, 2, 3]))
        }
        size = self.checked(pairs, count, random.sample(range(count), 500), random.sample(range(count), 20))
        assert size < 10 * (count + len(pairs))

    @given(
        st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=25),
        st.lists(st.integers(0, 11), unique=True),
    )
    @settings(max_examples=60, deadline=None)
    def test_any_hierarchy(self, pairs, asked):
        """With cycles, several parents and classes that nothing is said of."""
        self.checked(pairs, 12, asked, range(12))


class TestComingAndGoing:
    """Whatever comes and goes, however often, the index stays as small as what stands in it."""

    def test_any_number_of_merges(self):
        compiled = compiled_of(plain("first"))
        with little_stack():
            for number in range(100):
                compiled.subscribe(plain(f"s{number}"))
                compiled.merge()
                if number >= 5:
                    compiled.unsubscribe(f"s{number - 5}")
                assert "first" in compiled.match_ids(EVENT)
            assert compiled.standing["first"] == plain("first")

    def test_any_number_of_merges_of_a_stored_index(self, tmp_path):
        compiled_of(plain("first")).save(tmp_path / "index")
        compiled = opened(tmp_path / "index")
        with little_stack():
            for number in range(100):
                compiled.subscribe(plain(f"s{number}"))
                compiled.merge()
                if number >= 5:
                    compiled.unsubscribe(f"s{number - 5}")
                assert "first" in compiled.match_ids(EVENT)

    def test_the_same_id_again_and_again(self):
        compiled = compiled_of(plain("other"))
        for number in range(30):
            constant = NamedNode("urn:o") if number % 2 else NamedNode("urn:elsewhere")
            compiled.subscribe(Subscription("same", (GraphPattern(arcs=(Arc(A, P, constant),)),)))
            expected = ["other", "same"] if number % 2 else ["other"]
            assert compiled.match_ids(EVENT) == expected
            if number % 7 == 0:
                compiled.merge()
            assert list(compiled.standing) == ["other", "same"]
            compiled.unsubscribe("same")
        assert list(compiled.standing) == ["other"]

    def test_nothing_left(self):
        compiled = compiled_of(plain("s"), filtered("t", Call(Function.IN, (B,))))
        assert compiled.match_ids(EVENT) == ["s"]
        compiled.unsubscribe("s")
        compiled.unsubscribe("t")
        assert compiled.match_ids(EVENT) == []
        compiled.merge()
        assert compiled.match_ids(EVENT) == list(compiled.match(EVENT)) == list(compiled.standing) == []
        assert compiled.visits == compiled.costs().num_rows == 0
        for bindings in (True, False):
            assert compiled.match_batch(Batch(table_of(PAYLOAD)), bindings=bindings).matches.num_rows == 0

    def test_there_are_never_many_parts(self, monkeypatch):
        monkeypatch.setattr(index, "MERGED_AT_ONCE", 2)
        compiled = compiled_of()
        for size in range(3, index.PARTS_MAX + 10):
            for number in range(size):
                compiled.subscribe(plain(f"s{size}-{number}"))
            compiled.match_ids(EVENT)
        assert len(compiled._index.parts) <= index.PARTS_MAX

    def test_who_has_gone_costs_nothing(self):
        compiled = compiled_of(*(Subscription(f"s{i}", (star_of(3),)) for i in range(20)), plain("stays"))
        event = star_event(10)
        compiled.match_ids(event)
        for number in range(20):
            compiled.unsubscribe(f"s{number}")
        list(compiled.match(event))
        alone = compiled_of(plain("stays"))
        list(alone.match(event))
        assert compiled.visits == alone.visits

    def test_who_has_gone_costs_nothing_though_others_stay(self):
        compiled = compiled_of(*(plain(f"s{i}") for i in range(50)), Subscription("costly", (star_of(5),)))
        event = star_event(10)
        compiled.match_ids(event)
        compiled.unsubscribe("costly")
        found = list(compiled.match(event))
        alone = compiled_of(*(plain(f"s{i}") for i in range(50)))
        assert [match.subscription_id for match in alone.match(event)] == [match.subscription_id for match in found]
        assert compiled.visits == alone.visits

    def test_who_stays_is_found_beside_who_has_gone(self):
        """They end at the same node, and the first candidate satisfies only who has gone."""
        gone, stays = (
            Subscription(name, (GraphPattern(arcs=(Arc(A, P, NamedNode(f"urn:n{number}")),)),))
            for name, number in (("gone", 0), ("stays", 1))
        )
        compiled = compiled_of(gone, stays, plain("other"))
        compiled.match_ids(EVENT)
        compiled.unsubscribe("gone")
        for _ in range(2):
            assert compiled.match_ids(star_event(9)) == ["stays", "other"]
            assert [match.subscription_id for match in compiled.match(star_event(9))] == ["stays", "other"]

    def test_what_is_gone_takes_no_space_after_a_merge(self):
        compiled = compiled_of(plain("stays"))
        compiled.match_ids(EVENT)
        terms, atoms = len(compiled._index.dictionary), len(compiled._index.atoms)
        for number in range(50):
            compiled.subscribe(filtered(f"s{number}", Call(Function.CONTAINS, (B, Literal(f"needle {number}")))))
            compiled.subscribe(filtered(f"t{number}", Call(Function.EQUAL, (B, NamedNode(f"urn:term{number}")))))
        compiled.match_ids(EVENT)
        for number in range(50):
            compiled.unsubscribe(f"s{number}")
            compiled.unsubscribe(f"t{number}")
        compiled.merge()
        assert (len(compiled._index.dictionary), len(compiled._index.atoms)) == (terms, atoms)
        assert compiled.match_ids(EVENT) == ["stays"]

    def test_new_numbers_are_saved(self, tmp_path):
        """What stays gets other numbers when others have gone: terms, atoms, alternatives, classes and properties."""
        kinds = {
            "contains": Call(Function.CONTAINS, (Call(Function.STR, (B,)), Literal("n1"))),
            "either": Call(Function.OR, (Call(Function.IS_BLANK, (B,)), Call(Function.IS_IRI, (B,)))),
            "is": Call(Function.EQUAL, (B, NamedNode("urn:n2"))),
            "is not": Call(Function.NOT_EQUAL, (B, NamedNode("urn:n0"))),
        }
        event = Event("e", star_event(3).graph | {Triple(NamedNode("urn:c"), TYPE, NamedNode("urn:C"))})
        compiled = Compiled(Entailment(Ontology(subclasses=frozenset({(NamedNode("urn:C"), NamedNode("urn:D"))}))))
        for number in range(20):
            needle = Literal(f"needle {number}")
            compiled.subscribe(filtered(f"text{number}", Call(Function.CONTAINS, (B, needle))))
            classes = frozenset({NamedNode(f"urn:E{number}")})
            compiled.subscribe(Subscription(f"class{number}", (GraphPattern((Vertex(A, classes),)),)))
            arcs = (Arc(A, NamedNode(f"urn:p{number}"), NamedNode(f"urn:o{number}")),)
            compiled.subscribe(Subscription(f"arc{number}", (GraphPattern(arcs=arcs),)))
        for name, condition in kinds.items():
            compiled.subscribe(filtered(name, condition))
        classes = frozenset({NamedNode("urn:C"), NamedNode("urn:D")})
        compiled.subscribe(Subscription("class", (GraphPattern((Vertex(A, classes),), PLAIN.arcs),)))
        compiled.save(tmp_path / "index")
        expected = [*kinds, "class"]
        before = [(match.subscription_id, len(match.bindings)) for match in compiled.match(event)]
        assert [name for name, _ in before] == expected
        for number in range(20):
            for kind in ("text", "class", "arc"):
                compiled.unsubscribe(f"{kind}{number}")
        compiled.merge()
        told = compiled._index.concepts.export()
        assert sorted(told["classes"]) == ["urn:C", "urn:D"]
        assert not {f"urn:p{number}" for number in range(20)} & {*told["properties"]}
        for _ in range(2):
            assert [(match.subscription_id, len(match.bindings)) for match in compiled.match(event)] == before
            assert compiled.match_ids(event) == expected
            compiled.save(tmp_path / "index")
            compiled = Compiled.open(tmp_path / "index", compiled._entailment)

    def test_iteration_while_events_are_matched(self):
        matcher = Matcher(algorithm="compiled")
        matcher.subscribe(plain("first"))
        matcher.match_ids(EVENT)
        matcher.subscribe(plain("second"))
        seen = []
        for each in matcher.subscriptions:
            seen.append(each)
            matcher.match_ids(EVENT)
        assert seen == ["first", "second"]


@contextmanager
def little_stack(frames: int = 120) -> Iterator[None]:
    """Allow so many more frames than there are now."""
    limit, frame, depth = sys.getrecursionlimit(), sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(depth + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class TestFaults:
    """What goes wrong with one subscription, or at one moment, leaves the rest as it is."""

    def test_an_interruption_loses_no_subscription(self, monkeypatch):
        compiled = compiled_of(plain("s"), plain("t"))
        with monkeypatch.context() as patch:
            patch.setattr(drafting.Draft, "segment", interrupted)
            with pytest.raises(KeyboardInterrupt):
                compiled.match_ids(EVENT)
        assert compiled.match_ids(EVENT) == list(compiled.standing) == ["s", "t"]

    def test_a_merge_that_fails_loses_no_subscription(self, monkeypatch):
        compiled = compiled_of(plain("s"))
        compiled.match_ids(EVENT)
        compiled.subscribe(plain("t"))
        with monkeypatch.context() as patch:
            patch.setattr(index, "merged", interrupted)
            with pytest.raises(KeyboardInterrupt):
                compiled.match_ids(EVENT)
        assert compiled.match_ids(EVENT) == list(compiled.standing) == ["s", "t"]

    @pytest.mark.parametrize("what", ["vertices", "depth"])
    def test_a_pattern_that_is_too_large_harms_nobody(self, what):
        compiled = compiled_of(plain("s"))
        try:
            too_large = GraphPattern(tuple(Vertex(Variable(f"x{i}")) for i in range(40_000)))
            if what == "depth":
                condition: Expression = Call(Function.LESS, (A, B))
                for _ in range(sys.getrecursionlimit() * 2):
                    condition = Call(Function.AND, (condition, Call(Function.LESS, (A, B))))
                too_large = GraphPattern(arcs=PLAIN.arcs, filters=(Filter(condition),))
            compiled.subscribe(Subscription("too large", (too_large,)))
        except OntosubError:
            assert list(compiled.standing) == ["s"]
        assert "s" in compiled.match_ids(EVENT)

    def test_what_could_not_move_is_not_taken(self):
        matcher = Matcher()
        matcher.subscribe(plain("s"))
        with pytest.raises(LimitError, match="vertices and arcs"):
            matcher.subscribe(Subscription("too large", (star_of(limits.SIZE_MAX // 2),)))
        matcher.subscribe(Subscription("large", (star_of(limits.SIZE_MAX // 2 - 1),)))
        matcher.merge()
        assert matcher.match_ids(EVENT) == ["s", "large"]

    def test_an_id_that_cannot_be_written_harms_nobody(self, tmp_path):
        matcher = Matcher(algorithm="compiled")
        matcher.subscribe(plain("s"))
        try:
            matcher.subscribe(plain("\ud800"))
        except OntosubError:
            assert list(matcher.subscriptions) == ["s"]
        assert "s" in matcher.match_batch(table_of(PAYLOAD)).matches["subscription_id"].to_pylist()
        matcher.save(tmp_path / "index")

    def test_room_for_rows_is_found_while_images_differ(self):
        """A walk that ran out of room starts anew: nothing of the first attempt is left behind."""
        pattern = star_of(3, injective=True)
        compiled = compiled_of(Subscription("s", (pattern,)))
        for arms, count in ((5, 60), (30, 30 * 29 * 28), (5, 60)):
            (match,) = compiled.match(star_event(arms))
            assert len(match.bindings) == count

    def test_too_many_answers_of_one_cost_others_nothing(self, monkeypatch):
        monkeypatch.setattr(part, "ROWS_MAX", 1 << 14)
        same = Filter(Call(Function.SAME_TERM, (B, C)))
        steps = GraphPattern(arcs=(Arc(A, Q, B), Arc(Variable("d"), Q, C)), filters=(same,))
        event = Event("e", star_event(100).graph | {Triple(NamedNode(f"urn:q{i}"), Q, B_OF[i]) for i in range(60)})
        alone = compiled_of(Subscription("many steps", (steps,)), budget=20_000)
        assert [len(match.bindings) for match in alone.match(event)] == [60]
        both = compiled_of(
            Subscription("many steps", (steps,)), Subscription("many answers", (star_of(2),)), budget=20_000
        )
        assert [match.subscription_id for match in both.match(event)] == ["many steps"]
        assert both.over_budget == {"many answers"}

    def test_epochs_begin_anew(self):
        injective = Subscription("u", (star_of(2, injective=True),))
        compiled = compiled_of(Subscription("s", (star_of(3),)), plain("t"), injective)
        event = star_event(4)
        expected = [(match.subscription_id, len(match.bindings)) for match in compiled.match(event)]
        for each in compiled._index.parts:
            each._epoch = 2**31 - 4
        for _ in range(6):
            assert [(match.subscription_id, len(match.bindings)) for match in compiled.match(event)] == expected
            assert compiled.match_ids(event) == ["s", "t", "u"]


B_OF = [NamedNode(f"urn:b{i}") for i in range(60)]


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


class TestSharing:
    """Matchers share nothing; threads that share a matcher take turns."""

    def test_matchers_do_not_know_of_each_other(self):
        narrow = Ontology(subclasses=frozenset({(NamedNode("urn:N"), NamedNode("urn:W"))}))
        first, second = Compiled(Entailment(narrow)), Compiled(Entailment(Ontology()))
        wide = Subscription("s", (GraphPattern((Vertex(A, frozenset({NamedNode("urn:W")})),)),))
        event = Event("e", frozenset({Triple(NamedNode("urn:s"), TYPE, NamedNode("urn:N"))}))
        for compiled in (first, second):
            compiled.subscribe(wide)
        assert first.match_ids(event) == ["s"]
        assert second.match_ids(event) == []
        hostile = compiled_of(Subscription("s", (star_of(9),)), budget=100)
        assert list(hostile.match(star_event(9))) == []
        assert hostile.over_budget == {"s"}
        assert first.match_ids(event) == ["s"]
        assert first.over_budget == second.over_budget == frozenset()

    def test_two_threads_do_not_walk_at_once(self, monkeypatch):
        matcher = Matcher(algorithm="compiled")
        matcher.subscribe(plain("s"))
        matcher.match_ids(EVENT)
        walking, together = threading.Event(), threading.Event()
        real = part.walk

        def watched(*arguments):
            if walking.is_set():
                together.set()
            elif not other.is_alive():
                walking.set()
                other.start()
                together.wait(0.3)
                walking.clear()
            return real(*arguments)

        other = threading.Thread(target=matcher.match_ids, args=(EVENT,))
        monkeypatch.setattr(part, "walk", watched)
        matcher.match_ids(EVENT)
        other.join()
        assert not together.is_set()


class TestAdaptive:
    """The switch to the index, wherever it comes, is not to be noticed."""

    @pytest.mark.parametrize("work", [0, 3, 10, 40, 10_000])
    def test_in_the_middle_of_coming_and_going(self, work, monkeypatch):
        monkeypatch.setattr(adaptive, "NAIVE_WORK", work)
        auto, naive = Matcher(), Matcher(algorithm="naive")
        for number in range(20):
            for matcher in (auto, naive):
                matcher.subscribe(plain(f"s{number}"))
                if number % 3 == 2:
                    matcher.unsubscribe(f"s{number - 1}")
                if number % 5 == 4:
                    matcher.subscribe(plain(f"s{number - 3}x"))
            assert auto.match_ids(EVENT) == naive.match_ids(EVENT)
            assert auto.match(EVENT) == naive.match(EVENT)
            assert list(auto.subscriptions) == list(naive.subscriptions)

    def test_views_of_the_subscriptions_stay_true(self):
        matcher = Matcher()
        view = matcher.subscriptions
        matcher.subscribe(plain("before"))
        assert list(view) == ["before"]
        matcher.merge()
        matcher.subscribe(plain("after"))
        assert list(view) == list(matcher.subscriptions)


class TestStorage:
    """What is stored comes back, whoever died, interfered or looked on."""

    def test_nothing(self, tmp_path):
        compiled_of().save(tmp_path / "index")
        compiled = opened(tmp_path / "index")
        assert compiled.match_ids(EVENT) == list(compiled.standing) == []
        compiled.subscribe(plain("s"))
        compiled.save(tmp_path / "index")
        compiled = opened(tmp_path / "index")
        compiled.unsubscribe("s")
        compiled.merge()
        compiled.save(tmp_path / "index")
        compiled = opened(tmp_path / "index")
        assert compiled.match_ids(EVENT) == list(compiled.standing) == []
        assert compiled.costs().num_rows == 0

    def test_odd_ids(self, tmp_path):
        ids = ["\0", "a\nb", " ", "é", "e\u0301", "😀", "x" * 100_000, "../../etc", "\u202e", "%00", "s"]
        compiled_of(*map(plain, ids)).save(tmp_path / "index")
        compiled = opened(tmp_path / "index")
        assert list(compiled.standing) == compiled.match_ids(EVENT) == ids
        for gone in ids[::2]:
            compiled.unsubscribe(gone)
        compiled.merge()
        assert list(compiled.standing) == compiled.match_ids(EVENT) == ids[1::2]

    def test_leaving_an_opened_index_and_coming_back(self, tmp_path):
        compiled_of(plain("s"), plain("t")).save(tmp_path / "index")
        compiled = opened(tmp_path / "index")
        other = Subscription("s", (GraphPattern(arcs=(Arc(A, Q, B),)),))
        compiled.unsubscribe("s")
        compiled.subscribe(other)
        for _ in range(3):
            assert compiled.match_ids(EVENT) == ["t"]
            assert dict(compiled.standing) == {"t": plain("t"), "s": other}
            assert compiled.costs()["subscription_id"].to_pylist() == ["t", "s"]
            compiled.save(tmp_path / "index")
            compiled = opened(tmp_path / "index")

    def test_a_small_save_after_each_change(self, tmp_path):
        """Terms, atoms and tombstones come in pieces, which are put together from time to time."""
        compiled, naive = compiled_of(), Naive(Entailment(Ontology()))
        for number in range(25):
            needle = Literal(f"urn:{'o' * (number % 2)}{number // 20}")
            condition = Call(Function.STARTS, (Call(Function.STR, (B,)), needle))
            subscription = filtered(f"s{number}", condition)
            compiled.subscribe(subscription)
            naive.subscribe(subscription)
            if number % 4 == 3:
                compiled.unsubscribe(f"s{number - 2}")
                naive.unsubscribe(f"s{number - 2}")
            if number % 6 == 5:
                compiled.merge()
            compiled.save(tmp_path / "index")
            compiled = opened(tmp_path / "index")
            event = Event("e", frozenset({Triple(NamedNode("urn:s"), P, NamedNode("urn:o0123"))}))
            assert compiled.match_ids(event) == naive.match_ids(event)

    def test_a_matcher_that_is_opened_twice(self, tmp_path):
        compiled_of(plain("s")).save(tmp_path / "index")
        first, second = opened(tmp_path / "index"), opened(tmp_path / "index")
        first.subscribe(plain("first"))
        second.subscribe(plain("second"))
        first.save(tmp_path / "index")
        with pytest.raises(IndexDirectoryError, match="holds another index"):
            second.save(tmp_path / "index")
        assert second.match_ids(EVENT) == ["s", "second"]
        second.save(tmp_path / "other")
        assert opened(tmp_path / "index").match_ids(EVENT) == ["s", "first"]
        assert opened(tmp_path / "other").match_ids(EVENT) == ["s", "second"]

    def test_an_interrupted_save_is_made_up_for(self, tmp_path, monkeypatch):
        compiled = compiled_of(plain("s"), plain("t"))
        compiled.save(tmp_path / "index")
        compiled.subscribe(plain("u"))
        with monkeypatch.context() as patch:
            patch.setattr(directories.Writer, "commit", interrupted)
            for where in ("index", "elsewhere"):
                with pytest.raises(KeyboardInterrupt):
                    compiled.save(tmp_path / where)
        assert opened(tmp_path / "index").match_ids(EVENT) == ["s", "t"]
        compiled.unsubscribe("s")
        compiled.merge()
        compiled.subscribe(plain("v"))
        compiled.save(tmp_path / "index")
        assert opened(tmp_path / "index").match_ids(EVENT) == ["t", "u", "v"]

    def test_ontology_background_and_atoms_survive(self, tmp_path):
        room, floor = NamedNode("urn:room"), NamedNode("urn:floor")
        narrow, wide = NamedNode("urn:Narrow"), NamedNode("urn:Wide")
        facts = {Triple(room, Q, floor), Triple(floor, TYPE, narrow), Triple(floor, P, Literal("Größe"))}
        ontology = Ontology(subclasses=frozenset({(narrow, wide)}), background=frozenset(facts))
        query = "SELECT * { ?x <urn:p> ?r . ?r <urn:q> ?f . ?f a <urn:Wide> ; <urn:p> ?t FILTER(%s) }"
        conditions = {
            "regex": "REGEX(?t, '^gr', 'i')",
            "upper": "CONTAINS(UCASE(?t), 'SSE')",
            "either": "STR(?t) = 'x' || STRENDS(?t, 'e')",
            "kind": "ISLITERAL(?t) && DATATYPE(?t) = <http://www.w3.org/2001/XMLSchema#string>",
            "none": "STRSTARTS(?t, 'gr')",
        }
        event = Event("e", frozenset({Triple(NamedNode("urn:s"), P, room)}))
        compiled = Compiled(Entailment(ontology))
        for name, condition in conditions.items():
            compiled.subscribe(Subscription.parse(query % condition, id=name))
        expected = ["regex", "upper", "either", "kind"]
        assert compiled.match_ids(event) == expected
        compiled.save(tmp_path / "index")
        assert opened(tmp_path / "index", ontology).match_ids(event) == expected
        with pytest.raises(IndexDirectoryError, match="another ontology"):
            opened(tmp_path / "index")
        matcher = Matcher.open(tmp_path / "index")
        assert matcher.ontology == ontology
        assert matcher.match_ids(event) == expected
        assert matcher.stats()["matches"].to_pylist() == [1, 1, 1, 1, 0]

    def test_a_writer_that_is_killed(self, tmp_path):
        """A process that saves again and again is killed at some moment: its last complete save is there."""
        with writing(tmp_path / "index") as writer:
            assert writer.stdout is not None
            for _ in range(12):
                saved = int(writer.stdout.readline())
            os.kill(writer.pid, signal.SIGKILL)
            rest = writer.stdout.read().split()
        saved = max([saved, *map(int, rest)])
        compiled = opened(tmp_path / "index")
        standing = list(compiled.standing)
        assert len(standing) in (saved, saved + 1)
        assert standing == compiled.match_ids(EVENT) == [f"s{i}" for i in range(len(standing))]
        compiled.subscribe(plain("after"))
        compiled.save(tmp_path / "index")
        assert opened(tmp_path / "index").match_ids(EVENT) == [*standing, "after"]

    def test_reading_while_another_process_saves(self, tmp_path):
        with writing(tmp_path / "index") as writer:
            assert writer.stdout is not None
            for _ in range(12):
                saved = int(writer.stdout.readline())
                compiled = opened(tmp_path / "index")
                ids = compiled.match_ids(EVENT)
                assert ids == [f"s{i}" for i in range(len(ids))]
                assert len(ids) >= saved
            os.kill(writer.pid, signal.SIGKILL)


_WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_compiled_index import EVENT, compiled_of, plain

compiled = compiled_of()
number = 0
while True:
    compiled.subscribe(plain("s%d" % number))
    compiled.match_ids(EVENT)
    compiled.save(Path({directory!r}))
    number += 1
    print(number, flush=True)
"""


@contextmanager
def writing(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """Let another process subscribe and save without end; it prints how many subscriptions it has saved."""
    script = _WRITER.format(tests=str(Path(__file__).parent), directory=str(directory))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_nothing_is_read_out_of_bounds(tmp_path):
    """The crowds of the oracle, with kernels that look where they read; these have to be compiled first."""
    crowds = Path(__file__).parents[1] / "oracle" / "test_compiled_hostile.py"
    checked = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    options = ["-q", "-p", "no:cacheprovider", "-k", "TestCrowds", "-m", "not full"]
    command = [sys.executable, "-m", "pytest", *options, str(crowds)]
    assert subprocess.run(command, env=checked, check=False).returncode == 0


@pytest.mark.full
def test_memory_does_not_grow_with_events():
    compiled = compiled_of(plain("s"), filtered("t", Call(Function.CONTAINS, (B, Literal("7")))))

    def match(first: int, last: int) -> int:
        for number in range(first, last):
            text = Literal(f"{number} {'x' * 3_000}")
            list(compiled.match(Event(f"e{number}", frozenset({Triple(NamedNode(f"urn:s{number}"), P, text)}))))
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    before = match(0, 20_000)
    assert match(20_000, 60_000) - before < 40_000 * 1_000
