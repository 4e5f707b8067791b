"""The tables say what they mean: names agree, and so do the papers."""

import tomllib
from inspect import signature

import numpy as np
import pytest
from sklearn.svm import LinearSVC

import manylabel as ml
from benchmarks.learners.programme import read_programme as read_learners
from benchmarks.page import PUBLISHED
from benchmarks.peers.programme import read_programme
from benchmarks.reproduce.claim import read_claims
from benchmarks.reproduce.figure import read_figure
from benchmarks.reproduce.table import read_table
from benchmarks.reproduce.verdict import UNEXPLAINED, find_repeats
from benchmarks.toml_files import CLAIMS, HOME
from manylabel.losses import as_cost
from manylabel.metrics import as_metric

AT_HAND = (
    *("emotions", "yeast", "scene", "CAL500", "Corel5k", "bibtex", "delicious"),
    *("colon", "pcmac", "dorothea-drawn"),
)
SETTINGS = {
    "stream": {"hide", "judge", "rows", "label_orders", "empty"},
    "split": set(),
    "sets": set(),
    "folds": {"folds"},
    "binary": set(),
}
OWN_METRICS = {
    "stream": {"seconds"},
    "split": {"train_seconds", "predict_seconds"},
    "sets": {"f1", "predict_seconds", "train_seconds"},
    "folds": {"f1", "predict_seconds", "train_seconds"},
    "binary": {"error", "depth", "features", "train_seconds"},
}


def _read(path):
    return tomllib.loads(path.read_text(encoding="utf-8"))


SETS = _read(HOME / "data.toml")
PEERS = read_programme().sets
LEARNERS_SETS = read_learners().sets
FILES = {
    f"{path.parent.name}/{path.stem}": _read(path)
    for path in sorted(HOME.glob("*/*.toml"))
    if path.stem != CLAIMS
}
TABLES = {name: file for name, file in FILES.items() if "protocol" in file}
FIGURES = {name: file for name, file in FILES.items() if "kind" in file}
ROWS = [
    (name, data, learner, row)
    for name, table in TABLES.items()
    for data, rows in table.get("published", {}).items()
    for learner, row in rows.items()
]

of_each_table = pytest.mark.parametrize("name", TABLES)
of_each_figure = pytest.mark.parametrize("name", FIGURES)


def _table(number):
    return TABLES[f"cs-dpp/table-{number}"]["published"]


def _settings(learner):
    """Return each set of parameters that a learner may be made with."""
    given = learner.get("parameters", {})
    swept = [
        {name: value}
        for name, values in learner.get("sweep", {}).items()
        for value in values
    ]
    others = [*learner.get("on", {}).values(), *learner.get("choices", []), *swept]
    return [given | other for other in others or [{}]]


def test_every_file_is_a_table_or_a_figure():
    assert FILES.keys() == TABLES.keys() | FIGURES.keys()
    assert not TABLES.keys() & FIGURES.keys()
    assert len(TABLES) == 14 + 2 + 9
    assert len(FIGURES) == 3 + 6


@of_each_table
def test_a_table_can_be_read_in_full_and_quick(name):
    table = TABLES[name]
    for quick in (False, True):
        assert read_table(*name.split("/"), quick=quick).notes
    assert ("repetitions" in table) != ("seeds" in table)
    assert table.get("settings", {}).keys() <= SETTINGS[table["protocol"]]
    assert table.get("incomparable", {}).keys() <= set(table["metrics"])
    assert table.get("limits", {}).keys() <= set(table["data"])


@of_each_table
def test_reasons_are_of_cells_that_the_table_has(name):
    table = TABLES[name]
    rows = {entrant.name for entrant in read_table(*name.split("/")).entrants}
    for reason in table.get("reasons", []):
        assert set(reason.get("data", [])) <= set(table["data"])
        assert set(reason.get("rows", [])) <= rows
        assert set(reason.get("metrics", [])) <= set(table["metrics"])


def test_all_that_is_worse_on_the_published_page_has_a_reason():
    text = (PUBLISHED / "papers.md").read_text(encoding="utf-8")
    assert "| worse (1) |" in text
    assert "| worse |" not in text
    assert UNEXPLAINED not in text


@of_each_table
def test_a_spread_is_printed_after_a_published_value(name):
    table = TABLES[name]
    for data, rows in table.get("spread", {}).items():
        for learner, row in rows.items():
            published = table["published"][data][learner]
            assert len(row) == len(published)
            assert np.isnan(row)[np.isnan(published)].all()
            assert not np.nanmax(row) > np.nanmax(published), (data, learner)


@pytest.mark.parametrize("paper", sorted({name.split("/")[0] for name in FILES}))
def test_every_paper_has_claims_and_a_topic_for_its_numbers(paper):
    topics, claims = read_claims(paper)
    assert "numbers" in topics
    assert {claim.topic for claim in claims} == topics.keys() - {"numbers"}
    for claim in claims:
        assert claim.pairs, claim.says
        assert list(claim.cases()), claim.says
        sets = {data for table in claim.tables for data in table.data}
        assert set(claim.data or ()) <= sets
        for table in claim.tables:
            known = {*table.metrics, *OWN_METRICS[table.protocol]}
            assert set(claim.metrics) <= known, claim.says


def test_numbers_that_the_papers_repeat_are_found():
    tables = [read_table(*name.split("/")) for name in TABLES]
    order = sorted(tables, key=lambda t: (t.paper, int("0" + t.name.partition("-")[2])))
    where = find_repeats(order)
    in_18 = [home for (_, table, *_), home in where.items() if table == "table-18"]
    assert len(in_18) == 3 * 3 * 4  # Tables 6 to 8 are three sets of it
    for number, source in ((15, 12), (16, 13), (17, 14)):
        homes = {h for (_, t, *_), h in where.items() if t == f"table-{number}"}
        assert homes == {f"Table {source}, CS-DPP-PBC"}
        assert sum(t == f"table-{number}" for _, t, *_ in where) == 9 * 4


def test_only_what_a_paper_proposes_is_its_own():
    rows = {
        (paper, entrant.name)
        for name in TABLES
        for paper in [name.split("/")[0]]
        for entrant in read_table(*name.split("/")).entrants
        if entrant.role == "own"
    }
    lines = {(paper, row.split(",")[0]) for paper, row in rows}
    assert lines == {
        *(("budgeted-trees", row) for row in ("SBT", "SBT with pruning", "PT", "AT")),
        *(("pfastrexml-supplement", row) for row in ("PfastXML", "PfastreXML")),
        *(("cs-dpp", f"DPP-{share}") for share in (10, 25, 50)),
        *(("cs-dpp", row) for row in ("DPP", "CS-DPP", "DPP-PBT", "DPP-PBC")),
        *(("cs-dpp", row) for row in ("CS-DPP-PBT", "CS-DPP-PBC")),
        *(("cs-dpp", f"M = {share} %") for share in (10, 25, 50)),
    }


def _rows_of(paper, kind, role):
    """Return each row of a paper's tables that runs a class in a role."""
    return [
        (name, row)
        for name in TABLES
        if name.startswith(paper)
        for row in read_table(*name.split("/")).entrants
        if (row.learner, row.role) == (kind, role)
    ]


def test_sbt_is_a_tree_and_never_the_linear_classifier_in_its_place():
    rows = _rows_of("budgeted-trees", "BudgetedTree", "own")
    assert {name.split("/")[1] for name, _ in rows} == {
        *("table-4", "table-5", "table-6", "trade", "high", "xor")
    }
    for name, row in rows:
        assert row.parameters["prune"] == "pair", name
        assert row.parameters["budget"], name


@pytest.mark.parametrize("number", [4, 5])
def test_sbt_has_the_settings_of_the_paper(number):
    paper = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in ml.BudgetedTree.PAPER.items()
    }
    rows = _rows_of(f"budgeted-trees/table-{number}", "BudgetedTree", "own")
    assert [row.parameters for _, row in rows] == [paper]
    assert rows[0][1].on["rcv"]["budget"] == list(ml.BudgetedTree.PAPER_BUDGETS)


def test_pd_sparse_has_the_loss_of_its_paper_and_ppd_sparse_that_of_its_own():
    losses = {"PD-Sparse": "margin", "PPD-Sparse": "separable"}
    rows = _rows_of("", "PDSparse", "comparator")
    assert len(rows) == 2 * 3
    for _, row in rows:
        assert ml.PDSparse(**row.parameters).loss == losses[row.name]


@of_each_table
def test_metrics_are_known_to_the_protocol(name):
    table = TABLES[name]
    known = {"stream": as_cost, "split": as_metric}.get(table["protocol"])
    for metric in set(table["metrics"]) - OWN_METRICS[table["protocol"]]:
        assert known is not None, metric
        known(metric)


@of_each_table
def test_learners_have_names_of_their_own_and_take_their_parameters(name):
    table = TABLES[name]
    names = [learner["name"] for learner in table["learners"]]
    assert len(set(names)) == len(names)
    for learner in table["learners"]:
        kind = learner["class"]
        made = LinearSVC if kind == "LinearSVC" else getattr(ml, kind)
        for parameters in _settings(learner):
            made(**parameters)
        assert not learner.get("optimises") or "cost" in signature(made).parameters
        assert learner.get("against", names[0]) in names
        sets = {*learner.get("only", []), *learner.get("on", [])}
        assert sets <= set(table["data"])


@of_each_table
def test_every_data_set_is_in_the_catalogue(name):
    assert set(TABLES[name]["data"]) <= SETS.keys()


@of_each_table
def test_what_is_quick_is_a_part_of_the_whole(name):
    table, quick = TABLES[name], TABLES[name]["quick"]
    assert quick.keys() <= {"data", "repetitions", "seeds", "settings"}
    assert set(quick.get("data", [])) <= set(table["data"])
    assert quick.get("repetitions", 0) < table.get("repetitions", 1)
    assert set(quick.get("seeds", [])) <= set(table.get("seeds", []))
    assert quick.get("settings", {}).keys() <= SETTINGS[table["protocol"]]


@of_each_table
def test_published_rows_belong_to_a_set_and_a_learner_and_fill_the_columns(name):
    table = TABLES[name]
    runs = {
        learner["name"]: learner.get("only", table["data"])
        for learner in table["learners"]
        if "against" not in learner
    }
    for data, rows in table.get("published", {}).items():
        for learner, row in rows.items():
            assert data in runs[learner], (data, learner)
            assert len(row) == len(table["metrics"]), (data, learner)
            assert not np.isnan(row).all(), (data, learner)


@of_each_figure
def test_a_figure_draws_what_its_tables_have(name):
    figure = read_figure(*name.split("/"))
    for panel in figure.panels:
        assert set(panel.data) <= set(panel.table.data)
        if figure.kind == "frequencies":
            assert panel.metric in ("labels", "labelsets", "rows")
        else:
            assert {panel.metric, panel.x or panel.metric} <= set(panel.table.metrics)
        assert (figure.kind == "points") == bool(panel.x)
        assert figure.kind != "tree" or len(panel.lines()) == 1
        assert len(panel.data) == 1 or figure.kind in ("sizes", "groups")


@pytest.mark.parametrize("name", SETS)
def test_a_data_set_has_files_or_a_generator(name):
    entry = SETS[name]
    assert ("train" in entry) == ("test" in entry)
    assert ("train_rows" in entry) == ("test_rows" in entry)
    assert "all" in entry or "train_rows" not in entry
    is_drawn = "noisy" in entry or "words" in entry
    assert is_drawn != ("publisher" in entry)
    assert not is_drawn or "split" in entry
    assert "train" in entry or "all" in entry or is_drawn or name == "Ads-9M"
    others = {*PEERS, *LEARNERS_SETS}
    assert name in others or any(name in table["data"] for table in TABLES.values())


@pytest.mark.parametrize("name", AT_HAND)
def test_a_set_at_hand_is_found_under_a_name_of_the_catalogue(name, data_folder):
    entry = SETS[name]
    for part in ("train", "test") if "train" in entry else ("all",):
        assert any(any(data_folder.rglob(f"{file}.gz")) for file in entry[part])


@pytest.mark.parametrize(
    ("number", "data"), [(6, "CAL500"), (7, "yeast"), (8, "enron")]
)
def test_tables_6_to_8_are_parts_of_table_18(number, data):
    assert _table(number) == {data: _table(18)[data]}


@pytest.mark.parametrize(("number", "source"), [(15, 12), (16, 13), (17, 14)])
def test_cs_dpp_beside_random_codes_has_the_rows_of_basis_correction(number, source):
    assert _table(number).keys() == _table(source).keys()
    for data, rows in _table(number).items():
        assert rows["CS-DPP"] == _table(source)[data]["CS-DPP-PBC"]


def test_accuracy_losses_lie_between_what_f1_losses_allow():
    """The accuracy of a row is a / (2 - a) if its F1 is a, which is convex in a.

    So columns that are exchanged show. The paper took the two from runs of their own,
    hence the slack; CS-DPP that leaves its regressor alone is erratic.
    """
    slack, checked = 0.02, 0
    for name, data, learner, row in ROWS:
        metrics = TABLES[name]["metrics"]
        if "accuracy" in metrics and learner != "CS-DPP-None":
            f1, accuracy = row[metrics.index("f1")], row[metrics.index("accuracy")]
            most = 1 - (1 - f1) / (1 + f1)
            assert f1 - slack <= accuracy <= most + slack, (name, data, learner)
            checked += 1
    assert checked == 3 * 36 + 3 * 18 + 3 * 36 + 27 + 9 + 6


def test_the_first_label_has_the_same_ndcg_as_precision():
    for data, rows in TABLES["pfastrexml-supplement/table-1"]["published"].items():
        for learner, row in rows.items():
            assert row[0] == row[3], (data, learner)


def test_precision_falls_with_the_number_of_labels_but_on_ads():
    for name, data, learner, row in ROWS:
        metrics = TABLES[name]["metrics"]
        if "P@5" in metrics and data != "Ads-9M":
            found = [row[metrics.index(f"P@{k}")] for k in (1, 3, 5)]
            assert found == sorted(found, reverse=True), (name, data, learner)
