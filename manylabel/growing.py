"""Arrays that grow by others at their end."""

import numpy as np
from numpy.typing import DTypeLike

from manylabel._typing import Array


class Growing:
    """An array that others are put behind, each of which may be gone then.

    ``np.concatenate`` needs all of them at once, beside what it makes.

    Parameters
    ----------
    dtype : dtype
        Of the array; what is added must fit it.

    Examples
    --------
    >>> growing = Growing(np.int64)
    >>> for part in ([1, 2], [3]):
    ...     growing.extend(np.array(part))
    >>> growing.array()
    array([1, 2, 3])
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._dtype, self._bytes = np.dtype(dtype), bytearray()

    def extend(self, array: Array) -> None:
        """Put an array behind what is there."""
        whole = array.astype(self._dtype, order="C", casting="safe", copy=False)
        self._bytes += whole.view(np.uint8).data

    def array(self) -> Array:
        """Return what is there; nothing can be added then."""
        return np.frombuffer(self._bytes, self._dtype)
