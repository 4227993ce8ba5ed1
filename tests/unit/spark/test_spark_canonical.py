"""A decoded event is the event that was read: the same graph, and the same home vertex."""

import pytest
from hypothesis import given, settings

from generators import events
from ontosub import Event
from ontosub.model.errors import UsageError
from ontosub.spark.canonical import canonical

PROVENANCE = b"""\
GRAPH <urn:g> { <urn:sale> <urn:target> <urn:pc> }
<urn:g> <urn:publishedBy> <urn:shop> .
"""


def again(event: Event) -> Event:
    content_type, data = canonical(event)
    return Event.read(data, content_type, id=event.id)


@settings(max_examples=100)
@given(events)
def test_read_again(event):
    read = again(event)
    assert (read.graph, read.home) == (event.graph, event.home)


def test_what_is_said_about_a_graph_leaves_its_home_alone():
    [event] = Event.read_stream(PROVENANCE, "application/trig")
    assert str(event.home) == "<urn:sale>"
    read = again(event)
    assert (read.graph, read.home) == (event.graph, event.home)


def test_a_home_that_the_graph_does_not_tell_is_refused():
    event = Event.read(b"<urn:a> <urn:p> <urn:b> . <urn:b> <urn:p> <urn:a> .", "ttl", home="urn:a", id="loop")
    with pytest.raises(UsageError, match="the home vertex <urn:a> cannot be told"):
        canonical(event)
