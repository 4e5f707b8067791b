"""What is learnt from corrections: records of arrays, how they begin and grow."""

from typing import Annotated, NamedTuple

import numpy as np

from manylabel._kernels.corrections import memory
from manylabel._kernels.label_tree import pairs
from manylabel._typing import Array, Floats
from manylabel.persistence.records import (
    MOST_COUNTED,
    Columns,
    Field,
    Finite,
    Sizes,
    Within,
)

FEWEST_SLOTS = 1 << 10
RECENT_SLOTS = 1 << 17  # 2 MB, which are copied to publish what was learnt
N_RINGS = 1 << 16
FILTER_BYTES = 1 << 19
LARGEST = 1e15  # of a weight: sums of products with features stay finite
Bounded = Within(-LARGEST, LARGEST)


class Learnt(NamedTuple):
    """A hash table of pairs of a label and a feature, which is not written to.

    The columns of ``blocks`` are weights, and sums of squared gradients.
    """

    keys: Annotated[Array, Field("uint64", "n_slots")]  # 0 where there is no pair
    blocks: Annotated[Array, Field("float32", "n_slots, 2", Bounded)]

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if the arrays are no table."""
        _check_table("learnt_", self.keys, self.blocks)


class Recent(NamedTuple):
    """Pairs that were learnt since, which count in place of older ones, and the rest.

    A ring has the labels that were last accepted with a feature. A pair that is not in
    the ``filter`` was never learnt. ``counters`` has the corrections and the pairs,
    ``losses`` what each weight of the corrections has cost of late, ``scales``
    how the tagger's log odds are rescaled meanwhile, ``mentions`` the labels that were
    mentioned, and the probable ones that were not.
    """

    keys: Annotated[Array, Field("uint64", "n_recent")]
    blocks: Annotated[Array, Field("float32", "n_recent, 2", Bounded)]
    rings: Annotated[Array, Field("int32", "n_rings, 4", Columns("n_labels", -1))]
    filter: Annotated[Array, Field("uint8", "n_bytes")]
    counters: Annotated[Array, Field("int64", "2", Within(0, MOST_COUNTED))]
    losses: Annotated[Floats, Field("float64", "4", Finite(least=0))]
    scales: Annotated[Floats, Field("float64", "4, 4", Bounded)]
    mentions: Annotated[Floats, Field("float64", "2", Within(1, MOST_COUNTED))]

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if the arrays are no table, or no rings."""
        _check_table("recent_", self.keys, self.blocks)
        if (len(self.rings), len(self.filter)) != (N_RINGS, FILTER_BYTES):
            raise ValueError(
                f"recent_ must have {N_RINGS} rings and {FILTER_BYTES} bytes of filter."
            )
        if self.counters[memory.N_RECENT] != np.count_nonzero(self.keys):
            raise ValueError("recent_.counters must count the keys.")


def begin() -> tuple[Learnt, Recent]:
    """Return what is known before the first correction."""
    learnt = Learnt(np.zeros(FEWEST_SLOTS, np.uint64), _zeros(FEWEST_SLOTS))
    recent = Recent(
        np.zeros(RECENT_SLOTS, np.uint64),
        _zeros(RECENT_SLOTS),
        np.full((N_RINGS, 4), -1, np.int32),
        np.zeros(FILTER_BYTES, np.uint8),
        np.zeros(2, np.int64),
        np.zeros(len(memory.WEIGHTS)),
        np.tile([1.0, 0.0, 0.0, 0.0], (len(memory.WEIGHTS), 1)),
        np.ones(2),
    )
    return learnt, recent


def make_room(learnt: Learnt, recent: Recent, n_bits: int) -> tuple[Learnt, Recent]:
    """Return the same with no recent pairs; if there are none, with more room."""
    counters = recent.counters.copy()
    n_slots = len(recent.keys)
    if not counters[memory.N_RECENT]:
        n_slots *= 2
    else:
        learnt = _merge(learnt, recent, n_bits)
        counters[memory.N_RECENT] = 0
    empty = {"keys": np.zeros(n_slots, np.uint64), "blocks": _zeros(n_slots)}
    return learnt, recent._replace(counters=counters, **empty)


def _merge(learnt: Learnt, recent: Recent, n_bits: int) -> Learnt:
    """Return a table of all pairs, in at most ``2 ** n_bits`` slots.

    Where there are no more slots, the pairs that were learnt least are forgotten, so
    that half of the slots are free.
    """
    used = int(np.count_nonzero(learnt.keys))
    used, n_slots = used + int(recent.counters[memory.N_RECENT]), len(learnt.keys)
    least = 2 * int(recent.counters[memory.N_RECENT])
    while used > n_slots // 4 * 3 and (n_slots < 1 << n_bits or n_slots < least):
        n_slots *= 2
    is_kept = learnt.keys != 0
    if used > n_slots // 4 * 3:
        slots = np.flatnonzero(is_kept)
        order = np.argsort(learnt.blocks[slots, 1], kind="stable")
        is_kept[slots[order[: used - n_slots // 2]]] = False
    if n_slots == len(learnt.keys) and used <= n_slots // 4 * 3:
        keys, blocks = learnt.keys.copy(), learnt.blocks.copy()
    else:
        keys, blocks = np.zeros(n_slots, np.uint64), _zeros(n_slots)
        pairs.move(learnt.keys, learnt.blocks, is_kept, keys, blocks)
    memory.add_pairs(recent.keys, recent.blocks, keys, blocks)
    return Learnt(keys, blocks)


def _zeros(n_slots: int) -> Array:
    return np.zeros((n_slots, 2), np.float32)


def _check_table(name: str, keys: Array, blocks: Array) -> None:
    n_slots = len(keys)
    if n_slots < FEWEST_SLOTS or n_slots & (n_slots - 1):
        raise ValueError(f"{name}.keys must have a power of two slots.")
    if np.count_nonzero(keys) > n_slots // 4 * 3:
        raise ValueError(f"{name}.keys must leave a quarter of the slots free.")
    if blocks[:, 1].min() < 0 or blocks[keys == 0].any():
        raise ValueError(
            f"{name}.blocks must hold sums of squares, and be 0 elsewhere."
        )
