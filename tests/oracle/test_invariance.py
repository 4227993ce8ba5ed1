"""Naive matching does not depend on how an event is written down."""

from hypothesis import given, settings
from hypothesis import strategies as st

from generators import events, ontologies, ops_patterns, patterns
from ontosub import Event, Matcher, Subscription
from ontosub.formats.write import write
from ontosub.model.terms import HOME, BlankNode, Triple

any_pattern = st.one_of(patterns(), ops_patterns())


def answers(ontology, pattern, event) -> list[str]:
    """Return the answers as sorted text."""
    matcher = Matcher(ontology)
    matcher._algorithm.subscribe(Subscription("s", (pattern,)))
    return sorted(
        repr(sorted((name, str(term)) for name, term in binding.items()))
        for match in matcher.match(event)
        for binding in match.bindings
    )


def renamed(event: Event) -> Event:
    """Give every blank node but the home another label, in reverse order."""
    labels = sorted(
        {t for triple in event.graph for t in (triple.subject, triple.object) if isinstance(t, BlankNode)}, key=str
    )
    new = {old: BlankNode(f"r{len(labels) - i}") for i, old in enumerate(labels)}
    new[HOME] = HOME
    graph = frozenset(
        Triple(new.get(t.subject, t.subject), t.predicate, new.get(t.object, t.object)) for t in event.graph
    )
    return Event("e", graph, home=new.get(event.home, event.home)), {str(v): str(k) for k, v in new.items()}


@settings(max_examples=150, deadline=None)
@given(ontologies, any_pattern, events)
def test_blank_nodes_can_be_renamed(ontology, pattern, event):
    other, back = renamed(event)
    translated = []
    for answer in answers(ontology, pattern, other):
        rows = [(name, back.get(term, term)) for name, term in eval(answer)]
        translated.append(repr(rows))
    assert sorted(translated) == answers(ontology, pattern, event)


@settings(max_examples=100, deadline=None)
@given(ontologies, any_pattern, events, st.randoms(use_true_random=False))
def test_triples_can_be_reordered_and_repeated(ontology, pattern, event, random):
    lines = [f"{triple} ." for triple in event.graph] * 2
    random.shuffle(lines)
    other = Event.read("\n".join(lines), "application/n-triples", id="e", home=event.home)
    assert answers(ontology, pattern, other) == answers(ontology, pattern, event)


@settings(max_examples=60, deadline=None)
@given(
    ontologies,
    any_pattern,
    events,
    st.sampled_from(["text/turtle", "application/rdf+xml", "application/ld+json", "application/x-jelly-rdf"]),
)
def test_the_syntax_does_not_matter(ontology, pattern, event, syntax):
    other = Event.read(write(event.graph, syntax), syntax, id="e", home=event.home)
    assert answers(ontology, pattern, other) == answers(ontology, pattern, event)
