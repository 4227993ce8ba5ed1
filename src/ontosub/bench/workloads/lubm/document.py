"""Documents about universities, in the proportions of LUBM's data generator.

A university has 15 to 25 departments; a department has faculty of four ranks, 8 to 14 undergraduate and 3 to 4 graduate
students for each of them, research groups, courses and publications. Every person has a name, a mail address and a
telephone number.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from typing import NamedTuple

from ontosub.bench.workloads.lubm.ontology import UB
from ontosub.model.terms import TYPE, Literal, NamedNode, Triple

UNIVERSITIES = 1000
"""How many universities a degree may come from."""
RESEARCH_AREAS = 30


class Rank(NamedTuple):
    """How many of a rank a department has, and how much each of them publishes."""

    name: str
    members: tuple[int, int]
    publications: tuple[int, int]


RANKS = (
    Rank("FullProfessor", (7, 10), (15, 20)),
    Rank("AssociateProfessor", (10, 14), (10, 18)),
    Rank("AssistantProfessor", (8, 11), (5, 10)),
    Rank("Lecturer", (5, 7), (0, 5)),
)


def document(triples: int, chance: random.Random) -> frozenset[Triple]:
    """Return a graph of exactly so many triples: departments in full, one after the other, and a part of the last."""
    drawn: dict[Triple, None] = {}
    for triple in islice(_universities(chance), 2 * triples):
        drawn[triple] = None
        if len(drawn) == triples:
            break
    return frozenset(drawn)


def university(number: int) -> NamedNode:
    """Return the university with that number."""
    return NamedNode(f"http://www.University{number}.edu")


def _universities(chance: random.Random) -> Iterator[Triple]:
    for number in count():
        subject = university(number)
        yield Triple(subject, TYPE, UB["University"])
        yield Triple(subject, UB["name"], Literal(f"University{number}"))
        for position in range(chance.randint(15, 25)):
            base = f"http://www.Department{position}.University{number}.edu"
            yield from Department(base, subject, chance).triples()


@dataclass(slots=True)
class Department:
    """One department while it is drawn: who is there to be referred to."""

    base: str
    university: NamedNode
    chance: random.Random
    professors: list[NamedNode] = field(default_factory=list)
    courses: list[NamedNode] = field(default_factory=list)
    graduate_courses: list[NamedNode] = field(default_factory=list)
    publications: list[NamedNode] = field(default_factory=list)

    @property
    def iri(self) -> NamedNode:
        return NamedNode(self.base)

    def triples(self) -> Iterator[Triple]:
        """Yield what is said of the department: itself, its faculty, then its students."""
        yield Triple(self.iri, TYPE, UB["Department"])
        yield Triple(self.iri, UB["name"], Literal(self.base.split(".")[1]))
        yield Triple(self.iri, UB["subOrganizationOf"], self.university)
        for number in range(self._between(10, 20)):
            group = self._named("ResearchGroup", number)
            yield Triple(group, TYPE, UB["ResearchGroup"])
            yield Triple(group, UB["subOrganizationOf"], self.iri)
        faculty = 0
        for rank in RANKS:
            for number in range(self._between(*rank.members)):
                faculty += 1
                yield from self._teacher(rank, number)
        for number in range(sum(self._between(8, 14) for _ in range(faculty))):
            yield from self._undergraduate(number)
        for number in range(sum(self._between(3, 4) for _ in range(faculty))):
            yield from self._graduate(number)

    def _teacher(self, rank: Rank, number: int) -> Iterator[Triple]:
        teacher = self._named(rank.name, number)
        yield from self._person(teacher, rank.name)
        yield Triple(teacher, UB["worksFor"], self.iri)
        if rank.name == "FullProfessor" and number == 0:
            yield Triple(teacher, UB["headOf"], self.iri)
        for degree in ("undergraduate", "masters", "doctoral"):
            yield self._degree(teacher, degree)
        if rank.name != "Lecturer":
            self.professors.append(teacher)
            area = Literal(f"Research{self.chance.randrange(RESEARCH_AREAS)}")
            yield Triple(teacher, UB["researchInterest"], area)
        yield from self._taught_by(teacher, "Course", self.courses)
        yield from self._taught_by(teacher, "GraduateCourse", self.graduate_courses)
        for position in range(self._between(*rank.publications)):
            publication = NamedNode(f"{teacher.value}/Publication{position}")
            self.publications.append(publication)
            yield Triple(publication, TYPE, UB["Publication"])
            yield Triple(publication, UB["name"], Literal(f"Publication{position}"))
            yield Triple(publication, UB["publicationAuthor"], teacher)

    def _taught_by(self, teacher: NamedNode, kind: str, courses: list[NamedNode]) -> Iterator[Triple]:
        for _ in range(self._between(1, 2)):
            course = self._named(kind, len(courses))
            courses.append(course)
            yield Triple(course, TYPE, UB[kind])
            yield Triple(course, UB["name"], Literal(f"{kind}{len(courses) - 1}"))
            yield Triple(teacher, UB["teacherOf"], course)

    def _undergraduate(self, number: int) -> Iterator[Triple]:
        student = self._named("UndergraduateStudent", number)
        yield from self._person(student, "UndergraduateStudent")
        yield Triple(student, UB["memberOf"], self.iri)
        for course in self.chance.sample(self.courses, self._between(2, 4)):
            yield Triple(student, UB["takesCourse"], course)
        if self.chance.random() < 1 / 5:
            yield Triple(student, UB["advisor"], self.chance.choice(self.professors))

    def _graduate(self, number: int) -> Iterator[Triple]:
        student = self._named("GraduateStudent", number)
        yield from self._person(student, "GraduateStudent")
        yield Triple(student, UB["memberOf"], self.iri)
        yield self._degree(student, "undergraduate")
        yield Triple(student, UB["advisor"], self.chance.choice(self.professors))
        for course in self.chance.sample(self.graduate_courses, self._between(1, 3)):
            yield Triple(student, UB["takesCourse"], course)
        for publication in self.chance.sample(self.publications, self._between(0, 5)):
            yield Triple(publication, UB["publicationAuthor"], student)
        role = self.chance.random()
        if role < 0.22:
            yield Triple(student, TYPE, UB["TeachingAssistant"])
            yield Triple(student, UB["teachingAssistantOf"], self.chance.choice(self.courses))
        elif role < 0.5:
            yield Triple(student, TYPE, UB["ResearchAssistant"])

    def _person(self, person: NamedNode, kind: str) -> Iterator[Triple]:
        name = person.value.rpartition("/")[2]
        yield Triple(person, TYPE, UB[kind])
        yield Triple(person, UB["name"], Literal(name))
        yield Triple(person, UB["emailAddress"], Literal(f"{name}@{self.base.removeprefix('http://www.')}"))
        yield Triple(person, UB["telephone"], Literal("xxx-xxx-xxxx"))

    def _degree(self, person: NamedNode, degree: str) -> Triple:
        return Triple(person, UB[f"{degree}DegreeFrom"], university(self.chance.randrange(UNIVERSITIES)))

    def _named(self, kind: str, number: int) -> NamedNode:
        return NamedNode(f"{self.base}/{kind}{number}")

    def _between(self, least: int, most: int) -> int:
        return self.chance.randint(least, most)
