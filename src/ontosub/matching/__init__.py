"""Finding the subscriptions that an event matches, and explaining what was found."""

from ontosub.matching.explain import Explanation
from ontosub.matching.matcher import ALGORITHMS, Matcher
from ontosub.matching.reasons import Reason

__all__ = ["ALGORITHMS", "Explanation", "Matcher", "Reason"]
