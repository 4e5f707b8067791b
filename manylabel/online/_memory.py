"""What CSDPP remembers: its arrays, how they begin, and how they grow.

A learner that may meet new labels keeps one column more than it has labels: a label
that no row ever has, learnt at a faint scale. A new label begins as its copy at full
scale, as if it had been there from the start and never relevant.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels.cs_dpp import capped_msg, factored
from manylabel._kernels.cs_dpp import learning as cs_dpp
from manylabel._typing import Array

MOST_EPOCHS = 32
Arrays = dict[str, Array]


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
        """Return the shape of each array; the kernels' State says what they are."""
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


# Arrays that have a feature along so many of their first axes.
PER_FEATURE = {"raw": 1, "stamp": 1, "spread": 1, "inverse": 2}
COUNTING = ("counters", "sizes", "picked", "ages", "stamp", "counts", "order", "place")
DTYPES: dict[str, Any] = dict.fromkeys(COUNTING, np.int64) | {"random": np.uint64}


def begin(plan: Plan, reg: float) -> Arrays:
    """Return the arrays of a learner that has seen nothing, random state aside."""
    arrays: dict[str, Any] = {
        name: np.zeros(shape, DTYPES.get(name, np.float64))
        for name, shape in plan.shapes().items()
    }
    arrays["order"][:] = arrays["place"][:] = np.arange(plan.n_labels)
    np.fill_diagonal(arrays["turn"], 1.0)
    np.fill_diagonal(arrays["inverse_turn"], 1.0)
    arrays["epochs"][:] = arrays["turn"]
    np.fill_diagonal(arrays["inverse"], 1 / reg)
    return arrays


def grow(arrays: Arrays, old: Plan, new: Plan, reg: float) -> Arrays:
    """Return the arrays with room for more features, labels and components."""
    arrays = {name: array.copy() for name, array in arrays.items()}
    if new.n_labels > old.n_labels:
        capped_msg.fold(arrays["sizes"], arrays["block"], arrays["mix"])
        _add_labels(arrays, new.n_labels - old.n_labels, old.is_wide)
    grown = begin(new, reg)
    features = np.append(np.arange(old.n_features), new.n_features)  # constant last
    for name, array in arrays.items():
        places = [np.arange(n) for n in array.shape]
        for axis in range(PER_FEATURE.get(name, 0)):
            places[axis] = features[: array.shape[axis]]
        grown[name][np.ix_(*places)] = array
    grown["stamp"][old.n_features : -1] = grown["ages"][0]
    return grown


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
