"""What the registers of a pattern hold, in order: vertices of the event first, then properties.

A variable that is a property as well as a vertex has two registers, one of each sort, and Python compares them. If no
arc ends at it, it need not be a vertex of the event at all, and has only the one of a property.
"""

from __future__ import annotations

from ontosub.model import GraphPattern, Vertex
from ontosub.model.terms import Variable


def property_variables(pattern: GraphPattern) -> tuple[Variable, ...]:
    """Return the variables that stand for properties, in the order of their registers."""
    found = [arc.property for arc in pattern.arcs if isinstance(arc.property, Variable)]
    return tuple(dict.fromkeys(found)) if found else ()


def bound_vertices(pattern: GraphPattern) -> tuple[Vertex, ...]:
    """Return what is bound to vertices of the event, in the order of the registers; a home always is."""
    vertices, home = pattern.vertices, pattern.home
    if home is not None and all(vertex.term != home for vertex in vertices):
        vertices = (*vertices, Vertex(home))
    variables = property_variables(pattern)
    if not variables:
        return vertices
    ends = {home, *(term for arc in pattern.arcs for term in (arc.subject, arc.object))}
    return tuple(vertex for vertex in vertices if vertex.term in ends or vertex.term not in variables)


def property_vertices(pattern: GraphPattern) -> tuple[Vertex, ...]:
    """Return the vertices that are bound as properties only."""
    bound = {vertex.term for vertex in bound_vertices(pattern)}
    return tuple(vertex for vertex in pattern.vertices if vertex.term not in bound)
