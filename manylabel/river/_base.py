"""The base classes of river, an optional dependency, or none where it is missing."""

try:
    from river.base import Estimator, MultiLabelClassifier
except ImportError:  # to_river says so when it is called
    Estimator = MultiLabelClassifier = object  # type: ignore[assignment,misc]

__all__ = ["Estimator", "MultiLabelClassifier"]
