"""Classifiers of the children of nodes, from columns to blocks by feature."""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import FULL, stretch

CHUNK = 64  # features that are looked at only if one of them occurs


class ColumnBits(NamedTuple):
    """Columns one after another: where each starts, its features, its bits."""

    starts: Any
    features: Any
    bits: Any


class FeatureCounts(NamedTuple):
    """What a block is counted in; all of it is 0 between two blocks but ``places``."""

    counts: Any  # of each feature
    touched: Any  # of each chunk of features, whether one occurs
    places: Any  # of the next entry of a feature; -1 - start if its row is full


class BlockRows(NamedTuple):
    """Rows of blocks one after another, a feature each; its bits are 0 before."""

    features: Any
    starts: Any
    children: Any
    bits: Any


@kernel
def index_blocks(columns, order, child_starts, counted, n_rows, out):
    """Write the block of each node; return how many entries all of them have.

    ``order`` has the column of each child, ``n_rows`` gets the features of each block.
    A row that is fuller than one entry in FULL has one for each child. Without room
    for any entry in ``out``, blocks are only measured.
    """
    row, entry = np.int64(0), np.int64(0)
    for node in range(1, child_starts.shape[0] - 1):
        first, last = child_starts[node], child_starts[node + 1]
        count_features(columns, order, first, last, counted)
        before = row
        row, entry = open_rows(last - first, row, entry, counted, out)
        n_rows[node] = row - before
        if out.bits.shape[0] > 0:
            fill_rows(columns, order, first, last, counted, out)
    return entry


@inner
def count_features(columns, order, first, last, counted):
    """Count how many of some columns have each feature."""
    for child in range(first, last):
        for p in stretch(columns.starts, order[child]):
            feature = columns.features[p]
            counted.counts[feature] += 1
            counted.touched[feature // CHUNK] = True


@inner
def open_rows(width, row, entry, counted, out):
    """Give each feature that was counted its place; return where the next would be."""
    for chunk in range(counted.touched.shape[0]):
        if not counted.touched[chunk]:
            continue
        counted.touched[chunk] = False
        end = min((chunk + 1) * CHUNK, counted.counts.shape[0])
        for feature in range(chunk * CHUNK, end):
            size = counted.counts[feature]
            if size == 0:
                continue
            counted.counts[feature], counted.places[feature] = 0, entry
            if FULL * size > width:
                size, counted.places[feature] = width, -1 - entry
            if out.bits.shape[0] > 0:
                out.features[row], out.starts[row + 1] = feature, entry + size
                for number in range(size):  # those of a row that is not full change
                    out.children[entry + number] = number
            row, entry = row + 1, entry + size
    return row, entry


@inner
def fill_rows(columns, order, first, last, counted, out):
    """Write the entries of some columns, by child within each row."""
    for child in range(first, last):
        number = child - first
        for p in stretch(columns.starts, order[child]):
            feature = columns.features[p]
            place = counted.places[feature]
            if place < 0:
                place = -1 - place + number
            else:
                counted.places[feature] = place + 1
            out.children[place], out.bits[place] = number, columns.bits[p]
