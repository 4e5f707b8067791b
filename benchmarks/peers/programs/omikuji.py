"""omikuji: forests of label trees of linear classifiers, as in Parabel and Bonsai.

It trains from a text file only, so its time has the reading in it, and it predicts one
row a call. It scales rows to unit length itself and has no seed.
"""

from typing import Any

import omikuji


class Entrant:
    """A model with the default hyper-parameters, but for those that are given."""

    def __init__(self, job: Any) -> None:
        self.job = job
        self.settings = omikuji.Model.default_hyper_param()
        for name, value in job.parameters.items():
            setattr(self.settings, name, value)

    def train(self) -> None:
        self.model = omikuji.Model.train_on_data(
            str(self.job.text), self.settings, n_threads=1
        )
        self.model.init_prediction_thread_pool(1)

    def save(self) -> None:
        self.model.save(str(self.job.model))

    def rows(self, X: Any) -> list[list[tuple[int, float]]]:
        spans = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return [
            list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
            for a, b in spans
        ]

    def predict(self, rows: list[list[tuple[int, float]]]) -> list[Any]:
        return [self.model.predict(row, top_k=self.job.k) for row in rows]
