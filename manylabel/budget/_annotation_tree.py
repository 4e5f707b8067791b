"""A tree that asks for one label after another: AT."""

from manylabel._kernels.annotation import Shape
from manylabel._typing import CSR
from manylabel.budget._coding_tree import CodingTree
from manylabel.budget._shape import annotation_shape


class AnnotationTree(CodingTree):
    """A tree that asks for one label after another, the most frequent first (AT).

    Each node asks whether a row has the label that is most frequent among its training
    rows, of those that some have and some lack. Labels that all rows of a node have are
    fixed there, those that none has are dropped, and a node where nothing is left to
    ask is a leaf: so a row is labelled by few decisions, each of a few features.

    The score of a label is its chance, by the decisions' probabilities on the paths of
    the beam: above 0 for the labels of the row's own path, less 1 for others; labels
    of no training row score -2.

    Parameters
    ----------
    budget : int, default=20
        Features of a plane, at most; all of them when there are fewer.
    max_planes : int, default=5
        Planes of a decision, at most: it looks at ``budget * max_planes`` features, at
        most.
    C : float, default=1.0
        Cost of the decisions' loss.
    loss : {"squared_hinge", "logistic"}, default="squared_hinge"
        Loss of a margin.
    tol : float, default=1e-2
        Duality gap of a decision, relative to its objective, at which to stop.
    beam : int, default=10
        Paths followed at once to rank labels. ``predict`` follows one.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. The tree does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    children_ : ndarray of shape (n_nodes,)
        First child of each node, the second follows it; 0 in a leaf. A row goes to the
        first if its score is above 0.
    node_rows_ : ndarray of shape (n_nodes,)
        Training rows of a node.
    asked_ : ndarray of shape (n_nodes,)
        Label that a node asks for; -1 in a leaf.
    weights_ : csr_array of shape (n_nodes, n_features)
        Weights of the decisions; made when asked for.
    intercept_ : ndarray of shape (n_nodes,)
        Intercepts of the decisions.
    selected_features_ : ndarray of int
        Features that a decision looks at, ascending.
    label_starts_ : ndarray of shape (n_nodes + 1,)
        Where the labels that a node fixes start in ``labels_``.
    labels_ : ndarray of int
        These labels. A row gets those of all nodes on its way.
    most_labels_ : int
        Labels of the largest labelset.
    slope_ : float
        Log-odds of the first child are ``slope_ * score + shift_``.
    shift_ : ndarray of shape (n_nodes,)
        See ``slope_``.
    seen_ : ndarray of shape (n_labels,)
        Whether a training row had the label.

    Notes
    -----
    Liu & Tsang (2017, Algorithm 4). Training rows go where their true labels send them,
    so each distinct labelset has a leaf and the depth may reach the number of labels:
    the bound of Theorem 13 does not hold. Fixed labels are carried down, which the
    printed algorithm forgets. A row without labels is a labelset like any other; a
    single labelset is a leaf, and every row gets it; a labelset seen once has a leaf of
    one row.

    Examples
    --------
    >>> X = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    >>> Y = [[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 0, 1]]
    >>> model = AnnotationTree(C=10).fit(X, Y)
    >>> model.asked_[model.children_ > 0].tolist()
    [0, 1, 2]
    >>> model.predict([[0.9, 0.1, 0.0], [0.1, 0.0, 1.0]])
    array([[1, 1, 0],
           [0, 1, 1]])
    """

    def __init__(
        self,
        *,
        budget: int = 20,
        max_planes: int = 5,
        C: float = 1.0,
        loss: str = "squared_hinge",
        tol: float = 1e-2,
        beam: int = 10,
        n_jobs: int | None = None,
    ) -> None:
        self.budget = budget
        self.max_planes = max_planes
        self.C = C
        self.loss = loss
        self.tol = tol
        self.beam = beam
        self.n_jobs = n_jobs

    def _shape(self, Y: CSR) -> Shape:
        return annotation_shape(Y)
