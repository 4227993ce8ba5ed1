"""An ontology of universities after LUBM's univ-bench: what level-1 entailment can use of it.

Univ-bench defines a student as a person who takes some course, and a chair as one who heads some department. Such
definitions are beyond level 1; here a graduate student is a student by statement.
"""

from __future__ import annotations

from functools import cache

from ontosub.model import Ontology
from ontosub.model.terms import Namespace

UB = Namespace("http://swat.cse.lehigh.edu/onto/univ-bench.owl#")

CLASSES = """
Organization: University College Department Institute Program ResearchGroup
Work: Course Research
Course: GraduateCourse
Publication: Article Book Manual Software Specification UnofficialPublication
Article: ConferencePaper JournalArticle TechnicalReport
Person: Employee Student Director TeachingAssistant ResearchAssistant
Employee: Faculty AdministrativeStaff
AdministrativeStaff: ClericalStaff SystemsStaff
Faculty: Professor Lecturer PostDoc
Professor: FullProfessor AssociateProfessor AssistantProfessor VisitingProfessor Chair Dean
Student: UndergraduateStudent GraduateStudent
"""
"""Each line: a class, and the classes right below it."""

PROPERTIES = """
advisor Person Professor
degreeFrom Person University
doctoralDegreeFrom Person University degreeFrom
mastersDegreeFrom Person University degreeFrom
undergraduateDegreeFrom Person University degreeFrom
hasAlumnus University Person
member Organization Person
memberOf Person Organization
worksFor Person Organization memberOf
headOf Person Organization worksFor
affiliateOf Organization Person
affiliatedOrganizationOf Organization Organization
subOrganizationOf Organization Organization
orgPublication Organization Publication
publicationAuthor Publication Person
publicationResearch Publication Research
researchProject ResearchGroup Research
takesCourse Student Course
teacherOf Faculty Course
teachingAssistantOf TeachingAssistant Course
softwareDocumentation Software Publication
"""
"""Each line: a property, its domain, its range, and the property right above it."""

VALUES = ("name", "emailAddress", "telephone", "researchInterest")
"""Properties with strings."""


@cache
def class_tree() -> dict[str, list[str]]:
    """Return for each class the classes right below it."""
    lines = (line.split(": ") for line in CLASSES.strip().splitlines())
    return {wider: narrower.split() for wider, narrower in lines}


@cache
def property_table() -> dict[str, tuple[str, str, str | None]]:
    """Return for each property its domain, its range and the property right above it."""
    rows = (line.split() for line in PROPERTIES.strip().splitlines())
    return {name: (domain, range_, wider[0] if wider else None) for name, domain, range_, *wider in rows}


@cache
def ontology() -> Ontology:
    """Return the ontology as a value."""
    tree, table = class_tree(), property_table()
    return Ontology(
        classes=frozenset(UB[name] for wider, narrower in tree.items() for name in (wider, *narrower)),
        properties=frozenset(UB[name] for name in (*table, *VALUES)),
        subclasses=frozenset((UB[name], UB[wider]) for wider, narrower in tree.items() for name in narrower),
        subproperties=frozenset((UB[name], UB[wider]) for name, (_, _, wider) in table.items() if wider),
        inverses=frozenset({(UB["degreeFrom"], UB["hasAlumnus"]), (UB["memberOf"], UB["member"])}),
        transitive=frozenset({UB["subOrganizationOf"]}),
        domains=frozenset((UB[name], UB[domain]) for name, (domain, _, _) in table.items()),
        ranges=frozenset((UB[name], UB[range_]) for name, (_, range_, _) in table.items()),
    )
