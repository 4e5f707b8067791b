"""An online learner beside a tagger, so that a correction shows at once."""

from collections.abc import Iterable
from copy import deepcopy
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar

from manylabel._kernels.corrections import candidates, learning, memory
from manylabel._typing import Array, Floats
from manylabel.persistence.records import Values
from manylabel.persistence.saved import Saved
from manylabel.propensity import Propensity
from manylabel.sharing import reading
from manylabel.text._corrected_predictions import CorrectedPredictions, longest
from manylabel.text._corrections import Learnt, Recent, begin, make_room
from manylabel.text._listed import N_LISTED
from manylabel.text._mentions import check_apart, check_flags, check_lists
from manylabel.text._tagger import Tagger

LEAST_BITS, MOST_BITS = 10, 30


class Corrected(CorrectedPredictions, Saved, BaseEstimator):  # type: ignore[misc]
    """A fitted tagger with an online learner beside it, which learns from corrections.

    The log odds of a label are those of the tagger plus ``weight_`` times what the
    features of the item have learnt of that label, a logistic regression by AdaGrad.
    So a correction shows in the next prediction, of the same item for certain, and of
    others as far as they are like it. Without corrections, all is as the tagger says.
    Names of labels and words that the tagger never saw may come at any time.

    Parameters
    ----------
    tagger : Tagger
        The model, fitted; it stays as it is.
    n_bits : int, default=22
        Weights are kept for at most 3/4 of ``2 ** n_bits`` pairs of a label and a
        feature, in 16 bytes each: 64 MB. The memory grows up to that as it is needed.
        Then the pairs that were learnt least are forgotten.

    Attributes
    ----------
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels: the tagger's, then those that came with corrections.
    n_corrections_ : int
        Items that were corrected.
    weight_ : float
        How much is made of what corrections say about other items: 0, 1/4, 1/2 or 1,
        whichever would have predicted the latest corrections best, before they were
        learnt.

    Notes
    -----
    However corrections are cut into calls, what is learnt has the same bits. Threads
    may correct and read one object at the same time (:mod:`manylabel.sharing`): to
    publish a call's corrections, 3.5 MB are copied.

    Examples
    --------
    >>> texts = ["red wine", "white wine", "brown bread", "rye bread and wine"]
    >>> tags = [["drink"], ["drink"], ["food"], ["drink", "food"]]
    >>> model = Corrected(Tagger().fit(texts, tags))
    >>> model.predict(["apple pie"])  # words that the tagger does not know
    [[]]
    >>> model = model.correct(["apple pie"], [["food", "fruit"]], [["drink"]])
    >>> model.predict(["apple pie", "white wine"])
    [['food', 'fruit'], ['drink']]
    >>> [name for name, score in model.tag("an apple pie", k=1)]
    ['food']
    """

    _written = ("recent_",)
    new_names_: Annotated[Array, Values("n_new", "O")]
    learnt_: Learnt
    recent_: Recent
    _columns: dict[str, int] | None = None  # of names; replaced, not written to
    _law: Floats | None = None  # the propensities, made when they are needed

    def __init__(self, tagger: Tagger, *, n_bits: int = 22) -> None:
        self.tagger = tagger
        self.n_bits = n_bits

    @property
    def weight_(self) -> float:
        """How much is made of what corrections say about other items."""
        recent = getattr(self, "recent_", None)
        return 1.0 if recent is None else float(memory.best_weight(recent.losses))

    def correct(
        self,
        items: Any,
        accepted: Iterable[Iterable[str]],
        rejected: Iterable[Iterable[str]] | None = None,
        complete: Iterable[bool] | None = None,
    ) -> Self:
        """Learn what people say of items.

        Parameters
        ----------
        items : iterable of str or matrix of features
            Texts or rows.
        accepted : iterable of iterables of str
            The names of labels that each item has.
        rejected : iterable of iterables of str or None, default=None
            The names of labels that each item does not have. Of those that are new,
            nothing is learnt.
        complete : iterable of bool or None, default=None
            Whether an item has no other labels than those accepted. Where it is not
            said, labels that are not mentioned are unknown: they are learnt as far as
            they would have been mentioned, by ``Propensity()`` of the tagger's counts.

        Returns
        -------
        Corrected
            Itself.
        """
        self._check_parameters()
        taken = self._read(items)
        n_rows = taken.X.shape[0]
        yes = check_lists(accepted, "accepted", n_rows)
        no = check_lists(
            [()] * n_rows if rejected is None else rejected, "rejected", n_rows
        )
        check_apart(yes, no)
        closed = check_flags(complete, n_rows)
        lists = self._list(taken.X, N_LISTED).lists
        with self._learning() as learner:
            mentions = learner._mention(yes, no, closed)
            learner._learn(taken.rows, lists, mentions)
        return self

    def copy(self) -> Self:
        """Return another that learns by itself; what neither writes is shared.

        It takes as long as to copy 3.5 MB, however much was learnt.
        """
        other = object.__new__(type(self))
        other.__dict__ = self.__getstate__()
        if hasattr(other, "recent_"):
            other.recent_ = Recent(*(array.copy() for array in other.recent_))
        return other

    @reading
    def get_state(self) -> dict[str, Any]:
        """Return what was learnt so far, as a copy: arrays are learnt in place."""
        return deepcopy(super().get_state())

    def set_state(self, state: dict[str, Any]) -> Self:
        """Take over a copy of what another of the same tagger learnt."""
        self._columns = None
        return super().set_state(deepcopy(state))

    def _check_fitted(self) -> None:
        self._check_parameters()

    def _mention(
        self, yes: list[list[str]], no: list[list[str]], closed: Array
    ) -> learning.Mentions:
        """Return what was said by columns; new names get new ones if accepted."""
        known: dict[str, int] = self._known_columns()
        new: dict[str, int] = {}
        labels: list[int] = []
        kinds: list[np.int64] = []
        indptr = [0]
        sides = (candidates.ACCEPTED, candidates.REJECTED)
        for row in zip(yes, no, strict=True):
            for kind, names in zip(sides, row, strict=True):
                for name in dict.fromkeys(names):
                    column = known.get(name, new.get(name))
                    if column is None and kind == candidates.REJECTED:
                        continue  # that an item lacks it is no reason to have it
                    if column is None:
                        column = new.setdefault(name, len(known) + len(new))
                    labels.append(column)
                    kinds.append(kind)
            indptr.append(len(labels))
        self._add_names(new)
        parts = [np.array(each, np.int64) for each in (indptr, labels, kinds)]
        return learning.Mentions(parts[0], parts[1], parts[2], closed)

    def _add_names(self, new: dict[str, int]) -> None:
        names = np.array(list(new), dtype=object)
        self.new_names_ = np.concatenate([self._new_names(), names])
        if new:
            self._columns = self._known_columns() | new

    def _learn(
        self, rows: Any, lists: candidates.Lists, mentions: learning.Mentions
    ) -> None:
        if not hasattr(self, "recent_"):
            self.learnt_, self.recent_ = begin()
        n_known, n_rows = len(self.tagger.label_names_), len(mentions.complete)
        settings = learning.Settings(n_known, self._thresholds(), self._chances())
        most = longest(lists.indptr) + longest(mentions.indptr)
        scratch = (
            candidates.make_row(longest(rows.indptr)),
            candidates.make_candidates(n_known + len(self.new_names_), most),
        )
        row = 0
        while row < n_rows:
            row = learning.learn_rows(
                *(rows, lists, mentions, row, settings),
                *(self.learnt_, self.recent_, *scratch),
            )
            if row < n_rows:
                self.learnt_, self.recent_ = make_room(
                    self.learnt_, self.recent_, self.n_bits
                )

    def _chances(self) -> Floats:
        """Return how probable it is that a true label is mentioned."""
        n_labels = len(self.tagger.label_names_) + len(self._new_names())
        if self._law is None or len(self._law) != n_labels:
            law = self.tagger.propensities(Propensity(), n_labels)
            self._law = law if self.tagger.n_rows_ else 0 * law  # nothing was counted
        return self._law

    def _known_columns(self) -> dict[str, int]:
        if self._columns is None:
            names = self.label_names_.tolist()
            self._columns = {name: column for column, name in enumerate(names)}
        return self._columns

    def _known_sizes(self) -> dict[str, int]:
        n_new = len(self.new_names_)
        return {"n_new": n_new, "n_labels": n_new + len(self.tagger.label_names_)}

    def _check_state(self) -> None:
        super()._check_state()
        names = self.label_names_.tolist()
        if len(set(names)) < len(names):
            raise ValueError("new_names_ must be new, each once.")

    def _check_parameters(self) -> None:
        self._check_tagger()
        bounds = {"min_val": LEAST_BITS, "max_val": MOST_BITS}
        check_scalar(self.n_bits, "n_bits", Integral, **bounds)
