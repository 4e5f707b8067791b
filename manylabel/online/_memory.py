"""What CSDPP remembers: its arrays, how they begin, and how they grow.

A learner that may meet new labels keeps one column more than it has labels: a label
that no row ever has, learnt at a faint scale. A new label begins as its copy at full
scale, as if it had been there from the start and never relevant.
"""

from math import prod
from typing import Annotated, Any, NamedTuple

import numpy as np

from manylabel._kernels.cs_dpp import capped_msg, factored
from manylabel._kernels.cs_dpp import learning as cs_dpp
from manylabel._typing import Array
from manylabel.persistence.records import MOST_COUNTED, Field, Permutation, Sizes

MOST_EPOCHS = 32
Arrays = dict[str, Array]


class PCA(NamedTuple):
    """The online PCA: directions Q = mix @ block of the labels, strongest first."""

    sizes: Annotated[Array, Field("int64", "2")]  # rows of Q, rows of the block
    block: Annotated[Array, Field("float64", "n_block, n_columns")]
    mix: Annotated[Array, Field("float64", "n_directions, n_block")]  # M + 2 of them
    sigma: Annotated[Array, Field("float64", "n_directions")]

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if more rows are said to be used than there are."""
        size, n_block = map(int, self.sizes)
        if not 0 <= size < len(self.sigma) or not size <= n_block <= len(self.block):
            raise ValueError("state_.pca.sizes must be within the arrays.")


class Regressor(NamedTuple):
    """The factored regressor, to M components or to all labels."""

    ages: Annotated[Array, Field("int64", "2")]  # epochs listed, turns of this epoch
    raw: Annotated[Array, Field("float64", "n_weights, width")]  # the constant one last
    turn: Annotated[Array, Field("float64", "n_turned, width")]
    inverse_turn: Annotated[Array, Field("float64", "n_turned, width")]
    epochs: Annotated[Array, Field("float64", "n_epochs, n_turned, width")]
    stamp: Annotated[
        Array, Field("int64", "n_weights")
    ]  # epochs a feature went through

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if an epoch is named that is not on the list."""
        n_epochs = int(self.ages[factored.N_EPOCHS])
        is_listed = 0 <= self.stamp.min() <= self.stamp.max() <= n_epochs
        if not is_listed or n_epochs > len(self.epochs):
            raise ValueError("state_.regressor must name epochs that it lists.")


class State(NamedTuple):
    """What CSDPP learns. M is the number of components, d that of features."""

    counters: Annotated[Array, Field("int64", "2")]  # rows seen, rows of P
    pca: PCA
    picked: Annotated[Array, Field("int64", "n_components")]  # rows of Q that are P
    regressor: Regressor
    inverse: Annotated[Array, Field("float64", "n_square, n_square")]  # for ridge
    spread: Annotated[Array, Field("float64", "n_spread")]  # for adaptive rates
    counts: Annotated[Array, Field("int64", "n_columns")]  # rows of each label
    order: Annotated[Array, Field("int64", "n_columns", Permutation())]
    place: Annotated[Array, Field("int64", "n_columns", Permutation())]  # in the order
    centre: Annotated[Array, Field("float64", "n_columns")]  # the reference point
    random: Annotated[Array, Field("uint64", "1")]  # state of the random numbers

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if counts and order do not fit together."""
        n_seen, n_picked = map(int, self.counters)
        if not 0 <= n_seen <= MOST_COUNTED or not 0 <= n_picked <= len(self.picked):
            raise ValueError("state_.counters must be within the arrays.")
        if not 0 <= self.picked.min() <= self.picked.max() < len(self.pca.sigma):
            raise ValueError("state_.picked must be rows of the basis.")
        if (self.order[self.place] != np.arange(len(self.order))).any():
            raise ValueError("state_.place must be the inverse of order.")


class Plan(NamedTuple):
    """The sizes of everything: d features, K labels, M components."""

    n_features: int
    n_labels: int
    n_components: int
    is_ridge: bool
    is_adaptive: bool
    turns: bool  # the regressor is turned with the basis
    is_wide: bool  # the regressor is to all labels

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each array of the state."""
        size, n_wide = self.n_features + 1, self.n_components + 2
        n_block = capped_msg.block_rows(self.n_components)
        n_turned = self.n_components if self.turns else 0
        width = self.n_labels if self.is_wide else factored.padded(self.n_components)
        n_epochs = 0 if self.is_ridge else MOST_EPOCHS
        n_square = size if self.is_ridge else 0
        per_label = ("counts", "order", "place", "centre")
        return dict.fromkeys(per_label, (self.n_labels,)) | {
            "counters": (2,),
            "sizes": (2,),
            "block": (n_block, self.n_labels),
            "mix": (n_wide, n_block),
            "sigma": (n_wide,),
            "picked": (self.n_components,),
            "ages": (2,),
            "raw": (size, width),
            "turn": (n_turned, width),
            "inverse_turn": (n_turned, width),
            "epochs": (n_epochs, n_turned, width),
            "stamp": (size,),
            "inverse": (n_square, n_square),
            "spread": (size if self.is_adaptive else 0,),
            "random": (1,),
        }

    def n_bytes(self) -> int:
        """Return the memory that the state takes."""
        return 8 * sum(map(prod, self.shapes().values()))


# Arrays that have a feature along so many of their first axes.
PER_FEATURE = {"raw": 1, "stamp": 1, "spread": 1, "inverse": 2}
COUNTING = ("counters", "sizes", "picked", "ages", "stamp", "counts", "order", "place")
DTYPES: dict[str, Any] = dict.fromkeys(COUNTING, np.int64) | {"random": np.uint64}


def begin(plan: Plan, reg: float, random: Array) -> State:
    """Return the state of a learner that has seen nothing."""
    return _join(_start(plan, reg) | {"random": random})


def shapes(state: State) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array, as :meth:`Plan.shapes` does."""
    return {name: array.shape for name, array in _split(state).items()}


def _split(state: State) -> Arrays:
    arrays = state._asdict()
    pca, regressor = arrays.pop("pca"), arrays.pop("regressor")
    return {**arrays, **pca._asdict(), **regressor._asdict()}


def _join(arrays: Arrays) -> State:
    pca = PCA(*(arrays.pop(name) for name in PCA._fields))
    regressor = Regressor(*(arrays.pop(name) for name in Regressor._fields))
    return State(pca=pca, regressor=regressor, **arrays)


def _start(plan: Plan, reg: float) -> Arrays:
    arrays: Arrays = {
        name: np.zeros(shape, DTYPES.get(name, np.float64))
        for name, shape in plan.shapes().items()
    }
    arrays["order"][:] = arrays["place"][:] = np.arange(plan.n_labels)
    np.fill_diagonal(arrays["turn"], 1.0)
    np.fill_diagonal(arrays["inverse_turn"], 1.0)
    arrays["epochs"][:] = arrays["turn"]
    np.fill_diagonal(arrays["inverse"], 1 / reg)
    return arrays


def grow(state: State, old: Plan, new: Plan, reg: float) -> State:
    """Return the state with room for more features, labels and components."""
    arrays = {name: array.copy() for name, array in _split(state).items()}
    if new.n_labels > old.n_labels:
        block, folded = arrays["block"], np.empty((len(arrays["mix"]), old.n_labels))
        capped_msg.fold(arrays["sizes"], block, arrays["mix"], folded)
        _add_labels(arrays, new.n_labels - old.n_labels, old.is_wide)
    grown = _start(new, reg)
    features = np.append(np.arange(old.n_features), new.n_features)  # constant last
    for name, array in arrays.items():
        places = [np.arange(n) for n in array.shape]
        for axis in range(PER_FEATURE.get(name, 0)):
            places[axis] = features[: array.shape[axis]]
        grown[name][np.ix_(*places)] = array
    grown["stamp"][old.n_features : -1] = grown["ages"][0]
    return _join(grown)


def _add_labels(arrays: Arrays, n_new: int, is_wide: bool) -> None:
    """Make the last column, brought to full scale, new labels, and keep it as the last.

    The rows of P get n columns g that way, and their products go from I to I + n gg'.
    With L the root of that, L^-1 P is orthonormal, and W goes to W L.
    """
    size, n_picked = arrays["sizes"][capped_msg.SIZE], arrays["counters"][1]
    picked = arrays["picked"][:n_picked]
    for name in ("block", "centre") + ("raw",) * is_wide:
        last = arrays[name][..., -1:]
        copies = np.repeat(last / cs_dpp.FAINT, n_new, axis=-1)
        known = arrays[name][..., :-1]
        arrays[name] = np.concatenate([known, copies, last], axis=-1)
    g = arrays["block"][picked, -2]
    longer = np.sqrt(1 + n_new * (g @ g))
    root, inverse_root = np.eye(n_picked), np.eye(n_picked)
    if g.any():
        root += (longer - 1) * np.outer(g, g) / (g @ g)
        inverse_root += (1 / longer - 1) * np.outer(g, g) / (g @ g)
    P = inverse_root @ arrays["block"][picked]
    arrays["block"][picked] = P
    for row in set(range(size)) - set(picked.tolist()):
        left = arrays["block"][row] - P.T @ (P @ arrays["block"][row])
        arrays["block"][row] = left / np.linalg.norm(left)
    if len(arrays["turn"]):
        arrays["turn"][:n_picked] = root @ arrays["turn"][:n_picked]
        arrays["inverse_turn"][:n_picked] = (
            inverse_root @ arrays["inverse_turn"][:n_picked]
        )
    elif not is_wide:
        arrays["raw"][:, :n_picked] = arrays["raw"][:, :n_picked] @ root
    n_old = len(arrays["counts"])
    fresh = np.arange(n_old, n_old + n_new)
    for name in ("order", "place"):
        arrays[name] = np.append(arrays[name], fresh)
    arrays["counts"] = np.append(arrays["counts"], np.zeros(n_new, np.int64))
