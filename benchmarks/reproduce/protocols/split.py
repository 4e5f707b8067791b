"""Train on one part, rank the labels of the other, as the repository does."""

from benchmarks.reproduce.protocols.outcome import Outcome, timed
from benchmarks.reproduce.trial import Trial
from benchmarks.source import Source
from manylabel.evaluation import evaluate
from manylabel.propensity import Propensity

DEPTHS = (1, 3, 5)


def split(trial: Trial, data: Source) -> Outcome:
    """Fit to the training rows and judge the 5 best labels of each test row.

    Figures are percent.
    """
    train, test = data.parts["train"], data.parts["test"]
    model, training = timed(lambda: trial.make().fit(train.X, train.Y))
    best, predicting = timed(lambda: model.predict_topk(test.X, k=max(DEPTHS)))
    report = evaluate(
        test.Y, best, k=DEPTHS, propensity=Propensity(**data.propensity).fit(train.Y)
    )
    figures = {name: 100 * value for name, value in report.items()}
    return Outcome(figures | {"train_seconds": training, "predict_seconds": predicting})
