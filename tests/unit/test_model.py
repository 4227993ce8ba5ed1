from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from ontosub.model import Arc, Binding, Diagnostic, Event, GraphPattern, Interval, Span, Subscription, Vertex
from ontosub.model.errors import UsageError
from ontosub.model.event import find_home, vertices_of
from ontosub.model.pattern import reachable
from ontosub.model.terms import HOME, TYPE, XSD, BlankNode, Literal, NamedNode, Triple, Variable, datatype_closure

A, B, C, P = (NamedNode(f"urn:{name}") for name in "abcp")
X, Y = Variable("x"), Variable("y")
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))


class TestHome:
    def test_is_the_blank_node_labelled_h(self):
        assert find_home([Triple(A, P, HOME), Triple(HOME, P, B)]) == HOME

    def test_else_the_one_vertex_that_no_arc_enters(self):
        assert find_home([Triple(A, P, B), Triple(B, P, C)]) == A

    def test_a_loop_enters_a_vertex_like_any_arc(self):
        assert find_home([Triple(A, P, A), Triple(A, P, B)]) is None
        assert find_home([Triple(A, P, B), Triple(B, P, B)]) == A
        assert find_home([Triple(A, TYPE, A), Triple(A, P, B)]) == A

    def test_is_not_a_class_or_a_literal(self):
        assert find_home([Triple(A, TYPE, C), Triple(A, P, Literal("x"))]) == A

    def test_else_there_is_none(self):
        assert find_home([Triple(A, P, B), Triple(C, P, B)]) is None
        assert find_home([Triple(A, P, B), Triple(B, P, A)]) is None
        assert find_home([]) is None

    def test_that_is_given_wins_and_must_occur(self):
        graph = frozenset({Triple(HOME, P, B)})
        assert Event("e", graph, home=B).home == B
        with pytest.raises(UsageError, match="does not occur"):
            Event("e", graph, home=C)


def test_a_class_that_only_types_something_is_no_vertex():
    assert vertices_of([Triple(A, TYPE, C), Triple(A, P, B)]) == {A, B}


def test_an_event_cannot_live_a_negative_time():
    with pytest.raises(UsageError, match="negative"):
        Event("e", frozenset(), lifetime=timedelta(seconds=-1))


class TestInterval:
    def test_needs_time_zones(self):
        with pytest.raises(UsageError, match="no time zone"):
            Interval.instant(datetime(2024, 5, 1))

    def test_needs_order(self):
        with pytest.raises(UsageError, match="before it starts"):
            Interval(NOON, NOON - timedelta(seconds=1))

    def test_is_compared_in_utc(self):
        berlin = ZoneInfo("Europe/Berlin")  # where 02:30 comes twice on this day
        summer = datetime(2026, 10, 25, 2, 30, tzinfo=berlin)
        winter = summer.replace(minute=0, fold=1)
        assert Interval(summer, winter).end - Interval(summer, winter).start == timedelta(minutes=30)
        assert Interval.instant(summer) < Interval.instant(winter)
        with pytest.raises(UsageError, match="before it starts"):
            Interval(winter, summer)

    @pytest.mark.parametrize("moment", [datetime(1, 1, 1, tzinfo=EAST), datetime.max.replace(tzinfo=WEST)])
    def test_lies_in_the_calendar_of_utc(self, moment):
        with pytest.raises(UsageError, match="outside of the years 1 to 9999 in UTC"):
            Interval.instant(moment)

    def test_an_instant_has_equal_ends(self):
        assert Interval.instant(NOON) == Interval(NOON, NOON)


class TestPattern:
    def test_adds_the_ends_of_arcs_to_its_vertices(self):
        pattern = GraphPattern(vertices=(Vertex(X, frozenset({C})),), arcs=(Arc(X, P, Y),))
        assert [vertex.term for vertex in pattern.vertices] == [X, Y]

    def test_names_a_vertex_once(self):
        with pytest.raises(UsageError, match="twice"):
            GraphPattern(vertices=(Vertex(X), Vertex(X)))

    def test_variables_are_those_of_vertices_and_properties(self):
        pattern = GraphPattern(arcs=(Arc(X, Variable("p"), BlankNode("b")), Arc(X, P, Y)))
        assert pattern.variables == (X, Y, Variable("p"))
        assert pattern.projected == pattern.variables

    def test_reach_follows_arcs_forward(self):
        assert reachable(X, [Arc(X, P, Y), Arc(A, P, X)]) == {X, Y}

    def test_positions_take_no_part_in_equality(self):
        assert Arc(X, P, Y, span=Span(1, 1, 1, 2)) == Arc(X, P, Y)


def test_a_binding_is_found_by_name_and_by_variable():
    binding = Binding(x=A)
    assert binding["x"] == binding["?x"] == binding[X] == A
    assert binding == {"x": A}
    for absent in ("y", Y, "?y", 3):
        with pytest.raises(KeyError):
            binding[absent]


def test_a_subscription_needs_an_id_and_a_pattern():
    with pytest.raises(UsageError, match="id"):
        Subscription("", (GraphPattern(),))
    with pytest.raises(UsageError, match="no pattern"):
        Subscription("s", ())


def test_datatypes_derive_from_each_other():
    assert datatype_closure(XSD["byte"]) >= {XSD[n] for n in ("byte", "short", "int", "long", "integer", "decimal")}
    assert XSD["decimal"] not in datatype_closure(XSD["double"])


def test_a_diagnostic_shows_where_it_hurts():
    text = "SELECT ?e\nWHERE { ?e a so:Alarm }"
    start = text.index("so:Alarm")
    shown = str(
        Diagnostic('prefix "so" is not declared', hint="Declare it.", text=text, span=Span.of(text, start, start + 8))
    )
    assert shown == (
        'line 2, column 14: prefix "so" is not declared\n'
        "  WHERE { ?e a so:Alarm }\n"
        "               ^^^^^^^^\n"
        "hint: Declare it."
    )


def test_a_diagnostic_cuts_long_lines():
    text = "x" * 10_000
    shown = str(Diagnostic("too long", text=text, span=Span(1, 5_000, 1, 5_002)))
    assert max(len(line) for line in shown.splitlines()) < 130
    assert "^^" in shown
