"""How long a fit takes, told from a few rows."""

import time

import pytest

import manylabel as ml
from manylabel import parallel
from manylabel.model_selection import duration
from manylabel.model_selection.duration import estimate_seconds
from manylabel.model_selection.holdout import sampling
from manylabel.model_selection.probable import split_rows


@pytest.fixture
def clock(monkeypatch):
    """Stand in for the time: ``clock(seconds)`` lets some pass."""
    now = [0.0]

    def wait(seconds):
        now[0] += seconds

    monkeypatch.setattr(duration.time, "perf_counter", lambda: now[0])
    return wait


@pytest.mark.parametrize("power", [0.9, 1.0, 1.2])
@pytest.mark.parametrize("n_rows", [2_000, 20_000, 500_000])
@pytest.mark.parametrize("constant", [0.0, 0.2])
def test_estimates_are_right_by_a_factor_of_two(clock, n_rows, power, constant):
    def seconds(n):
        return constant + 3e-4 * n**power

    found = estimate_seconds(lambda rows: clock(seconds(len(rows))), n_rows)
    assert seconds(n_rows) / 2 < found < 2 * seconds(n_rows)


def test_what_a_blend_takes_is_told_within_a_quarter(clock):
    def seconds(n):  # as measured on debtags and on 20,000 titles of 16,000 subjects
        return 3e-4 * n**1.25

    found = estimate_seconds(lambda rows: clock(seconds(len(rows))), 20_000)
    assert found == pytest.approx(seconds(20_000), rel=0.25)


def test_the_first_fit_does_not_count(clock):
    calls = []

    def fit(rows):
        clock(60 if not calls else 1)
        calls.append(rows)

    assert estimate_seconds(fit, 1000) < 10


def test_a_fit_that_compiles_kernels_does_not_count(clock):
    sizes = set()

    def fit(rows):
        if len(rows) not in sizes:  # each size meets kernels of its own
            sizes.add(len(rows))
            for tell in duration.compilation.watchers:
                tell()
            clock(60)
        clock(0.1)

    assert estimate_seconds(fit, 4) < 1
    assert estimate_seconds(fit, 2_000) < 1
    assert not duration.compilation.watchers


def test_a_long_fit_is_cut_short(clock):
    def task(_):
        clock(1)

    def fit(rows):
        for _ in range(2):
            with parallel.stage("half", 0.5):
                parallel.run(task, [(n,) for n in range(500)], 1)

    before = time.perf_counter()
    found = estimate_seconds(fit, 1000)
    assert found == pytest.approx(1000 * 4**duration.POWER, rel=0.1)
    assert time.perf_counter() - before < 15


def test_a_fit_that_is_cut_short_is_told_by_the_pace_of_a_smaller_one(clock):
    def fit(rows):
        with parallel.stage("quick", 0.9):
            clock(0.01)
        with parallel.stage("slow"):
            parallel.run(
                lambda _: clock(len(rows) * 1e-4), [(n,) for n in range(120)], 1
            )

    assert estimate_seconds(fit, 2000) == pytest.approx(24, rel=0.2)


@pytest.mark.parametrize(("n_rows", "n_splits"), [(4_000, 5), (20_000, 1)])
def test_rows_of_a_sample_are_held_out_as_those_of_all(n_rows, n_splits):
    found = set()
    estimate_seconds(lambda rows: found.add(len(split_rows(len(rows), 0))), n_rows)
    assert found == {n_splits}
    assert len(split_rows(400, 0)) == 5


@pytest.mark.parametrize(
    ("n_features", "is_tried"), [(9_000, True), (11_000, False), (None, False)]
)
def test_a_sample_is_learnt_by_the_learners_that_learn_all(n_features, is_tried):
    corpus = ml.make_corpus(n_rows=200, n_features=200, n_labels=4)
    with sampling(20_000, n_features):
        blend = ml.Blend().fit(corpus.X, corpus.Y)
    assert ("CPLST" in blend.trial_.names) == is_tried


def test_a_fit_to_a_sample_takes_as_many_fits_as_one_to_all():
    corpus = ml.make_corpus(n_rows=200, n_features=20, n_labels=4)
    learners = [ml.OneVsRest(), ml.Popularity()]
    assert len(ml.Blend(learners).fit(corpus.X, corpus.Y).estimators_) == 1
    with sampling(20_000, 20):
        assert len(ml.Blend(learners).fit(corpus.X, corpus.Y).estimators_) == 2


def test_a_sample_that_was_no_slower_than_a_smaller_one_tells_nothing(clock):
    def fit(rows):
        clock(0.7 if len(rows) <= 500 else 3e-3 * len(rows))

    assert 30 < estimate_seconds(fit, 20_000) < 120


def test_measuring_takes_seconds_not_minutes(clock):
    before = time.perf_counter()
    estimate_seconds(lambda rows: clock(len(rows) * 1e-4), 10**7)
    assert time.perf_counter() - before < 7


def test_what_cannot_be_learnt_from_a_sample_is_not_estimated():
    def fit(rows):
        raise ValueError

    assert estimate_seconds(fit, 1000) is None
    assert estimate_seconds(len, 3) is None
