"""The papers' own examples."""

from contextlib import nullcontext

import pytest

from ontosub import Event, Matcher, Ontology, OntosubWarning, Subscription
from ontosub.model.terms import NamedNode

PREFIXES = """
PREFIX : <http://auction.example/>
PREFIX units: <http://units.example/>
"""

AUCTION = Ontology.read(
    """
    @prefix : <http://auction.example/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Computer rdfs:subClassOf :Product . :Desktop rdfs:subClassOf :Computer . :Notebook rdfs:subClassOf :Computer .
    :HardDisk rdfs:subClassOf :Product . :Customer rdfs:subClassOf :Person . :Selling rdfs:subClassOf :Offer .
    :MoneyValue a rdfs:Class . :Company a rdfs:Class .
    :cellPhoneNumber rdfs:subPropertyOf :telephoneNumber .
    :target rdfs:range :Product . :price rdfs:range :MoneyValue . :seller rdfs:range :Customer .
    :currency a <http://www.w3.org/1999/02/22-rdf-syntax-ns#Property> . :manufacture rdfs:range :Company .
    :part rdfs:domain :Product . :name rdfs:domain :Customer . :size rdfs:domain :HardDisk .
    """,
    format="text/turtle",
)


def selling(product: str, price: str, seller: str = ":name 'Jinling Wang'") -> Event:
    """Figure 1 of the OPS paper, with the product's class and the price left open."""
    return Event.read(
        f"""
        @prefix : <http://auction.example/> . @prefix units: <http://units.example/> .
        @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        _:H a :Selling ; :seller _:s ; :target _:t ; :price _:m .
        _:s a :Customer ; {seller} .
        _:t a {product} ; :manufacture :IBM ; :part _:d .
        _:d a :HardDisk ; :size "40G" ; :manufacture :IBM .
        :IBM a :Company .
        _:m a :MoneyValue ; :currency units:dollar ; rdf:value {price} .
        """,
        format="text/turtle",
        id="offer",
    )


COMPUTERS_UNDER_400 = """
(_:H, ?1, (:Selling, :target, :Computer))
(_:H, ?2, (:Selling, :price, :MoneyValue))
(?2, units:dollar, (:MoneyValue, :currency, daml:Thing))
(?2, ?3, (:MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)
"""


def matches(ontology: Ontology, event: Event, text: str, language: str, prefixes: str = PREFIXES) -> list:
    matcher = Matcher(ontology)
    matcher.subscribe(Subscription.parse(prefixes + text, language=language, id="s"))
    return [binding for match in matcher.match(event) for binding in match.bindings]


class TestOps:
    def test_a_computer_for_450_is_not_under_400(self):
        assert not matches(AUCTION, selling(":Desktop", "450.00"), COMPUTERS_UNDER_400, "ops")

    def test_one_for_350_is(self):
        (binding,) = matches(AUCTION, selling(":Desktop", "350.00"), COMPUTERS_UNDER_400, "ops")
        assert set(binding) == {"1", "2", "3"}
        assert binding["3"].value == "350.00"

    def test_an_integer_is_a_decimal(self):
        assert matches(AUCTION, selling(":Desktop", "350"), COMPUTERS_UNDER_400, "ops")

    def test_computer_catches_notebook(self):
        assert matches(AUCTION, selling(":Notebook", "350.00"), COMPUTERS_UNDER_400, "ops")

    def test_but_not_a_hard_disk(self):
        assert not matches(AUCTION, selling(":HardDisk", "350.00"), COMPUTERS_UNDER_400, "ops")

    def test_another_currency_is_not_dollars(self):
        event = selling(":Desktop", "350.00")
        text = COMPUTERS_UNDER_400.replace("units:dollar", "units:euro")
        assert not matches(AUCTION, event, text, "ops")

    @pytest.mark.parametrize("language", ["ops", "sparql"])
    def test_telephone_number_catches_cell_phone_number(self, language):
        event = selling(":Desktop", "350.00", ":cellPhoneNumber '123456789'")
        text = {
            "ops": "(_:H, ?s, (:Selling, :seller, :Customer)) "
            "(?s, '123456789', (:Customer, :telephoneNumber, xsd:string))",
            "sparql": "SELECT ?s { ?s :telephoneNumber '123456789' }",
        }[language]
        assert matches(AUCTION, event, text, language)

    @pytest.mark.parametrize("asked", [":Desktop", ":Gift", ":Product"])
    def test_a_vertex_with_two_classes_matches_both(self, asked):
        event = selling(":Desktop, :Gift", "350.00")
        with pytest.warns(OntosubWarning, match="Gift") if asked == ":Gift" else nullcontext():
            assert matches(AUCTION, event, f"(_:H, ?1, (:Selling, :target, {asked}))", "ops")

    def test_two_vertices_never_share_an_image(self):
        event = Event.read(
            "@prefix : <http://auction.example/> . _:H a :Offer ; :target _:t . _:t a :Product .", "text/turtle"
        )
        twice = "(_:H, ?1, (:Offer, :target, :Product)) (_:H, ?2, (:Offer, :target, :Product))"
        assert not matches(AUCTION, event, twice, "ops")
        assert matches(AUCTION, event, "SELECT * { ?h :target ?1, ?2 }", "sparql")


PROVIDERS = "PREFIX : <http://mdv.example/schema#>\n"
FIGURE_1 = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://mdv.example/schema#"
         xmlns:s="http://mdv.example/schema#" xml:base="http://mdv.example/doc.rdf">
  <CycleProvider rdf:ID="host">
    <serverHost>pirates.uni-passau.de</serverHost>
    <serverPort>5874</serverPort>
    <serverInformation>
      <ServerInformation rdf:ID="info" s:memory="92" s:cpu="600" />
    </serverInformation>
  </CycleProvider>
</rdf:RDF>
"""
EXAMPLE_1 = """
search    CycleProvider c
register  c
where     c.serverHost contains 'uni-passau.de'
          and c.serverInformation.memory > 64
"""


class TestMdv:
    def registered(self, rule: str) -> list[str]:
        event = Event.read(FIGURE_1, format="application/rdf+xml")
        return [binding["c"].value for binding in matches(Ontology.read(), event, rule, "mdv", PROVIDERS)]

    def test_example_1_matches_figure_1(self):
        assert self.registered(EXAMPLE_1) == ["http://mdv.example/doc.rdf#host"]

    def test_its_normalised_form_means_the_same(self):
        assert self.registered(
            """search CycleProvider c, ServerInformation s register c
               where c.serverHost contains 'uni-passau.de' and c.serverInformation = s and s.memory > 64"""
        ) == ["http://mdv.example/doc.rdf#host"]

    def test_the_rule_of_section_3_3_1(self):
        rule = """search CycleProvider c, ServerInformation s register c
                  where c.serverHost contains 'uni-passau.de' and c.serverInformation = s
                  and s.memory > 64 and s.cpu > """
        assert self.registered(rule + "500")
        assert not self.registered(rule + "600")

    def test_more_memory_than_there_is(self):
        assert not self.registered(EXAMPLE_1.replace("64", "92"))

    def test_a_resource_by_its_uri_reference(self):
        assert self.registered("search CycleProvider c register c where c = 'http://mdv.example/doc.rdf#host'")


NEWS = Ontology.read(
    """
    @prefix : <http://news.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    :Columnist rdfs:subClassOf :Journalist . :Column rdfs:subClassOf :Article .
    :writes owl:inverseOf :writtenBy . :articleName rdfs:domain :Article .
    """,
    format="text/turtle",
)
NEWS_EVENT = Event.read(
    """
    @prefix : <http://news.example/> .
    :a1 a :Article ; :articleName 'ICDE2009 CFP' . :a2 a :Column ; :articleName 'Other' ; :writtenBy :mia .
    :mia a :Columnist .
    """,
    format="text/turtle",
)


class TestIBroker:
    """Example 1 of the iBroker paper: three profiles."""

    def answers(self, text: str) -> list[dict[str, str]]:
        found = matches(NEWS, NEWS_EVENT, text, "sparql", "PREFIX : <http://news.example/>\n")
        return sorted(({k: v.value.rsplit("/")[-1] for k, v in b.items()} for b in found), key=str)

    def test_q1_a_class_with_its_subclasses(self):
        assert self.answers("SELECT ?x { ?x a :Article }") == [{"x": "a1"}, {"x": "a2"}]

    def test_q2_a_class_and_a_property_through_its_inverse(self):
        assert self.answers("SELECT ?x ?y { ?x a :Columnist . ?x :writes ?y }") == [{"x": "mia", "y": "a2"}]

    def test_q3_a_class_and_a_value(self):
        assert self.answers("SELECT ?x { ?x a :Article . ?x :articleName 'ICDE2009 CFP' }") == [{"x": "a1"}]


SENSORS = """
@prefix : <http://sensors.example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:partOf a owl:TransitiveProperty . :in rdfs:subPropertyOf :partOf . :hasPart owl:inverseOf :partOf .
:connectedTo a owl:SymmetricProperty . :observedBy rdfs:range :Sensor .
"""
OBSERVATION = "@prefix : <http://sensors.example/> . :obs1 :observedBy :sensor7 ; :value 21.5 ; :near :corridor1 ."


class TestBackground:
    def ask(self, background: str, pattern: str) -> list:
        ontology = Ontology.read(SENSORS + background, format="text/turtle")
        event = Event.read(OBSERVATION, format="text/turtle")
        return matches(ontology, event, pattern, "sparql", "PREFIX : <http://sensors.example/>\n")

    def test_transitive_across_event_and_background(self):
        facts = ":sensor7 :in :room5 . :room5 :partOf :building2 ."
        assert self.ask(facts, "SELECT ?o { ?o :observedBy ?s . ?s :partOf :building2 }")

    def test_inverse_in_the_background(self):
        facts = ":room5 :hasPart :sensor7 . :building2 :hasPart :room5 ."
        assert self.ask(facts, "SELECT ?o { ?o :observedBy ?s . ?s :partOf :building2 }")

    def test_symmetric_in_the_background(self):
        facts = ":room5 :connectedTo :corridor1 ."
        assert self.ask(facts, "SELECT ?o { ?o :near ?c . ?c :connectedTo :room5 }")

    def test_a_transitive_chain_that_begins_in_the_event(self):
        ontology = Ontology.read(SENSORS + ":room5 :partOf :building2 .", format="text/turtle")
        event = Event.read("@prefix : <http://sensors.example/> . :o :by :s . :s :partOf :room5 .", "text/turtle")
        assert matches(
            ontology,
            event,
            "ASK { ?s :partOf <http://sensors.example/building2> }",
            "sparql",
            PREFIXES.replace("http://auction.example/", "http://sensors.example/"),
        )

    def test_domain_and_range_across_both(self):
        assert self.ask("", "SELECT ?s { ?s a :Sensor }")

    def test_what_the_event_does_not_lead_to_is_not_there(self):
        facts = (
            ":sensor9 :in :room6 . :room6 :locatedIn :building2 . :sensor7 :in :room5 . :room5 :locatedIn :building2 ."
        )
        assert not self.ask(facts, "SELECT ?s { ?s :in :room6 }")
        assert [b["r"] for b in self.ask(facts, "SELECT ?r { :sensor7 :in ?r }")] == [
            NamedNode("http://sensors.example/room5")
        ]
