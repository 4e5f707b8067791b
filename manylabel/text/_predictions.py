"""What a fitted tagger says of items: rankings, probabilities and sets of labels."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from manylabel._typing import CSR, Array, Floats
from manylabel.data.dataset import LabelSpace, best_first
from manylabel.model_selection import Calibrated, Thresholds
from manylabel.sharing import Shared, reading
from manylabel.text._decision import (
    Decision,
    allowed_columns,
    check_probable,
    cost_of,
    scorer_of,
)
from manylabel.text._embeddings import Embeddings, Hybrid
from manylabel.text._items import Labelled, check_count, vectorize
from manylabel.text._rules import Rules
from manylabel.text._vectorizer import TextVectorizer

Tagged = list[tuple[str, float]]
Names = Iterable[str] | None


class Predictions(Shared):
    """What a tagger that was fitted says of items."""

    cost: Any
    calibrate: Any
    rules: Rules | None

    vectorizer_: TextVectorizer | Hybrid | Embeddings | str
    learner_: Any
    label_names_: Array

    def tag(
        self,
        item: Any,
        k: int | None = 5,
        allow: Names = None,
        deny: Names = None,
        proba: bool = False,
    ) -> Tagged:
        """Return the ``k`` best labels of an item with their scores, the best first.

        Parameters
        ----------
        item : str or row of features
            The text, or a row of shape (n_features,) or (1, n_features).
        k : int or None, default=5
            How many labels; None returns those that ``predict`` gives.
        allow : iterable of str or None, default=None
            Names of the labels that may be returned: the ``k`` best of these. None is
            all labels.
        deny : iterable of str or None, default=None
            Names of labels that may not be returned.
        proba : bool, default=False
            Return probabilities in place of scores, if the model was calibrated. Which
            labels are the best is told by the scores.

        Returns
        -------
        list of (str, float)
            Names and scores.
        """
        return self.tag_many(self._one(item), k, allow, deny, proba)[0]

    @reading
    def tag_many(
        self,
        items: Any,
        k: int | None = 5,
        allow: Names = None,
        deny: Names = None,
        proba: bool = False,
    ) -> list[Tagged]:
        """Return for each item what ``tag`` returns, a list of lists."""
        best = self.predict_topk(items, k, allow, deny, proba)
        order = best_first(best)
        names = self.label_names_[best.indices[order]].tolist()
        pairs = list(zip(names, best.data[order].tolist(), strict=True))
        return [pairs[start:stop] for start, stop in pairwise(best.indptr.tolist())]

    @reading
    def predict_topk(
        self,
        items: Any,
        k: int | None = 5,
        allow: Names = None,
        deny: Names = None,
        proba: bool = False,
    ) -> CSR:
        """Return the labels and scores of ``tag_many`` as a CSR array, by column."""
        X, decision = self.transform(items), self._decision(allow, deny)
        if proba:
            check_probable(self.learner_, "proba=True")
        found = decision.give(X) if k is None else decision.rank(X, k)
        return scorer_of(self.learner_).to_proba(found) if proba else found

    @reading
    def predict(
        self, items: Any, allow: Names = None, deny: Names = None
    ) -> list[list[str]]:
        """Return the names of the labels that each item is given, by column.

        Where the model was calibrated they are the sets of the least expected
        ``cost``, of the labels that are allowed; else those above thresholds. A text
        of which no word is known is given none.
        """
        X, decision = self.transform(items), self._decision(allow, deny)
        return LabelSpace(self.label_names_).decode(decision.give_sets(X))

    @reading
    def predict_proba(self, items: Any) -> Floats:
        """Return the probability of every label, of shape (n_items, n_labels).

        Dense: for many labels use ``tag_many(items, k, proba=True)``.
        """
        check_is_fitted(self)
        check_probable(self.learner_, "predict_proba")
        found: Floats = scorer_of(self.learner_).predict_proba(self.transform(items))
        return found

    def choose_thresholds(
        self,
        items: Any,
        tags: Iterable[Iterable[str]] | None = None,
        *,
        cost: Any = "f1",
        min_precision: float | None = None,
        min_recall: float | None = None,
        per_label: bool = False,
    ) -> Self:
        """Choose the scores above which labels are given, on a validation set.

        Rankings stay as they are. What to choose for is told as to :class:`Thresholds`.
        """
        X, (_, Y) = self.transform(items), self.align(items, tags)
        check_count(Y.shape[0], X.shape[0])
        scorer = scorer_of(self.learner_)
        rule = Thresholds(
            scorer,
            cost=cost,
            min_precision=min_precision,
            min_recall=min_recall,
            per_label=per_label,
        )
        self.learner_ = rule.choose(scorer, X, Y[:, : len(self.label_names_)])
        return self

    @property
    def ranker_(self) -> Any:
        """The learner without thresholds and calibration around it."""
        learner = scorer_of(self.learner_)
        return learner.estimator_ if type(learner) is Calibrated else learner

    @property
    def reads_texts_(self) -> bool:
        """Whether items are texts, not rows of features."""
        return not isinstance(self.vectorizer_, str)

    def transform(self, items: Any) -> CSR:
        """Return the features of items, as the learner takes them."""
        check_is_fitted(self)
        return vectorize(self.vectorizer_, items, "transform")

    def _decision(self, allow: Names = None, deny: Names = None) -> Decision:
        """Return how labels are given."""
        cost = cost_of(self.learner_, self.cost, self.calibrate)
        decision = Decision(self.learner_, cost, are_texts=self.reads_texts_)
        if allow is None and deny is None and self.rules is None:
            return decision
        labels = LabelSpace(self.label_names_)
        return decision._replace(
            allowed=allowed_columns(labels, allow, deny),
            rules=None if self.rules is None else self.rules.resolve(labels),
        )

    def align(
        self, items: Any, tags: Iterable[Iterable[str]] | None = None
    ) -> Labelled:
        """Return the labels of items by the model's columns, then those never learnt.

        Columns of a data set that have no names are the model's, in their order.
        """
        check_is_fitted(self)
        return Labelled.of(items, tags).aligned(LabelSpace(self.label_names_), items)

    def _one(self, item: Any) -> Any:
        check_is_fitted(self)
        if not self.reads_texts_:
            return item if sp.issparse(item) else np.atleast_2d(item)
        if not isinstance(item, str):
            raise TypeError(f"text must be a string. Got {item!r:.40}.")
        return [item]
