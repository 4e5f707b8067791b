"""Names for the array types that cross module borders."""

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]
CSR: TypeAlias = sp.csr_array
LabelMatrix: TypeAlias = CSR | Ints  # 0/1
MatrixLike: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


@runtime_checkable
class CountCost(Protocol):
    """A cost of one row that depends on label counts only."""

    def from_counts(
        self, hits: Array, n_true: Array, n_predicted: Array, n_labels: int
    ) -> Array:
        """Return the cost of each row; all arguments broadcast."""
