"""Which of two sides each row goes to, so that both have their share of each label."""

from manylabel._kernels._jit import inner, kernel


@kernel
def part_rows(y_indptr, y_indices, starts, owners, order, need, room, side):
    """Write the side of each row, 0 or 1; ``side`` comes in as -1, rows have labels.

    The rarest labels come first, as they have the least choice (Sechidis, Tsoumakas &
    Vlahavas 2011). A row goes where its label is needed more.

    Parameters
    ----------
    y_indptr, y_indices : the labels of each row
    starts, owners : the rows of each label
    order : labels, the rarest first
    need : (n_labels, 2) rows that each side still wants of a label, in place
    room : (2,) rows that each side still takes, in place
    """
    for label in order:
        for p in range(starts[label], starts[label + 1]):
            i = owners[p]
            if side[i] < 0:
                wanted = need[label, 1] - need[label, 0]
                side[i] = _choose(wanted, room)
                room[side[i]] -= 1
                for q in range(y_indptr[i], y_indptr[i + 1]):
                    need[y_indices[q], side[i]] -= 1


@inner
def _choose(wanted, room):
    """Return the side that wants a row more, if it has room; else the roomier one."""
    if room[0] <= 0 or room[1] <= 0 or wanted == 0:
        return 1 if room[1] > room[0] else 0
    return 1 if wanted > 0 else 0
