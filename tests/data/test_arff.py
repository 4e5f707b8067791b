"""ARFF: Mulan's and MEKA's ways of saying which attributes are labels."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel import Dataset, read, write
from manylabel.exceptions import DataError, SkippedLines

XML = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<labels xmlns="http://mulan.sourceforge.net/labels">'
    '<label name="sad"><label name="it&apos;s"></label></label></labels>'
)
HEADER = r"""% made by hand
@RELATION 'some words'
@Attribute width numeric
@attribute 'it\'s' {1,0}
@attribute "two words" {0,1}
@attribute colour {red,'dark green',"a,b"}
@attribute sad NUMERIC

@data
"""
DENSE = HEADER + "0.5,1,0,red,0\n% note\n\n-2e3, 0 ,1,'dark green',1\n?,?,?,?,?\n"
SPARSE = HEADER.replace("{1,0}", "{0,1}") + '{0 0.5,1 1}\n{ 4 1 , 3 "a,b" }\n{}\n'


@pytest.fixture
def mulan(put):
    """Return a function that writes an ARFF file with its XML beside."""

    def write(text, name="set.arff", xml=XML, xml_name="set.xml", **options):
        path = put(text, name, **options)
        put(xml, xml_name, beside=path)
        return path

    return write


def test_dense_rows(mulan):
    data = read(mulan(DENSE))
    assert data.label_names == ("it's", "sad")
    assert data.feature_names == (
        *("width", "two words"),
        *("colour=red", "colour=dark green", "colour=a,b"),
    )
    assert_array_equal(
        data.X.toarray(), [[0.5, 0, 1, 0, 0], [-2000, 1, 0, 1, 0], [0, 0, 0, 0, 0]]
    )
    assert_array_equal(data.Y.toarray(), [[1, 0], [0, 1], [0, 0]])


def test_what_a_sparse_row_omits_is_the_first_value_declared(mulan):
    data = read(mulan(SPARSE))
    assert_array_equal(
        data.X.toarray(), [[0.5, 0, 1, 0, 0], [0, 0, 0, 0, 1], [0, 0, 1, 0, 0]]
    )
    assert_array_equal(data.Y.toarray(), [[1, 0], [0, 1], [0, 0]])
    reverse = read(mulan(SPARSE.replace("{0,1}", "{1,0}")))
    assert_array_equal(reverse.Y.toarray(), [[1, 0], [1, 1], [1, 0]])
    assert_array_equal(reverse.X.toarray()[:, 1], [1, 1, 1])


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_dense_equals_sparse_equals_meka(put, n_labels, n_features, data):
    rows = data.draw(
        st.lists(
            st.tuples(
                st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels),
                st.lists(
                    st.floats(-9, 9, width=32), min_size=n_features, max_size=n_features
                ),
            ),
            min_size=1,
            max_size=5,
        )
    )
    values = [[*y, *x] for y, x in rows]
    attributes = [f"@attribute l{i} {{0,1}}\n" for i in range(n_labels)]
    attributes += [f"@attribute f{i} numeric\n" for i in range(n_features)]
    dense = "".join(",".join(map(repr, row)) + "\n" for row in values)
    sparse = "".join(
        "{" + ",".join(f"{i} {v!r}" for i, v in enumerate(row) if v) + "}\n"
        for row in values
    )
    head = f"@relation 'x: -C {n_labels}'\n" + "".join(attributes) + "@data\n"
    back = f"@relation 'x: -C -{n_labels} -f 3'\n" + "".join(
        [*attributes[n_labels:], *attributes[:n_labels], "@data\n"]
    )
    last = "".join(",".join(map(repr, [*x, *y])) + "\n" for y, x in rows)
    for text in (head + dense, head + sparse, back + last):
        got = read(put(text))
        assert_array_equal(got.Y.toarray(), [y for y, _ in rows])
        assert_array_equal(got.X.toarray(), np.float32([x for _, x in rows]))


@pytest.mark.parametrize(
    ("name", "xml_name"),
    [
        ("set.arff", "set.xml"),
        ("set-train.arff.gz", "set.xml"),
        ("set_TEST.arff", "set.xml"),
        ("set-train.arff", "set-train.xml"),
        ("set.arff", "set.xml.gz"),
        ("set.arff", "other.xml"),
    ],
)
def test_the_xml_is_found_beside(mulan, put, name, xml_name):
    path = mulan(DENSE, name, xml_name=xml_name)
    put("<labels><label name='nobody'/></labels>", "unrelated.xml", beside=path)
    put("<broken", "broken.xml", beside=path)
    assert read(path).n_labels == 2


def test_the_xml_can_be_named(put):
    path, xml = put(DENSE), put(XML, "labels.xml")
    assert read(path, labels_from=xml).n_labels == 2
    with pytest.raises(FileNotFoundError):
        read(path, labels_from=xml.with_name("nothing.xml"))


def test_without_an_xml_the_error_says_what_was_looked_for(put):
    path = put(DENSE, "set-train.arff")
    with pytest.raises(
        DataError, match=r"looked for set-train.xml or set.xml.*found 0"
    ):
        read(path)
    put(XML, "one.xml", beside=path)
    put(XML, "two.xml", beside=path)
    with pytest.raises(DataError, match=r"a single .xml .* found 2"):
        read(path)


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        (
            "<labels><label name='happy'/></labels>",
            r"attributes of set.arff, found 'hap",
        ),
        ("<labels></labels>", "expected <label name=...> elements, found none"),
        ("<labels>", "expected XML, found no element"),
        ("", "expected XML, found no element"),
        ("<?xml version='1.0' encoding='no-such'?><a/>", "expected XML"),
    ],
)
def test_a_wrong_xml_is_refused_by_its_own_name(mulan, xml, reason):
    with pytest.raises(DataError, match=reason) as caught:
        read(mulan(DENSE, xml=xml))
    assert caught.value.path.name == "set.xml"


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("width numeric", "width string", 3, "'width' to be numeric or nominal, found"),
        ("width numeric", "width date 'yyyy'", 3, "'width' to be numeric or nominal"),
        ("width numeric", "width", 3, "expected '@attribute name type', found"),
        ("width numeric", "sad numeric", 7, "found attribute 'sad' twice"),
        ("@data", "@dat", 9, "expected @attribute or @data, found '@dat'"),
        (
            "sad NUMERIC",
            "sad {yes,no}",
            None,
            "label 'sad' to be numeric or {0,1}, fou",
        ),
        ("0.5,1", "0.5,2", 10, "expected 0 or 1 for \"it's\", found '2'"),
        ("0.5,1", "0.5", 10, "expected 5 values, found 4"),
        ("0.5,1", "0.5,1,1", 10, "expected 5 values, found 6"),
        ("0.5,1", "nan,1", 10, "expected a finite float32 for 'width', found 'nan'"),
        ("0.5,1", "1e40,1", 10, "expected a finite float32 for 'width', found '1e40'"),
        ("0.5,1", "1_0,1", 10, "expected a finite float32 for 'width'"),
        ("red,0\n", "blue,0\n", 10, "a declared value of 'colour', found 'blue'"),
        ("red,0\n", "'red,0\n", 10, "expected values parted by commas"),
        ("0.5,1,0,red,0", "{0 1,5 1}", 10, "each attribute once, from 0 to 4, found"),
        ("0.5,1,0,red,0", "{0 1,0 1}", 10, "each attribute once, from 0 to 4, found"),
        ("0.5,1,0,red,0", "{0 1", 10, "expected a sparse row to end with '}'"),
        ("0.5,1,0,red,0", "{zero 1}", 10, "expected 'attribute value'"),
    ],
)
def test_bad_text_is_refused_with_its_line(mulan, old, new, line, reason):
    assert old in DENSE
    with pytest.raises(DataError, match=re.escape(reason)) as caught:
        read(mulan(DENSE.replace(old, new, 1)))
    assert caught.value.line == line


def test_text_without_data_is_refused_and_other_encodings_are_read(mulan):
    with pytest.raises(DataError, match="expected a line '@data', found none"):
        read(mulan("@relation x\n@attribute a numeric\n"))
    data = read(mulan(DENSE.replace("width", "größe").encode("latin-1")))
    assert "größe" in data.feature_names
    with pytest.raises(DataError, match="line 3: expected UTF-8"):
        read(mulan(DENSE.encode().replace(b"width", "größe".encode() + b"\xf6")))


@pytest.mark.parametrize("option", ["-C 0", "-C 9", "-C -9"])
def test_meka_must_name_a_number_of_attributes(put, option):
    with pytest.raises(
        DataError, match="expected '-C n' with n from 1 to 5 or from -1"
    ):
        read(put(DENSE.replace("some words", f"x: {option}")))


def test_meka_can_be_forced_but_needs_its_option(put):
    with pytest.raises(DataError, match="expected '-C n' in the name of the relation"):
        read(put(DENSE), format="meka")


def test_mulan_can_be_forced_on_a_file_of_meka(mulan):
    path = mulan(DENSE.replace("some words", "x: -C 2"))
    assert read(path, format="arff").label_names == ("it's", "sad")


def test_bad_lines_can_be_skipped(mulan):
    with pytest.warns(SkippedLines, match="skipped 1 bad line,"):
        data = read(mulan(DENSE.replace("0.5,1", "x,1")), skip_bad_lines=True)
    assert len(data) == 2


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_any_name_is_read_back(put, name):
    path = put("", "names.arff")
    write(Dataset([[1.0]], [[1]], label_names=[name]), path)
    assert read(path).label_names == (name,)


def test_escapes_are_those_of_weka(put):
    quoted = r"'a\'b\"c\\d\n\t\%\u0041'"
    text = f"@relation 'x: -C 1'\n@attribute {quoted} {{0,1}}\n@data\n1\n"
    assert read(put(text)).label_names == ("a'b\"c\\d\n\t%A",)
