"""What is shown of a tree, on paper or on a page."""

from typing import Any, NamedTuple

from manylabel.explanation import Names, Node


class TreeView(NamedTuple):
    """The nodes to show, and those that a row passes."""

    nodes: list[Node]
    way: frozenset[int]
    features: Names
    labels: Names

    @classmethod
    def of(
        cls, tree: Any, X: Any, depth: int | None, features: Names, labels: Names
    ) -> "TreeView":
        """Return the view of a fitted tree down to a depth."""
        if not hasattr(tree, "nodes"):
            raise TypeError(
                "tree must be a PowersetTree, an AnnotationTree or a BudgetedTree. "
                f"Got {type(tree).__name__}."
            )
        nodes = tree.nodes(depth)
        _check_names(features, tree.n_features_in_, "feature_names")
        _check_names(labels, len(tree.classes_), "label_names")
        way: frozenset[int] = frozenset()
        if X is not None and not hasattr(tree, "explain"):
            raise TypeError(f"X must be None for a {type(tree).__name__}.")
        if X is not None:
            (path,) = tree.explain(X, k=1).paths
            way = frozenset([*(step.node for step in path.decisions), path.leaf])
        return cls(nodes, way, features, labels)


def _check_names(names: Names, n_columns: int, what: str) -> None:
    if names is not None and len(names) != n_columns:
        raise ValueError(f"{what} must be {n_columns}, one a column. Got {len(names)}.")
