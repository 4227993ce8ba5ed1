"""MDV's rule language: `search Extension v, … register v where condition`.

A rule asks for resources: the answers are what the registered variable can be. It means the following.

- Each search variable is a vertex. An extension that is a class is asked of the vertex; one that is another rule adds
  that rule's pattern, with fresh names, its registered variable being this vertex.
- Each step of a path is an arc. A path without `?` denotes one value: wherever it occurs in one alternative it is the
  same vertex. A step with `?` ranges over any element, anew at each occurrence.
- `=` beside a search variable or a resource is identity: the two vertices become one, and with them whatever they
  have under equal plain paths. `=` between two values is a filter.
- The constant decides how a value is read: a number compares with the number that the value spells, a string with
  its text (of a resource: its URI reference), `true` and `false` with XSD's spellings of them.
- Order between two paths is that of the numbers that they spell, else of the values. `contains` is about texts.
- `not` is pushed to the operators; `or` makes alternatives, each a pattern of its own. A value that an operator
  cannot read satisfies neither the operator nor its opposite.

Patterns are homomorphic, have no home, and project the registered variable; the subscription is distinct. Search
variables that nothing connects form a cross product.

Text becomes a tree (`parser`), the tree becomes patterns (`compiler`), and a tree can be printed again (`printer`).
"""

from ontosub.languages.mdv.parser import parse_tree
from ontosub.languages.mdv.printer import print_rule
from ontosub.languages.mdv.rules import parse, parse_rules

__all__ = ["parse", "parse_rules", "parse_tree", "print_rule"]
