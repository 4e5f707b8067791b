"""Several learners as one, tilted to rare labels."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from manylabel import _validation, parallel
from manylabel._typing import (
    CSR,
    Floats,
    RandomState,
)
from manylabel.base import (
    MultiLabelClassifier,
    check_learner,
)
from manylabel.blend._candidates import Candidates
from manylabel.blend._listed import DEPTH, NEVER, OTHERS, ListedClassifier
from manylabel.blend._members import usual_members
from manylabel.blend._trial import Trial, try_learners
from manylabel.blend._weights import Judge
from manylabel.explanation import number_names
from manylabel.lists import Lists
from manylabel.losses.resolve import as_counted_cost
from manylabel.metrics import as_metric
from manylabel.model_selection import thresholds
from manylabel.model_selection.calibration import Curves, calibration, find_hits
from manylabel.model_selection.holdout import (
    FEWEST,
    Split,
    hold_out,
    hold_out_in_turn,
    whole_shape,
)
from manylabel.model_selection.probable import CalibratedClassifier
from manylabel.persistence.records import Field, Finite, Number
from manylabel.propensity import Propensity

METRICS = ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5")
AUTO = "auto"
FEW_ROWS = 10_000  # of fewer, a fifth is too few to choose by: each is held out in turn
MANY_ROWS = 100_000  # of more, those held out need not be learnt too
SAMPLE = 50_000  # of many rows, on which learners are tried first


class Blend(CalibratedClassifier, ListedClassifier):
    """An ensemble of learners: calibrated scores, weighed, times (1 / p)^tilt.

    Each learner lists its best labels of a row. A score is calibrated: it counts as the
    share of labels that were true at this score on a validation set, rows held out; the
    weights of the learners and the tilt to labels of small propensity p are those that
    rank these rows best. A learner that adds nothing beyond noise is left out. Then
    those that are kept are fitted again, to all rows.

    Parameters
    ----------
    estimators : sequence of estimators or None, default=None
        None is ``OneVsRest()``, unless there are more than 20,000 million pairs of rows
        and labels, ``LabelTree`` of 3 trees, of 25 trees each, ``FastXML`` and
        ``PfastreXML``, and up to 1,000 labels and 10,000 rows or features ``CPLST``.
        They are cloned. With more than 100,000 rows they are tried on 50,000 first, and
        those that add nothing there are not fitted to all.
    metrics : sequence of str, default=("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5")
        What weights and tilt are chosen for: the mean and the least of the ratios to
        the best that a learner alone has. In the mean PSP@k and PSnDCG@k count half.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded, in (0, 1]. None fits
        ``Propensity()`` to ``Y``.
    cost : str or object with ``from_counts``, default="f1"
        What the threshold of ``predict`` is to make small, on rows held out.
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Make scores probabilities, for ``predict_proba``, by the rows held out; see
        :class:`Calibrated`. It takes no more time. Then ``predict`` gives the sets of
        the least expected ``cost``.
    refit : bool or "auto", default="auto"
        Whether the learners that are kept are fitted again, to all rows. "auto" does so
        with at most 100,000 rows: of more, less than one in 20 is held out.
    n_jobs : int or None, default=None
        Threads of the learners that name none; None is 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the choice of rows that are held out: one in five, at most 5,000. Of fewer
        than 10,000 rows each is held out in turn (cross-validation), if learners are
        fitted again; of fewer than 20 none is: the learners are tried on the rows that
        they learnt.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    estimators_ : list of estimators
        The learners that are kept, fitted.
    weights_ : ndarray of shape (n_learners,)
        Their weights, which are above 0 and sum to 1.
    tilt_ : float
        Power of the inverse propensity 1 / p.
    curves_ : ndarray of shape (n_learners, 2, n_knots)
        Scores of each learner, and the share of true labels there.
    inverse_propensity_ : ndarray of shape (n_labels,)
        1 / p, how many true labels a recorded one stands for.
    threshold_ : float
        What a label must exceed to be predicted.
    seen_ : ndarray of shape (n_labels,)
        Whether a row that was learnt had the label. Others rank last.
    calibration_ : Curves
        What scores mean; empty without ``calibrate``. See :class:`Calibrated`.
    trial_ : Trial
        What the validation set said: ``names``, ``weights``, ``gains`` and ``errors``
        of all learners, those left out too, and the ``figures`` of the blend with
        intervals. ``print(model.trial_)`` has it in words.

    Notes
    -----
    Scores are less ``threshold_``: those above 0 are predicted, unless probabilities
    decide.

    Examples
    --------
    >>> from manylabel import FastXML, OneVsRest, make_corpus
    >>> corpus = make_corpus(n_rows=300, n_labels=10, random_state=0)
    >>> learners = [OneVsRest(), FastXML(n_estimators=5)]
    >>> model = Blend(learners, metrics=["P@1"]).fit(corpus.X, corpus.Y)
    >>> float(model.weights_.sum())
    1.0
    >>> model.predict_topk(corpus.X, k=3).nnz
    900
    >>> model.trial_.names.tolist()
    ['OneVsRest', 'FastXML']
    """

    _unweighted = "learners are chosen on rows held out, which count alike"
    estimators_: list[MultiLabelClassifier]
    weights_: Annotated[Floats, Field("float64", "n_learners", Finite(least=0))]
    tilt_: Annotated[float, Number(least=0)]
    curves_: Annotated[Floats, Field("float64", "n_learners, 2, n_knots", Finite())]
    inverse_propensity_: Annotated[
        Floats, Field("float64", "n_labels", Finite(least=1))
    ]
    trial_: Trial

    def __init__(
        self,
        estimators: Sequence[Any] | None = None,
        *,
        metrics: Sequence[str] = METRICS,
        propensity: Any = None,
        cost: Any = "f1",
        calibrate: str | None = None,
        refit: bool | str = AUTO,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.estimators = estimators
        self.metrics = metrics
        self.propensity = propensity
        self.cost = cost
        self.calibrate = calibrate
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: CSR, Y: CSR) -> None:
        """Choose learners, weights and tilt on rows held out; fit those kept to all."""
        given = Propensity().fit(Y) if self.propensity is None else self.propensity
        self.inverse_propensity_ = 1 / _validation.propensities(given, Y.shape[1])
        learners, splits = self._fresh(X, Y), self._splits(X.shape[0])
        is_many = whole_shape(X.shape[0])[0] > MANY_ROWS
        refit = not is_many if self.refit == AUTO else bool(self.refit)
        with parallel.stage("validation", len(splits) / (len(splits) + refit)):
            kept = self._try(learners, X, Y, splits)
        with parallel.stage("training"):
            self.estimators_ = _in_stages(
                lambda each: clone(each).fit(X, Y) if refit else each, kept
            )
        learnt = Y if refit else Y[splits[0].train]
        self.seen_ = np.bincount(learnt.indices, minlength=Y.shape[1]) > 0

    def _try(
        self, learners: list[Any], X: CSR, Y: CSR, splits: list[Split]
    ) -> list[Any]:
        """Return the learners that are kept; of many rows, try a sample first.

        A fit to a sample, to tell how long all rows take, keeps all of them.
        """
        first = None
        if X.shape[0] > MANY_ROWS:
            with parallel.stage("sample", SAMPLE / X.shape[0]):
                first = self._choose(learners, X, Y, [self._sample(splits[0])])
            learners = [clone(learners[n]) for n in np.flatnonzero(first.weights)]
        trial = self._choose(learners, X, Y, splits)
        self.trial_ = trial if first is None else first.followed_by(trial)
        if whole_shape(X.shape[0])[0] > X.shape[0]:  # most are kept where rows are many
            return learners
        return [learners[n] for n in np.flatnonzero(trial.weights)]

    def _fresh(self, X: CSR, Y: CSR) -> list[Any]:
        """Return unfitted learners."""
        n_rows, n_features = whole_shape(*X.shape)
        usual = self.estimators or usual_members(n_rows, n_features, Y.shape[1])
        learners = [clone(member) for member in usual]
        for learner in learners:
            if getattr(learner, "n_jobs", 1) is None:
                learner.n_jobs = self.n_jobs
        return learners

    def _splits(self, n_rows: int) -> list[Split]:
        """Return which rows are held out: all of few rows, in turn."""
        is_few = n_rows >= FEWEST and whole_shape(n_rows)[0] < FEW_ROWS
        if self.refit is not False and is_few:
            return hold_out_in_turn(n_rows, self.random_state)
        return [hold_out(n_rows, self.random_state)]

    def _sample(self, split: Split) -> Split:
        """Return a split with fewer rows to learn."""
        rng = np.random.default_rng(int(parallel.spawn_seeds(self.random_state, 3)[2]))
        return split._replace(train=np.sort(rng.permutation(split.train)[:SAMPLE]))

    def _choose(
        self, learners: list[Any], X: CSR, Y: CSR, splits: list[Split]
    ) -> Trial:
        """Fit learners, and take weights, curves and tilt of those that are kept."""
        lists = _in_stages(lambda each: _list_held_out(each, X, Y, splits), learners)
        truth, worth = (
            Y[np.concatenate([s.held for s in splits])],
            self.inverse_propensity_,
        )
        curves = np.stack([_curve(scores, truth) for scores in lists])
        candidates = Candidates.of(lists, curves)
        seed = int(parallel.spawn_seeds(self.random_state, 2)[1])
        judge = Judge(candidates, truth, worth, tuple(self.metrics), seed)
        names = [type(learner).__name__ for learner in learners]
        trial, self.tilt_ = try_learners(judge, number_names(names))
        kept = np.flatnonzero(trial.weights)
        self.weights_, self.curves_ = trial.weights[kept], curves[kept]
        scores = candidates.blended(trial.weights, worth**self.tilt_)
        cost = as_counted_cost(self.cost)
        self.threshold_ = thresholds.best_threshold(scores, truth, worth, cost)
        self.calibration_ = self._tell_curves(scores, truth, Y)
        return trial

    def _tell_curves(self, scores: Lists, truth: CSR, Y: CSR) -> Curves:
        """Return what scores of rows held out mean, if that is asked for."""
        if self.calibrate is None:
            return Curves.none()
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        best = scores.best(DEPTH, counts > 0, OTHERS)
        best.data = best.data - self.threshold_
        gain = self._label_gain(Y.shape[1])
        return Curves.fit(best, truth, counts, gain, self.calibrate)

    def _blended(self, X: CSR, depth: int) -> Lists:
        """Return the scores of the labels that a learner lists, less the threshold."""
        lists = [member.predict_topk(X, depth) for member in self.estimators_]
        candidates = Candidates.of(lists, self.curves_)
        scores = candidates.blended(self.weights_, self.inverse_propensity_**self.tilt_)
        scores.values[~self.seen_[scores.labels]] = NEVER
        return scores._replace(values=scores.values - np.float32(self.threshold_))

    def _labels(self, X: CSR) -> CSR:
        if self.calibrate is None:
            return super()._labels(X)
        return self._cheapest_sets(X, self.cost)

    def _known_sizes(self) -> dict[str, int]:
        return super()._known_sizes() | {"n_learners": len(self.estimators_)}

    def _check_state(self) -> None:
        super()._check_state()
        for member in self.estimators_:
            self._check_part(member, "all estimators_")

    def _check_parameters(self) -> None:
        self._check_calibrate()
        if self.estimators is not None and not len(self.estimators):
            raise ValueError("estimators must have at least one. Got none.")
        for learner in self.estimators or ():
            check_learner(learner, "each of estimators")
        if not len(self.metrics):
            raise ValueError("metrics must name at least one. Got none.")
        for name in self.metrics:
            as_metric(name)
        as_counted_cost(self.cost)
        if not isinstance(self.refit, bool):
            _validation.choice(self.refit, "refit", [AUTO])


def _in_stages(act: Callable[[Any], Any], learners: list[Any]) -> list[Any]:
    """Return what is made of learners, each as a stage of what is under way.

    A generator would leave its stage open where an error ends it, and close it later,
    in the midst of other work.
    """
    found = []
    for learner in learners:
        with parallel.stage(type(learner).__name__, 1 / len(learners)):
            found.append(act(learner))
    return found


def _list_held_out(learner: Any, X: CSR, Y: CSR, splits: list[Split]) -> CSR:
    """Return the best labels of rows held out; the learner stays fitted to the last."""
    lists = []
    for number, (train, held) in enumerate(splits, start=1):
        with parallel.stage(f"part {number} of {len(splits)}", 1 / len(splits)):
            learner.fit(X[train], Y[train])
        lists.append(learner.predict_topk(X[held], DEPTH))
    return sp.csr_array(sp.vstack(lists, format="csr"))


def _curve(scores: CSR, Y: CSR) -> Floats:
    """Return the calibration of a learner by the labels that it lists."""
    return calibration(scores.data, find_hits(scores, Y))
