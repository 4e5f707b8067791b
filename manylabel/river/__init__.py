"""To river and back: our learners in its pipelines, and its models on our streams.

river's rows are dicts, of feature names to values and of label names to booleans, and a
name may come up at any time. Learners here have columns.
"""

from manylabel.river._classifier import RiverClassifier, to_river
from manylabel.river._learner import RiverLearner, from_river

__all__ = ["RiverClassifier", "RiverLearner", "from_river", "to_river"]
