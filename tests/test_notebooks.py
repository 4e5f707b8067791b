"""What notebooks show: tables of markup in which no text can be markup."""

import re
from xml.etree import ElementTree

import pytest

import manylabel as ml

HOSTILE = "<script>alert(1)</script>\u202e&\"'"
TEXTS = [f"red wine {HOSTILE}", "rye bread " * 100]
TAGS = [[HOSTILE, "drink"], ["food"]]


@pytest.fixture(scope="module")
def tagger():
    return ml.Tagger().fit(TEXTS, TAGS).annotate(source=HOSTILE)


def shown(thing):
    """Return what a notebook shows, tags taken off."""
    return " ".join(re.sub(r"<[^>]*>", " ", thing._repr_html_()).split())


def data():
    Y = ml.LabelSpace(["<b>", HOSTILE]).encode([["<b>", HOSTILE], []])
    return ml.Dataset(
        None, Y, label_names=["<b>", HOSTILE], ids=["<i>", "2"], texts=TEXTS
    )


def report():
    return ml.evaluate([[1, 0, 1], [0, 1, 0]], [[0.9, 0.8, 0.1], [0.2, 0.7, 0.6]], k=1)


def test_tables_are_whole(tagger):
    for thing in (data(), report(), tagger):
        markup = ElementTree.fromstring(f"<main>{thing._repr_html_()}</main>")
        assert len({len(row) for row in markup.iter("tr")}) == 1


def test_no_text_is_markup(tagger):
    for page in (
        data()._repr_html_(),
        tagger._repr_html_(),
        tagger.card()._repr_html_(),
    ):
        assert "&lt;script&gt;" in page
        assert "<script" not in page
        assert "\u202e" not in page
    assert "&lt;b&gt;" in data()._repr_html_()
    assert "&lt;i&gt;" in data()._repr_html_()


def test_a_data_set_shows_its_first_rows():
    assert "Dataset(2 rows, texts, 2 labels)" in shown(data())
    assert "rye bread rye bread" in shown(data())
    assert "…" in shown(data())


def test_rows_of_features_show_how_many_are_not_zero():
    many = ml.Dataset([[0.5, 0.0]] * 9, [[1] * 12] * 9)
    assert shown(many).count("1 not zero") == 5
    assert "8 , 9 , 2 more" in shown(many)


def test_a_report_shows_scores_apart_from_losses():
    page = shown(report())
    assert "more is better percent @1 P 100.00" in page


def test_a_fitted_tagger_shows_its_card(tagger):
    assert "Model card" in shown(tagger)
    bundle = tagger._repr_mimebundle_()
    assert bundle["text/html"] == tagger._repr_html_()
    assert bundle["text/plain"] == repr(tagger)


def test_a_tagger_that_is_not_fitted_shows_its_parts():
    assert "LabelTree" in ml.Tagger(ml.LabelTree())._repr_html_()
