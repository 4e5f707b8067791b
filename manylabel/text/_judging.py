"""How a tagger is judged by labelled items that it has not seen."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation
from manylabel._typing import Floats, Ints
from manylabel.base import SCORED
from manylabel.evaluation import Report, evaluate
from manylabel.losses.ranked import mean_ndcg
from manylabel.propensity import Propensity, recorded_law
from manylabel.sharing import Shared, reading
from manylabel.text._items import Judged, check_count


class Judging(Shared):
    """What a tagger is judged by."""

    if TYPE_CHECKING:  # what a tagger has, which declares it
        learner_: Any
        label_counts_: Ints
        n_rows_: int
        transform: Any
        align: Any
        _decision: Any

    @reading
    def judge(
        self, items: Any, tags: Iterable[Iterable[str]] | None = None, k: int = 5
    ) -> Judged:
        """Return labels, scores of the ``k`` best, and sets, side by side, to evaluate.

        Columns are the model's, then those of labels that it never learnt. A model that
        has probabilities tells them too.
        """
        X, labelled = self.transform(items), self.align(items, tags)
        check_count(labelled.Y.shape[0], X.shape[0])
        sets = self._decision().give_sets(X)
        return Judged.of(labelled, self.learner_, X, k, sets)

    def evaluate(
        self,
        items: Any,
        tags: Iterable[Iterable[str]] | None = None,
        *,
        k: int | tuple[int, ...] = (1, 3, 5),
        propensity: Propensity | None = None,
        n_resamples: int = 0,
    ) -> Report:
        """Judge the tagger on labelled items that it has not seen.

        Labels that it never learnt count as labels that it misses.

        Parameters
        ----------
        items : iterable of str, matrix of features, or Dataset
            Texts or rows.
        tags : iterable of iterables of str or None, default=None
            The names of the labels of each item; None for a data set, which has them.
        k : int or tuple of int, default=(1, 3, 5)
            Ranking depths.
        propensity : Propensity or None, default=None
            The law, ``a`` and ``b``, by which a label's count in training tells how
            often it is forgotten; None is ``Propensity()``. Values that it was given
            hold for the model's labels, in their order, and the law for new ones.
        n_resamples : int, default=0
            How often rows are drawn again for intervals; 0 for none, 1000 is usual.

        Returns
        -------
        Report
            See :func:`manylabel.evaluate`.
        """
        found = self.judge(items, tags, max(_validation.depths(k)))
        propensities = self.propensities(propensity or Propensity(), len(found.space))
        return evaluate(
            *(found.Y, found.scores),
            k=k,
            propensity=propensities,
            predictions=found.sets,
            proba=found.proba,
            n_resamples=n_resamples,
        )

    def score(self, items: Any, tags: Any = None, sample_weight: Any = None) -> float:
        """Return nDCG@5 on labelled items, as learners do: a fraction, more is better.

        Parameters
        ----------
        items : iterable of str, matrix of features, or Dataset
            Texts or rows.
        tags : iterable of iterables of str or None, default=None
            The names of the labels of each item; None for a data set, which has them.
        sample_weight : array of shape (n_rows,) or None, default=None
            How much each item counts.

        Returns
        -------
        float
            The mean over items. Other metrics are in :data:`manylabel.scorers`.
        """
        found = self.judge(items, tags, SCORED)
        return mean_ndcg(found.Y, found.scores, SCORED, sample_weight)

    def propensities(self, law: Propensity, n_labels: int | None = None) -> Floats:
        """Return the propensities of labels, unseen ones too, by training counts.

        Where the law has values, they are those of the labels that were learnt.
        """
        check_is_fitted(self)
        n_learnt = len(self.label_counts_)
        counts = np.zeros(n_labels or n_learnt, np.int64)
        counts[:n_learnt] = self.label_counts_
        found = recorded_law(counts, self.n_rows_, law.a, law.b)
        if law.values is not None:
            found[:n_learnt] = _validation.propensities(law.values, n_learnt)
        return found
