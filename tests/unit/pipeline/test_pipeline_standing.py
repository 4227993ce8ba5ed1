import os
from pathlib import Path

import pytest

from ontosub import Matcher, Ontology, Subscription
from ontosub.model.errors import IndexDirectoryError, UsageError
from ontosub.pipeline.snapshots import Snapshots
from ontosub.pipeline.standing import SavedIndex
from ontosub.pipeline.watched_files import WatchedFiles

ANY = "SELECT ?s { ?s ?p ?o }"


class Watched:
    """Watched files, what was said of them, and the ids that a worker would find."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.said: list[str] = []
        self.ontology = Ontology.read(folder / "ontology.ttl")
        paths = [folder / name for name in names or ("rules",)]
        self.files = WatchedFiles(
            paths, None, self.ontology, folder / "index", lambda told: self.said.append(told.message)
        )

    @property
    def ids(self) -> set[str]:
        self.files.refresh()
        return set(Matcher.open(self.files.index().directory).subscriptions)


class TestWatchedFiles:
    def test_come_and_go(self, folder):
        watched = Watched(folder)
        assert watched.ids == {"cheap", "all"}
        (folder / "rules" / "new.rq").write_text(ANY)
        assert watched.ids == {"cheap", "all", "new"}
        (folder / "rules" / "all.rq").unlink()
        assert watched.ids == {"cheap", "new"}
        for path in (folder / "rules").iterdir():
            path.unlink()
        assert watched.ids == set()
        assert watched.said == []

    def test_nothing_is_saved_when_nothing_changes(self, folder):
        watched = Watched(folder)
        before = (folder / "index" / "manifest").read_bytes()
        assert watched.ids == {"cheap", "all"}
        os.utime(folder / "rules" / "all.rq", ns=(0, 0))
        assert watched.ids == {"cheap", "all"}
        assert (folder / "index" / "manifest").read_bytes() == before

    def test_changes(self, folder):
        watched = Watched(folder)
        (folder / "rules" / "all.rq").write_text(ANY)
        assert watched.ids == {"cheap", "all"}
        assert Matcher.open(folder / "index").subscriptions["all"].text == ANY

    def test_a_faulty_change_is_told_and_leaves_what_was(self, folder):
        watched = Watched(folder)
        former = Matcher.open(folder / "index").subscriptions["all"]
        (folder / "rules" / "all.rq").write_text("SELECT ?s { ?s")
        (folder / "rules" / "new.rq").write_text(ANY)
        assert watched.ids == {"cheap", "all", "new"}
        assert Matcher.open(folder / "index").subscriptions["all"] == former
        assert len(watched.said) == 1
        assert watched.ids == {"cheap", "all", "new"}
        assert len(watched.said) == 1

    def test_one_that_the_matcher_refuses(self, folder):
        watched = Watched(folder)
        refused = "SELECT ?x { ?x <urn:p> ?o FILTER(<urn:f>(?o)) }"
        (folder / "rules" / "all.rq").write_text(refused)
        assert watched.ids == {"cheap", "all"}
        assert Matcher.open(folder / "index").subscriptions["all"].text != refused
        assert len(watched.said) == 1

    def test_rules_that_extend_a_changed_rule_change(self, folder):
        base, more = folder / "rules" / "base.mdv", folder / "rules" / "more.mdv"
        base.write_text("PREFIX : <urn:> search :Computer c register c where c.:price < 400")
        more.write_text("PREFIX : <urn:> search base b register b where b.:price > 10")
        watched = Watched(folder)
        former = Matcher.open(folder / "index").subscriptions["more"]
        base.write_text("PREFIX : <urn:> search :Computer c register c where c.:price < 300")
        assert watched.ids == {"cheap", "all", "base", "more"}
        assert Matcher.open(folder / "index").subscriptions["more"] != former

    def test_reopened_after_a_restart(self, folder):
        Watched(folder)
        generation = (folder / "index" / "manifest").read_bytes()
        assert Watched(folder).ids == {"cheap", "all"}
        assert (folder / "index" / "manifest").read_bytes() == generation
        (folder / "rules" / "all.rq").unlink()
        assert Watched(folder).ids == {"cheap"}

    def test_another_ontology_makes_another_index(self, folder):
        Watched(folder)
        (folder / "ontology.ttl").write_text("<urn:A> a <http://www.w3.org/2000/01/rdf-schema#Class> .")
        assert Watched(folder).ids == {"cheap", "all"}

    def test_bad_starts(self, folder):
        with pytest.raises(UsageError, match=r"subscriptions: .*nowhere"):
            Watched(folder, "nowhere")
        (folder / "empty").mkdir()
        with pytest.raises(UsageError, match="subscriptions: there are none"):
            Watched(folder, "empty")
        (folder / "rules" / "bad.rq").write_text("SELECT")
        with pytest.raises(UsageError, match="1 of 3"):
            Watched(folder)


class TestComposites:
    INSIDE = "cheap before sparql { SELECT ?y { ?y a <urn:Computer> } } within 1 h"

    def test_come_and_go_with_what_stands_inside(self, folder):
        watched, path = Watched(folder), folder / "rules" / "pair.composite"
        path.write_text(self.INSIDE)
        (inside,) = watched.ids - {"cheap", "all"}
        assert watched.files.composites.keys() == {"pair"}
        (folder / "rules" / "other.composite").write_text(self.INSIDE.replace("1 h", "2 h"))
        path.unlink()
        assert watched.ids == {"cheap", "all", inside}
        assert watched.files.composites.keys() == {"other"}
        (folder / "rules" / "other.composite").write_text("cheap before all within 1 h")
        assert watched.ids == {"cheap", "all"}
        assert watched.said == []

    def test_may_name_each_other_and_what_comes_with_them(self, folder):
        watched = Watched(folder)
        (folder / "rules" / "b.composite").write_text("a before new within 1 h")
        (folder / "rules" / "a.composite").write_text("cheap before all within 1 h")
        (folder / "rules" / "new.rq").write_text(ANY)
        assert watched.ids == {"cheap", "all", "new"}
        assert watched.files.composites["b"].subscription_ids == {"cheap", "all", "new"}
        former = watched.files.composites["b"]
        (folder / "rules" / "a.composite").write_text("cheap before all within 2 h")
        watched.files.refresh()
        assert watched.files.composites["b"] != former

    def test_a_name_that_goes_is_told_and_leaves_what_was(self, folder):
        (folder / "rules" / "pair.composite").write_text("cheap before all within 1 h")
        watched = Watched(folder)
        former = watched.files.composites["pair"]
        (folder / "rules" / "all.rq").unlink()
        assert watched.ids == {"cheap"}
        assert watched.files.composites == {"pair": former}
        assert watched.said == ['there is no subscription "all"']

    def test_a_subscription_becomes_a_composite_and_the_other_way_round(self, folder):
        watched = Watched(folder)
        (folder / "rules" / "x.rq").write_text(ANY)
        assert watched.ids == {"cheap", "all", "x"}
        (folder / "rules" / "x.rq").unlink()
        (folder / "rules" / "x.composite").write_text(self.INSIDE)
        assert "x" not in watched.ids
        (folder / "rules" / "x.composite").unlink()
        (folder / "rules" / "x.rq").write_text(ANY)
        assert watched.ids == {"cheap", "all", "x"}
        assert watched.files.composites == {}
        assert watched.said == []

    def test_reopened_after_a_restart(self, folder):
        (folder / "rules" / "pair.composite").write_text(self.INSIDE)
        former = Watched(folder)
        generation = (folder / "index" / "manifest").read_bytes()
        watched = Watched(folder)
        assert watched.ids == former.ids
        assert watched.files.composites == former.files.composites
        assert (folder / "index" / "manifest").read_bytes() == generation

    def test_two_files_with_one_id(self, folder):
        """It is told; what stood stays, and all others go on changing."""
        watched, rules = Watched(folder), folder / "rules"
        (rules / "pair.composite").write_text(self.INSIDE)
        standing = watched.ids
        for name in ("all.composite", "sub/pair.composite"):
            (rules / name).parent.mkdir(exist_ok=True)
            (rules / name).write_text("cheap before cheap within 1 h")
        (rules / "new.rq").write_text(ANY)
        assert watched.ids == standing | {"new"}
        assert watched.files.composites.keys() == {"pair"}
        assert sorted(told.partition("id ")[2] for told in watched.said) == ["'all': rename one", "'pair': rename one"]
        assert watched.ids == standing | {"new"}
        assert len(watched.said) == 2  # not again before something changes
        (rules / "all.composite").unlink()
        (rules / "pair.composite").unlink()
        assert watched.ids == {"cheap", "all", "new"}
        assert watched.files.composites["pair"].subscription_ids == {"cheap"}
        (rules / "all.rq").unlink()
        assert watched.ids == {"cheap", "new"}

    def test_one_whose_inside_the_matcher_refuses_stays_as_it_was(self, folder):
        path = folder / "rules" / "pair.composite"
        path.write_text(self.INSIDE)
        watched = Watched(folder)
        standing, former = watched.ids, watched.files.composites["pair"]
        path.write_text("cheap before sparql { SELECT ?y { ?y <urn:p> ?o FILTER(<urn:f>(?o)) } } within 1 h")
        assert watched.ids == standing
        assert watched.files.composites == {"pair": former}
        assert len(watched.said) == 1

    def test_is_made_of_what_stands_not_of_what_was_refused(self, folder):
        (folder / "rules" / "pair.composite").write_text("cheap before all within 1 h")
        watched = Watched(folder)
        former = watched.files.composites["pair"]
        (folder / "rules" / "all.rq").write_text("SELECT ?other { ?other <urn:p> ?o FILTER(<urn:f>(?o)) }")
        assert watched.ids == {"cheap", "all"}
        assert watched.files.composites == {"pair": former}

    def test_nothing_hangs_or_ends_it(self, folder):
        watched, rules = Watched(folder), folder / "rules"
        for number in range(40):
            nested = "(" * 28 + f"c{number + 1}" + " times 2)" * 28
            (rules / f"c{number}.composite").write_text(nested)
        (rules / "c40.composite").write_text("cheap")
        (rules / "bytes.composite").write_bytes(b"\xff\xfe")
        assert watched.ids == {"cheap", "all"}
        assert len(watched.said) >= 40


class TestSnapshots:
    @pytest.fixture
    def saved(self, tmp_path) -> Matcher:
        matcher = Matcher(algorithm="compiled")
        matcher.subscribe(Subscription.parse(ANY, id="a"))
        matcher.save(tmp_path / "index")
        return matcher

    def test_what_is_pinned_stays(self, tmp_path, saved):
        standing = SavedIndex(tmp_path / "index", None)
        snapshots = Snapshots(tmp_path / "snapshots", standing.index())
        first = snapshots.pin()
        assert snapshots.pin() == first
        pinned = first.current()
        saved.subscribe(Subscription.parse(ANY, id="b"))
        saved.unsubscribe("a")
        saved.merge()
        saved.save(tmp_path / "index")
        assert set(Matcher.open(first.directory).subscriptions) == {"a"}
        second = snapshots.pin()
        assert set(second.current().subscriptions) == {"b"}
        assert set(pinned.subscriptions) == {"a"}
        assert len(list((tmp_path / "snapshots").iterdir())) == 1

    def test_an_index_of_another_ontology_is_refused(self, tmp_path, saved):
        snapshots = Snapshots(tmp_path / "snapshots", SavedIndex(tmp_path / "index", None).index())
        snapshots.pin()
        other = Matcher(
            Ontology.read("<urn:B> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:A> .", format="ttl")
        )
        other.subscribe(Subscription.parse(ANY, id="a"))
        other.save(tmp_path / "other")
        (tmp_path / "index").rename(tmp_path / "former")
        (tmp_path / "other").rename(tmp_path / "index")
        with pytest.raises(IndexDirectoryError, match="another ontology"):
            snapshots.pin()
