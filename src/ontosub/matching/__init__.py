"""Finding the subscriptions that an event matches, and explaining what was found."""

from ontosub.matching.explain import Explanation, Reason
from ontosub.matching.matcher import ALGORITHMS, Matcher

__all__ = ["ALGORITHMS", "Explanation", "Matcher", "Reason"]
