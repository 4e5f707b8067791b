"""Train on one part, predict the sets of labels of the other."""

from benchmarks.reproduce.protocols.outcome import Outcome, timed
from benchmarks.reproduce.trial import Trial
from benchmarks.source import Source
from manylabel.evaluation import evaluate


def sets(trial: Trial, data: Source) -> Outcome:
    """Fit to the training rows and judge the sets of labels of the test rows.

    ``f1`` is the mean F1 of rows, 1 at best.
    """
    train, test = data.parts["train"], data.parts["test"]
    model, training = timed(lambda: trial.make().fit(train.X, train.Y))
    found, predicting = timed(lambda: model.predict(test.X))
    f1 = 1 - evaluate(test.Y, found, costs=("f1",))["f1"]
    times = {"train_seconds": training, "predict_seconds": predicting}
    return Outcome({"f1": f1} | times)
