"""Fits on a cluster: plan, parts, merge."""

from pathlib import Path
from typing import Any

from manylabel import parallel
from manylabel.distributed import engines
from manylabel.distributed.lock import locked
from manylabel.distributed.merging import merge
from manylabel.distributed.part import fit_part, remove_drafts
from manylabel.distributed.plan import ALL, FILE, make_plan

PER_SLOT = 8  # parts: so that all workers end at about the same time
PLANNING, MERGING = 0.05, 0.05  # of the time of a fit, about


def fit(
    estimator: Any,
    data: Any,
    *,
    out: str | Path,
    client: Any = None,
    n_parts: int | None = None,
    rows: str = ALL,
) -> Any:
    """Fit an estimator by parts on a cluster, and return it fitted.

    Workers get a path and a range each, not data, and write what they learn to
    folders: what has been learnt when a run breaks is not learnt again by the next.
    Which worker learns a part does not change a bit.

    Parameters
    ----------
    estimator : FastXML, PfastXML, PfastreXML, LabelTree, OneVsRest or Tagger
        As in :func:`plan`; a new one is returned.
    data : str, path-like or Dataset
        As in :func:`plan`.
    out : str or path-like
        A folder that all machines see, for the plan and the parts. It stays.
    client : object, str or None, default=None
        A dask ``Client``, a ``SparkSession``, the module ``ray``, or an address:
        "dask://host:port", "ray", "ray://host:port", "spark://host:port" or
        "spark-local". None learns the parts in this process.
    n_parts : int or None, default=None
        How many parts; None is eight for each that run at once.
    rows : {"all", "shards"}, default="all"
        As in :func:`plan`.

    Returns
    -------
    estimator
        Has the bits of ``estimator.fit``, unless ``rows="shards"``.

    Examples
    --------
    >>> import tempfile
    >>> import manylabel as ml
    >>> corpus = ml.make_corpus(n_rows=60, n_labels=6, random_state=0)
    >>> data = ml.Dataset(corpus.X, corpus.Y)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     model = fit(ml.FastXML(n_estimators=3), data, out=out)
    >>> model.forest_.n_trees
    3
    """
    folder = Path(out)
    with locked(folder), engines.connect(client, _n_jobs(estimator)) as engine:
        with parallel.stage("planning", PLANNING):
            usual = None if (folder / FILE).exists() else PER_SLOT * engine.n_slots
            asked = usual if n_parts is None else n_parts
            parts = make_plan(estimator, data, asked, folder, rows)
        tasks = [(str(folder.resolve()), part._asdict()) for part in parts]
        with parallel.stage("parts", 1 - PLANNING - MERGING):
            places = parallel.follow(engine.run(fit_part, tasks), len(tasks))
        with parallel.stage("merging", MERGING):
            merged = merge(places)
        remove_drafts(folder)
        return merged


def _n_jobs(estimator: Any) -> int | None:
    learner = getattr(estimator, "learner", estimator)
    n_jobs: int | None = getattr(learner, "n_jobs", None)
    return n_jobs
