"""``manylabel fit``: train a model and save it."""

import os
import time
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel._plural import counted
from manylabel.cli import options
from manylabel.cli.console import fitting, note, print_json, print_table, status
from manylabel.cli.figures import card_figures
from manylabel.cli.inputs import DataFile
from manylabel.cli.learners import make
from manylabel.cli.on import On, Work, fit_on, save_fitted
from manylabel.cli.plan import Limit, Wish, make_plan
from manylabel.cli.propensities import KnownPropensity, tell_law
from manylabel.cli.tuning import check_tuning, search
from manylabel.exceptions import ArchiveError, DataError
from manylabel.learners import LEARNERS

if TYPE_CHECKING:
    from manylabel.data import Dataset
    from manylabel.text import Tagger

WORD = "word"
ModelToBe = Annotated[
    Path,
    typer.Option(metavar="DIR", help="The folder to save to; a model is replaced."),
]
Quality = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="fast, balanced or best: how good the learner is to be that is chosen, "
        "and how long it may take.",
        autocompletion=lambda: ["fast", "balanced", "best"],
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        min=0,
        help="Take a lower quality if the learner takes longer than this, by what is "
        "measured on a few rows, and refuse if all do; compiling does not count.",
    ),
]
Learner = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"One of {', '.join(LEARNERS)}; chosen by --quality and the size of the "
        "data if not given.",
        autocompletion=lambda: list(LEARNERS),
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter of the learner; repeatable."
    ),
]
Tune = Annotated[
    str | None,
    typer.Option(
        metavar="METRIC",
        help="Hyperparameter search: try a few settings of the learner on a validation "
        "set, one row in five, and take the best by this metric, as P@1, nDCG@5 or "
        "PSP@3.",
    ),
]
Calibrate = Annotated[
    str | None,
    typer.Option(
        metavar="METHOD",
        help="auto, sigmoid or isotonic: make scores probabilities, for predict "
        "--proba and for sets of least expected F1 loss; takes about one more fit, "
        "four of fewer than 5,000 rows.",
        autocompletion=lambda: ["auto", "sigmoid", "isotonic"],
    ),
]
Analyzer = Annotated[
    str,
    typer.Option(metavar="NAME", help="Of texts: word (and word pairs) or char."),
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="Of texts: de, en, fi, ... count words by their stems, zh, ja, th, ... "
        "cut texts without blanks; auto tells the language.",
        show_default=False,
    ),
]
VocabularyFile = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        help="Names of labels: SKOS (.ttl, .rdf), Annif's .tsv, or a name a line. Its "
        "labels that no row has are suggested too.",
        show_default=False,
    ),
]
Broader = Annotated[
    bool,
    typer.Option(
        "--broader",
        help="With --vocabulary: in sets, a label brings its broader terms.",
    ),
]
Valid = Annotated[
    float,
    typer.Option(
        min=0,
        max=0.9,
        help="Share of the rows to judge the model by, which it then does not learn.",
    ),
]


@options.reads()
def fit(
    file: options.File,
    model: ModelToBe,
    quality: Quality = "balanced",
    learner: Learner = None,
    set_: Set = None,
    tune: Tune = None,
    calibrate: Calibrate = None,
    time_limit: TimeLimit = None,
    propensity: KnownPropensity = None,
    analyzer: Analyzer = WORD,
    language: Language = None,
    vocabulary: VocabularyFile = None,
    broader: Broader = False,
    valid: Valid = 0.0,
    jobs: options.Threads = -1,
    on: On = None,
    work: Work = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Train a model on a file of texts or of features, and save it to a folder.

    It says first which learner it chose, and about how long that takes.

    Example: manylabel fit train.jsonl.gz --model debtags/ --valid 0.1
    """
    limit, common = Limit(time_limit), {"n_jobs": jobs, "random_state": seed}
    _check_learner(learner, quality, set_, tune, calibrate, on)
    _check_words(language, vocabulary, tune, broader)
    _check_place(model, work, on)
    data = _read(DataFile(file, reading), analyzer, language)
    common |= tell_law(propensity, data)
    words = language, _read_vocabulary(vocabulary, language, data), broader
    wish = Wish(learner, quality, set_, common, analyzer, tune, calibrate, *words)
    plan = make_plan(wish, data, limit)
    if str(plan) and not json:
        note(f"note: {plan}.")
    data, held = _divide(data, valid, seed)
    tagger, start = plan.tagger, time.perf_counter()
    figures: dict[str, Any] = {"model": str(model), **plan.figures()}
    if tune is not None:
        tagger, figures["tuned"] = search(tagger, data, tune, set_, seed)
        note(f"note: chose {figures['tuned']}, for {tune}.")
    with fitting(f"Fitting {plan.name} to {_size(data)}", plan.seconds):
        tagger = fit_on(on, tagger, data, model, work)
    tagger.annotate(**_origin(file, reading))
    figures |= _sizes(tagger, data, language, time.perf_counter() - start)
    if held is not None:
        figures |= {"judged by": len(held)} | _judge(tagger, held)
    save_fitted(on, tagger, model, work)
    figures["megabytes"] = _megabytes(model)
    print_json(figures) if json else _print_figures(figures, f"Fitted on {file}")


def _read(file: DataFile, analyzer: str, language: str | None) -> "Dataset":
    with status(f"Reading {file.given}"):
        data = file.read()
    if not data.n_labels:
        raise file.fault(f"expected labels, found none in {counted(len(data), 'row')}.")
    file.tell_unlabelled(data, int((data.Y.sum(axis=1) == 0).sum()), len(data))
    _check_texts(data, file.given, analyzer, language)
    return data


def _size(data: "Dataset") -> str:
    return f"{counted(len(data), 'row')}, {counted(data.n_labels, 'label')}"


def _origin(file: Path, reading: options.Reading) -> dict[str, Any]:
    """Return what a model is made of; other files are read by columns named here."""
    from manylabel.text import COLUMNS

    given = reading.options()
    columns = {name: given[name] for name in COLUMNS if given[name]} or None
    today = date.today().isoformat()
    return {"source": str(file), "columns": columns, "date": today}


def _read_vocabulary(path: Path | None, language: str | None, data: "Dataset") -> Any:
    """Return the vocabulary of a file, by URIs or by names, as data has labels."""
    from manylabel.data import Vocabulary

    if path is None:
        return None
    with status(f"Reading {path}"):
        found = Vocabulary.read(path, language=None if language == "auto" else language)
    kinds = (found, found.by_name())
    counts = [sum(label in kind for label in data.labels) for kind in kinds]
    if not max(counts):
        reason = f"expected labels of the data, found none of {data.n_labels:,}."
        raise DataError(path, reason)
    return kinds[counts.index(max(counts))]


def _divide(
    data: "Dataset", share: float, seed: int
) -> tuple["Dataset", "Dataset | None"]:
    """Return the rows to learn, and those to judge by, if there are to be any."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(data))
    n_held = round(share * len(data))
    if not n_held:
        return data, None
    return data[np.sort(order[n_held:])], data[np.sort(order[:n_held])]


def _sizes(
    tagger: "Tagger", data: "Dataset", language: str | None, seconds: float
) -> dict[str, Any]:
    """Return how much was learnt, and of which language, if it was asked for."""
    figures: dict[str, Any] = {
        "rows": len(data),
        "features": tagger.n_features_,
        "labels": data.n_labels,
        "seconds": round(seconds, 3),
    }
    if language is not None and not isinstance(tagger.vectorizer_, str):
        figures["language"] = tagger.vectorizer_.language_ or "not told"
    return figures


def _judge(tagger: "Tagger", held: "Dataset") -> dict[str, float]:
    """Return P@k and PSP@k on rows that were not learnt, in percent; keep them."""
    report = tagger.evaluate(held)
    tagger.annotate(**card_figures(report), judged_by=len(held))
    names = [f"{kind}@{k}" for kind in ("P", "PSP") for k in (1, 3, 5)]
    return {name: round(100 * report[name], 2) for name in names}


def _megabytes(model: Path) -> float:
    n_bytes = 0
    for part in model.iterdir():
        with suppress(FileNotFoundError):  # another process has just replaced it
            n_bytes += part.stat().st_size
    return round(n_bytes / 1e6, 3)


def _print_figures(figures: dict[str, Any], title: str) -> None:
    cells = ((k, v if isinstance(v, str) else f"{v:,}") for k, v in figures.items())
    print_table(["", ""], cells, title=title)


def _check_learner(
    learner: str | None,
    quality: str,
    settings: list[str] | None,
    metric: str | None,
    calibrate: str | None,
    on: str | None,
) -> None:
    """Refuse, before a long file is read, what no learner or this one cannot do."""
    from manylabel._validation import choice
    from manylabel.model_selection.calibration import METHODS
    from manylabel.text import QUALITIES

    choice(quality, "--quality", QUALITIES)
    if calibrate is not None:
        choice(calibrate, "--calibrate", METHODS)
    made = None if learner is None else make([learner], settings, {})[0]
    if metric is not None and on is not None:
        raise ValueError(
            "--tune must come without --on: search on this machine, with fewer rows if "
            "there are too many, and give what was chosen to --set."
        )
    if metric is not None:
        check_tuning(metric, made, settings)
    if on is not None:
        from manylabel.distributed.engines import engine_of

        engine_of(on)


def _check_words(
    language: str | None, vocabulary: Path | None, metric: str | None, broader: bool
) -> None:
    """Refuse, before a long file is read, what nothing is known of."""
    from manylabel._validation import choice
    from manylabel.text import LANGUAGES

    if language is not None:
        choice(language, "--language", LANGUAGES)
    if vocabulary is not None and metric is not None:
        raise ValueError("--tune must come without --vocabulary.")
    if broader and vocabulary is None:
        raise ValueError("--broader must come with --vocabulary, which has such terms.")


def _check_texts(
    data: "Dataset", file: Path, analyzer: str, language: str | None
) -> None:
    """Refuse what says how words are told where there are none."""
    for option, given in (("--language", language), ("--analyzer", analyzer != WORD)):
        if given and data.texts is None:
            raise DataError(file, f"{option} needs texts, found rows of features.")


def _check_place(model: Path, work: Path | None, on: str | None) -> None:
    """Refuse, before hours of training, a folder that cannot be written."""
    from manylabel.persistence.folder import refuse_foreign

    if work is not None and on is None:
        raise ValueError(f"--work must come with --on. Got {str(work)!r} alone.")
    if work is not None and work.resolve().is_relative_to(model.resolve()):
        raise ValueError(
            f"--work must name a folder outside that of --model. Got {str(work)!r}."
        )
    place = next(each for each in (model, *model.parents) if each.exists())
    if not place.is_dir():
        raise ArchiveError(place, "expected a folder or nothing, found a file.")
    if place == model:
        refuse_foreign(model)
    if not os.access(place, os.W_OK):
        raise ArchiveError(model, f"the folder {place} cannot be written.")
