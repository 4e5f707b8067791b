"""Every file of the data folder has the size that its README states."""

import pytest

from manylabel import read

MULAN = {
    "emotions": (391, 202, 72, 6, 1.87),
    "yeast": (1500, 917, 103, 14, 4.24),
    "scene": (1211, 1196, 294, 6, 1.07),
    "Corel5k": (4500, 500, 499, 374, 3.52),
    "bibtex": (4880, 2515, 1836, 159, 2.40),
    "delicious": (12920, 3185, 500, 983, 19.02),
}
XMC = {
    "bibtex": (4880, 2515, 1836, 159),
    "delicious": (12920, 3185, 500, 983),
    "rcv1sub1": (4800, 1200, 47236, 101),
    "debtags": (24538, 5762, 20568, 598),
    "depends": (43756, 10785, 28438, 18152),
}
TEXT = {
    "reuters90": (7770, 3019, 90, 1.24),
    "debtags": (24538, 5762, 598, 3.70),
    "depends": (43756, 10785, 33549, 5.13),  # README counts those in two rows or more
}


def parts(folder, pattern):
    return [read(folder / pattern.format(part)) for part in ("train", "test")]


def cardinality(parts):
    return sum(part.Y.nnz for part in parts) / sum(map(len, parts))


@pytest.mark.parametrize("name", MULAN)
def test_mulan(data_folder, name):
    *sizes, n_features, n_labels, per_row = MULAN[name]
    both = parts(data_folder / "mulan", name + "-{}.arff.gz")
    assert [len(part) for part in both] == sizes
    assert {(p.n_features, p.n_labels) for p in both} == {(n_features, n_labels)}
    assert cardinality(both) == pytest.approx(per_row, abs=0.005)


def test_cal500(data_folder):
    data = read(data_folder / "mulan/CAL500.arff.gz")
    assert (len(data), data.n_features, data.n_labels) == (502, 68, 174)
    assert cardinality([data]) == pytest.approx(26.04, abs=0.005)


@pytest.mark.parametrize("name", XMC)
def test_repository(data_folder, name):
    *sizes, n_features, n_labels = XMC[name]
    both = parts(data_folder / "xmc" / name, "{}.txt.gz")
    assert [len(part) for part in both] == sizes
    assert {(p.n_features, p.n_labels) for p in both} == {(n_features, n_labels)}


@pytest.mark.parametrize("name", ["bibtex", "delicious"])
def test_both_formats_hold_the_same_rows(data_folder, name):
    mulan = parts(data_folder / "mulan", name + "-{}.arff.gz")
    xmc = parts(data_folder / "xmc" / name, "{}.txt.gz")
    for left, right in zip(mulan, xmc, strict=True):
        assert (left.X != right.X).nnz == 0
        assert (left.Y != right.Y).nnz == 0


@pytest.mark.parametrize("name", TEXT)
def test_texts(data_folder, name):
    *sizes, n_labels, per_row = TEXT[name]
    both = parts(data_folder / "text" / name, "{}.jsonl.gz")
    assert [len(part) for part in both] == sizes
    assert len({label for part in both for label in part.labels}) == n_labels
    assert cardinality(both) == pytest.approx(per_row, abs=0.005)


@pytest.mark.parametrize("name", ["debtags", "depends"])
def test_named_columns_hold_the_labels_of_the_texts(data_folder, name):
    folder = data_folder / "xmc" / name
    names = {f"{of}_names": folder / f"{of}s.txt.gz" for of in ("label", "feature")}
    data = read(folder / "test.txt.gz", **names)
    texts = read(data_folder / "text" / name / "test.jsonl.gz")
    known = [
        [label for label in labels if label in data.labels]
        for labels in texts.labels.decode(texts.Y)
    ]
    assert known == data.labels.decode(data.Y)


@pytest.mark.parametrize(
    ("name", "n", "d"), [("pcmac", 1943, 3289), ("colon", 62, 2000)]
)
def test_binary(data_folder, name, n, d):
    data = read(data_folder / "binary" / f"{name}.svm.gz")
    assert (len(data), data.n_features, data.n_labels) == (n, d, 1)
    assert 0 < data.Y.nnz < n
