"""Corrections against a slow learner that says the formulas as they are written."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import manylabel as ml

N_FEATURES = 5
KNOWN, NEW = ["a", "b"], ["c", "d"]
MARGIN, UNKNOWN, STEP, ROUGHNESS, LEAST, DECAY = 3.0, -4.0, 1.0, 0.03, 0.05, 0.998
CLEAR, AHEAD, RESCALE, OFFSET_STEP = 2.0, 0.5, 0.1, 0.3
STEPS, HALF = 8, 0.5
WEIGHTS, PATIENCE = (0.0, 0.25, 0.5, 1.0), 5.0
X = np.eye(N_FEATURES)[[0, 1, 2, 3, 4, 0, 1, 2]]
TAGGER = ml.Tagger(ml.OneVsRest()).fit(X, [["a"], ["b"], ["a", "b"], []] * 2)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


class Reference:
    """Dicts and loops."""

    def __init__(self):
        self.weight, self.squares, self.whole = {}, {}, {}
        self.accepted = {}  # label -> features and rows that it was accepted with
        self.losses, self.mentions = np.zeros(4), np.ones(2)
        self.scales, self.slopes = np.tile([1.0, 0.0], (4, 1)), np.zeros((4, 2))
        self.offsets = {}  # weight and label -> offset, sum of squared slopes

    @property
    def s(self):
        """Return the weight of the corrections."""
        doubts = self.losses + PATIENCE * (1 - np.array(WEIGHTS))
        return WEIGHTS[3 - np.argmin(doubts[::-1])]

    def odds(self, x, mentioned=()):
        """Return the tagger's log odds of each candidate."""
        margins = dict(TAGGER.tag(x, 2))
        odds = {label: MARGIN * margins[label] for label in KNOWN}
        least = min(*odds.values(), UNKNOWN)
        keys = {*np.flatnonzero(x).tolist(), x.tobytes()}
        raised = [label for label in NEW if keys & self.accepted.get(label, set())]
        return odds | dict.fromkeys([*raised, *mentioned], least) | odds

    def words(self, label, u):
        """Return what the features of a row add."""
        return sum(u[j] * self.weight.get((label, j), 0.0) for j in range(N_FEATURES))

    def ranks(self, x):
        """Return the log odds of the labels that are ranked."""
        u = x / np.linalg.norm(x)
        moved = {}
        for label, odds in self.odds(x).items():
            move = self.s * self.words(label, u)
            move += self.whole.get((label, x.tobytes()), 0.0)
            if label in KNOWN or move > 0:
                moved[label] = odds + move
        return moved

    def judge(self, odds, words, likelihood, slope):
        """Add up the losses of each weight, and rescale the tagger's log odds."""
        for w, weight in enumerate(WEIGHTS):
            a, b = self.scales[w]
            offset = {label: self.offsets.get((w, label), (0.0, 0.0)) for label in odds}
            z = {
                label: a * odds[label] + b + offset[label][0] + weight * words[label]
                for label in odds
            }
            for label in odds:
                if abs(g := slope(label, z[label])) >= LEAST:
                    total = offset[label][1] + g**2
                    move = OFFSET_STEP * g / np.sqrt(total + ROUGHNESS)
                    self.offsets[w, label] = (offset[label][0] - move, total)
            loss = -sum(np.log(likelihood(label, z[label])) for label in odds)
            self.losses[w] = DECAY * self.losses[w] + loss
            slopes = np.array(
                [
                    sum(slope(label, z[label]) * odds[label] for label in odds),
                    sum(slope(label, z[label]) for label in odds),
                ]
            )
            self.slopes[w] += slopes**2
            self.scales[w] -= RESCALE * slopes / np.sqrt(self.slopes[w] + 1)

    def step(self, label, u, z, slope, most):
        """Step the weights of a label by AdaGrad, until it is probable."""
        g = -1.0
        while most and abs(g) >= HALF:
            most, g = most - 1, slope(label, z + self.words(label, u))
            for j in np.flatnonzero(u) if abs(g) >= LEAST else ():
                total = self.squares.get((label, j), 0.0) + (g * u[j]) ** 2
                move = -STEP * g * u[j] / np.sqrt(total + ROUGHNESS)
                self.squares[label, j] = total
                self.weight[label, j] = self.weight.get((label, j), 0.0) + move

    def learn(self, x, yes, no, complete):
        """Learn a row: judge the weights, step, then settle the row itself.

        That a row lacks a label that nobody has given yet says nothing.
        """
        no = [label for label in no if label in KNOWN or label in self.accepted]
        u, odds = x / np.linalg.norm(x), self.odds(x, [*yes, *no])
        law = TAGGER.propensities(ml.Propensity(), 4)
        share = self.mentions[0] / self.mentions.sum()
        chance = {
            label: 1.0 if complete else share * law[(KNOWN + NEW).index(label)]
            for label in odds
        }

        def likelihood(label, z):
            if label in yes:
                return sigmoid(z)
            return 1 - (1.0 if label in no else chance[label]) * sigmoid(z)

        def slope(label, z):
            return (
                -(
                    np.log(likelihood(label, z + 1e-6))
                    - np.log(likelihood(label, z - 1e-6))
                )
                / 2e-6
            )

        words = {label: self.words(label, u) for label in odds}
        self.judge(odds, words, likelihood, slope)
        if not complete:
            self.mentions[0] += len(yes)
            others = set(KNOWN) - {*yes, *no}
            self.mentions[1] += sum(sigmoid(odds[label]) for label in others)
        row, best = x.tobytes(), CLEAR - AHEAD
        now = {}
        for label in odds:
            z = odds[label] + self.whole.get((label, row), 0.0)
            self.step(label, u, z, slope, STEPS if label in yes else 1)
            now[label] = odds[label] + self.s * self.words(label, u)
            now[label] += self.whole.get((label, row), 0.0)
        for label in sorted(odds, key=lambda label: label in yes):
            wanted = now[label]
            if label in yes:
                wanted = max(wanted, best + AHEAD)
                self.accepted.setdefault(label, set()).update(np.flatnonzero(x), [row])
            else:
                if label in no:
                    wanted = min(wanted, min(0.0, odds[label]) - CLEAR)
                elif complete:
                    wanted = min(wanted, -CLEAR)
                best = max(best, wanted)
            self.whole[label, row] = (
                self.whole.get((label, row), 0.0) + wanted - now[label]
            )


rows = st.lists(
    st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=N_FEATURES, max_size=N_FEATURES
).filter(any)
kinds = st.sampled_from(["accepted", "rejected", "unknown"])
corrections = st.lists(
    st.tuples(rows, st.tuples(kinds, kinds, kinds, kinds), st.booleans()),
    min_size=1,
    max_size=8,
)


@given(corrections, rows)
def test_corrections_are_learnt_as_the_formulas_say(stream, x):
    model, reference = ml.Corrected(TAGGER), Reference()
    for row, said, complete in stream:
        sides = [
            [n for n, k in zip(KNOWN + NEW, said, strict=True) if k == kind]
            for kind in ("accepted", "rejected")
        ]
        model.correct([row], *([side] for side in sides), [complete])
        reference.learn(np.array(row), *sides, complete)
    assert model.weight_ == reference.s
    assert_allclose(model.recent_.losses, reference.losses, rtol=1e-3)
    for item in (x, stream[-1][0]):
        found = {name: MARGIN * score for name, score in model.tag(item, 4)}
        expected = reference.ranks(np.array(item))
        assert found.keys() == expected.keys()
        assert_allclose([found[n] for n in expected], [*expected.values()], atol=1e-3)
