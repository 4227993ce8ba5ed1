import pytest

from ontosub import Ontology, OntosubWarning
from ontosub.model import MetaStatement
from ontosub.model.errors import FormatError, OntologyError
from ontosub.model.terms import OWL, RDFS, XSD, Literal, NamedNode, Triple

PREFIXES = """
@prefix : <http://x/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix os: <urn:ontosub:ns#> .
"""


def read(text: str) -> Ontology:
    return Ontology.read(PREFIXES + text, format="text/turtle")


def x(name: str) -> NamedNode:
    return NamedNode("http://x/" + name)


class TestReading:
    def test_nothing_gives_the_empty_ontology(self):
        assert Ontology.read() == Ontology()

    def test_rdfs(self):
        ontology = read(":A rdfs:subClassOf :B . :p rdfs:subPropertyOf :q ; rdfs:domain :A ; rdfs:range xsd:string .")
        assert ontology.subclasses == {(x("A"), x("B"))}
        assert ontology.subproperties == {(x("p"), x("q"))}
        assert ontology.domains == {(x("p"), x("A"))}
        assert ontology.ranges == {(x("p"), XSD["string"])}
        assert not ontology.background

    def test_owl(self):
        ontology = read(
            ":A owl:equivalentClass :B . :p owl:equivalentProperty :q ; owl:inverseOf :r ; a owl:TransitiveProperty ."
            ":s a owl:SymmetricProperty, owl:ObjectProperty . :A a owl:Class ."
        )
        assert ontology.subclasses == {(x("A"), x("B")), (x("B"), x("A"))}
        assert ontology.subproperties == {(x("p"), x("q")), (x("q"), x("p"))}
        assert ontology.inverses == {(x("p"), x("r"))}
        assert (ontology.transitive, ontology.symmetric) == ({x("p")}, {x("s")})
        assert ontology.classes == {x("A")}
        assert ontology.properties == {x("p"), x("s")}

    def test_daml_oil_is_read_as_its_twins(self):
        daml = """<?xml version="1.0"?>
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://x/"
          xmlns:daml="http://www.daml.org/2001/03/daml+oil#" xml:base="http://x/">
          <daml:Class rdf:about="A"><daml:subClassOf rdf:resource="B"/>
            <daml:sameClassAs rdf:resource="C"/>
            <daml:subClassOf><daml:Restriction><daml:onProperty rdf:resource="p"/><daml:toClass rdf:resource="D"/>
            </daml:Restriction></daml:subClassOf>
            <daml:unionOf rdf:parseType="daml:collection"><daml:Class rdf:about="E"/></daml:unionOf>
          </daml:Class>
          <daml:TransitiveProperty rdf:about="p"><daml:samePropertyAs rdf:resource="q"/></daml:TransitiveProperty>
          <daml:ObjectProperty rdf:about="p"><daml:equivalentTo rdf:resource="r"/></daml:ObjectProperty>
        </rdf:RDF>"""
        ontology = Ontology.read(daml, format="application/rdf+xml")
        assert ontology.subclasses == {(x("A"), x("B")), (x("A"), x("C")), (x("C"), x("A"))}
        assert ontology.subproperties == {(x("p"), x("q")), (x("q"), x("p")), (x("p"), x("r")), (x("r"), x("p"))}
        assert ontology.transitive == {x("p")}
        assert MetaStatement(x("A"), x("p"), x("D")) in ontology.meta_statements
        assert {x("A"), x("E")} <= ontology.classes
        assert not ontology.background

    @pytest.mark.parametrize("draft", ["1999", "2000/10"])
    def test_the_drafts_of_xml_schema_are_read_as_the_recommendation(self, draft):
        ontology = read(
            f"@prefix old: <http://www.w3.org/{draft}/XMLSchema#> . :p rdfs:range old:decimal ."
            ":q rdfs:range old:timeInstant . :a :p '350.00'^^old:decimal ."
        )
        assert ontology.ranges == {(x("p"), XSD["decimal"]), (x("q"), XSD["dateTime"])}
        assert ontology.background == {Triple(x("a"), x("p"), Literal("350.00", datatype=XSD["decimal"]))}

    def test_files_of_several_syntaxes_make_one_ontology(self, tmp_path):
        (tmp_path / "a.ttl").write_text(PREFIXES + ":A rdfs:subClassOf :B .")
        (tmp_path / "b.nt").write_text(f"<http://x/B> {RDFS['subClassOf']} <http://x/C> .")
        (tmp_path / "c.owl").write_text(PREFIXES + ":C rdfs:subClassOf :D .")
        ontology = Ontology.read(tmp_path / "a.ttl", str(tmp_path / "b.nt"), tmp_path / "c.owl")
        assert len(ontology.subclasses) == 3

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(OntologyError, match=r"cannot read .*nowhere"):
            Ontology.read(tmp_path / "nowhere.ttl")

    def test_malformed_data_is_positioned(self):
        with pytest.raises(FormatError) as caught:
            Ontology.read(":A a", format="text/turtle")
        assert caught.value.line == 1

    def test_blank_nodes_of_two_sources_do_not_meet(self):
        text = "_:b <http://x/p> <http://x/%d> ."
        ontology = Ontology.read(text % 1, text % 2, format="text/turtle")
        assert len({triple.subject for triple in ontology.background}) == 2

    def test_a_blank_node_inside_a_triple_term_is_the_one_outside(self):
        text = "_:b <http://x/p> <<( _:b <http://x/p> _:b )>> ."
        ontology = Ontology.read(text, text, format="text/turtle")
        inside = [(t.object.subject, t.object.object) for t in ontology.background]
        assert inside == [(t.subject, t.subject) for t in ontology.background]
        assert len(set(inside)) == 2

    def test_reading_twice_gives_the_same(self):
        text = ":a :p [ :q [] ] ."
        assert read(text) == read(text)


class TestBlankNodesInAxioms:
    def test_hide_nothing(self):
        ontology = read(
            ":A rdfs:subClassOf _:c . _:c rdfs:subClassOf _:d . _:d rdfs:subClassOf :B ."
            ":p rdfs:subPropertyOf _:q . _:q rdfs:domain :A ; rdfs:range :B ; rdfs:subPropertyOf :r ."
        )
        assert ontology.subclasses == {(x("A"), x("B"))}
        assert ontology.subproperties == {(x("p"), x("r"))}
        assert ontology.domains == {(x("p"), x("A"))}
        assert ontology.ranges == {(x("p"), x("B"))}

    def test_an_inverse_of_an_inverse_is_no_inverse(self):
        assert not read(":p owl:inverseOf _:i . _:i owl:inverseOf :q .").inverses


class TestImports:
    def test_among_the_given_sources_are_resolved(self, tmp_path):
        (tmp_path / "a.ttl").write_text(
            "<http://x/a> <http://www.w3.org/2002/07/owl#imports> <http://x/b>, <http://y/c.ttl> ."
        )
        (tmp_path / "b.ttl").write_text("<http://x/b> a <http://www.w3.org/2002/07/owl#Ontology> .")
        (tmp_path / "c.ttl").write_text("")
        ontology = Ontology.read(*(tmp_path / f"{name}.ttl" for name in "abc"))
        assert not ontology.missing_imports

    def test_the_languages_themselves_are_known(self):
        daml = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
          xmlns:daml="http://www.daml.org/2001/03/daml+oil#"><daml:Ontology rdf:about="http://x/">
          <daml:imports rdf:resource="http://www.daml.org/2001/03/daml+oil"/>
          <daml:imports rdf:resource="http://www.daml.org/2001/03/daml+oil.daml"/>
          <daml:imports rdf:resource="http://www.w3.org/2000/10/XMLSchema#"/>
          <daml:imports rdf:resource="http://www.w3.org/2002/07/owl"/></daml:Ontology></rdf:RDF>"""
        assert not Ontology.read(daml, format="application/rdf+xml").missing_imports

    def test_of_daml_oil_are_imports(self, tmp_path):
        (tmp_path / "units.daml").write_text("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>")
        text = (
            "<http://x/a> <http://www.daml.org/2001/03/daml+oil#imports> <http://x/units.daml>, <http://x/gone.daml> ."
        )
        (tmp_path / "a.ttl").write_text(text)
        with pytest.warns(OntosubWarning, match=r"gone\.daml"):
            ontology = Ontology.read(tmp_path / "a.ttl", tmp_path / "units.daml")
        assert ontology.missing_imports == {"http://x/gone.daml"}

    def test_others_are_reported_and_never_fetched(self):
        with pytest.warns(OntosubWarning, match="is not fetched"):
            ontology = read("<http://x/a> owl:imports <http://127.0.0.1:9/b> .")
        assert ontology.missing_imports == {"http://127.0.0.1:9/b"}
        assert any("127.0.0.1:9/b" in finding.message for finding in ontology.check())


class TestMetaStatements:
    def test_from_domain_and_range(self):
        ontology = read(":p rdfs:domain :A ; rdfs:range :B . :q rdfs:domain :A . :r rdfs:range :B .")
        assert ontology.meta_statements == {
            MetaStatement(x("A"), x("p"), x("B")),
            MetaStatement(x("A"), x("q"), OWL["Thing"]),
            MetaStatement(OWL["Thing"], x("r"), x("B")),
        }

    @pytest.mark.parametrize(
        "axiom",
        [
            ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom :B ] .",
            ":A owl:equivalentClass [ owl:onProperty :p ; owl:someValuesFrom :B ] .",
            ":A owl:equivalentClass [ owl:intersectionOf ( :C [ owl:onProperty :p ; owl:allValuesFrom :B ] ) ] .",
            ":A owl:intersectionOf ( :C [ owl:onProperty :p ; owl:allValuesFrom :B ] ) .",
            ":A rdfs:subClassOf [ owl:onProperty :p ; owl:onClass :B ; owl:maxQualifiedCardinality 1 ] .",
        ],
    )
    def test_from_restrictions(self, axiom):
        ontology = read(axiom)
        assert ontology.meta_statements == {MetaStatement(x("A"), x("p"), x("B"))}
        assert not ontology.background

    def test_written_explicitly(self):
        ontology = read("[] a os:MetaStatement ; os:subjectClass :A ; os:property :p ; os:objectClass :B .")
        assert ontology.meta_statements == {MetaStatement(x("A"), x("p"), x("B"))}
        assert not ontology.background


class TestBackground:
    def test_is_what_speaks_of_individuals(self):
        ontology = read(":room5 a :Room ; :partOf :building2 . :Room a owl:Class ; rdfs:label 'room' .")
        assert ontology.background == {
            Triple(x("room5"), NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), x("Room")),
            Triple(x("room5"), x("partOf"), x("building2")),
            Triple(x("Room"), RDFS["label"], Literal("room")),
        }

    def test_keeps_lists_of_facts_but_not_of_class_expressions(self):
        ontology = read(":a :items (1 2) . :A owl:unionOf (:B :C) .")
        assert len(ontology.background) == 5


class TestCheck:
    def messages(self, text: str) -> str:
        return "\n".join(str(finding) for finding in read(text).check())

    def test_a_tidy_ontology_has_no_findings(self):
        text = ":A a owl:Class . :B a owl:Class ; rdfs:subClassOf :A . :p a rdf:Property . :b a :B ; :p 1 ."
        assert self.messages(text) == ""

    def test_cycles(self):
        found = self.messages(
            ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A . :p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p ."
        )
        assert "these classes contain each other: <http://x/A>, <http://x/B>" in found
        assert "these properties contain each other: <http://x/p>, <http://x/q>" in found

    def test_an_equivalence_that_is_said_is_no_cycle(self):
        assert "contain each other" not in self.messages(":A owl:equivalentClass :B . :p owl:equivalentProperty :q .")

    def test_undeclared_terms(self):
        found = self.messages(":A rdfs:subClassOf :B . :A a owl:Class . :a :p 1 .")
        assert "the class <http://x/B> is used but not declared" in found
        assert "<http://x/A> is used" not in found
        assert "the property <http://x/p> is used but not declared" in found

    def test_properties_outside_their_meta_statements(self):
        text = ":p rdfs:domain :A ; rdfs:range xsd:integer . :a a :A ; :p 1 . :b a :B ; :p 1 . :c a :A ; :p 'one' ."
        found = self.messages(text)
        assert found.count("outside its meta-statements") == 2
        assert "<http://x/b> <http://x/p>" in found
        assert "<http://x/c> <http://x/p>" in found

    def test_meta_statements_are_inherited(self):
        text = ":p rdfs:domain :A . :q rdfs:subPropertyOf :p . :B rdfs:subClassOf :A . :b a :B ; :q 1 ."
        assert "outside" not in self.messages(text)

    @pytest.mark.parametrize("top", ["rdfs:Resource", "owl:Thing", "<http://www.daml.org/2001/03/daml+oil#Thing>"])
    def test_everything_is_in_a_top_class(self, top):
        text = f":p rdfs:domain {top} ; rdfs:range {top} . :a a :A ; :p :b, 'text' . :b a :B ."
        assert "outside" not in self.messages(text)

    def test_of_a_long_chain_and_of_many_classes(self):
        chain = "".join(f":c{number} rdfs:subClassOf :c{number + 1} ." for number in range(10_000))
        text = ":p rdfs:domain :c10000 ; rdfs:range :c10000 . :a a :c0 ; :p :b . :b a :c1 . :d a :D ; :p :b ."
        found = self.messages(chain + text)
        assert "contain each other" not in found
        assert found.count("outside its meta-statements") == 1
