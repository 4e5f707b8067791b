"""CSV and TSV: what spreadsheets and programs write is read, the rest is refused."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel import Dataset, iter_chunks, read, write
from manylabel.exceptions import DataError, SkippedLines

# A zero byte is no text, and a line end is read as a newline.
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"))
letters = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1)
rows = st.lists(st.tuples(texts, st.lists(letters, max_size=3, unique=True)))
# Labels as people have them, with every mark that could separate others.
names = (
    st.text(st.sampled_from("ab ,;|\t[]\"'"), max_size=5).map(str.strip).filter(bool)
)
hard_rows = st.lists(st.tuples(texts, st.lists(names, max_size=3, unique=True)))


@pytest.mark.filterwarnings("ignore::manylabel.exceptions.DoubtfulLabels")
@given(rows, st.sampled_from([("csv", ","), ("tsv", "\t")]))
def test_what_the_standard_library_writes_is_read(put, rows, kind):
    name, delimiter = kind
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(["text", "labels"])
    writer.writerows([text, ",".join(labels)] for text, labels in rows)
    path = put(buffer.getvalue(), f"table.{name}")
    data = read(path)
    assert data.texts == tuple(text for text, _ in rows)
    found = data.labels.decode(data.Y)
    assert list(map(set, found)) == [set(labels) for _, labels in rows]
    chunks = list(iter_chunks(path, n_rows=2))
    assert [text for chunk in chunks for text in chunk.texts] == list(data.texts)


@pytest.mark.filterwarnings("ignore::manylabel.exceptions.DoubtfulLabels")
@given(
    rows | hard_rows,
    st.sampled_from(["set.csv", "set.tsv", "set.csv.gz", "set.tsv.gz"]),
)
def test_tables_are_read_back(put, rows, name):
    path = put("", name)
    names = sorted({label for _, labels in rows for label in labels})
    Y = [[label in labels for label in names] for _, labels in rows]
    ids = [str(number) for number in range(len(rows))]
    if not names:
        return
    data = Dataset(None, Y, None, names, ids, [text for text, _ in rows])
    write(data, path)
    again = read(path)
    assert (again.texts, again.ids) == (data.texts, data.ids)
    assert again.label_names == data.label_names
    assert_array_equal(again.Y.toarray(), data.Y.toarray())


def test_a_table_of_features_is_not_written(put):
    with pytest.raises(ValueError, match="dataset must have texts"):
        write(Dataset([[1.0]], [[1]]), put("", "set.tsv"))


def test_spreadsheets_of_all_kinds_are_read(put):
    content = 'id;"text";labels\r\n1;"one ""two""\r\nthree, four";x, y\r\n\r\n2;;\r\n'
    data = read(put(b"\xef\xbb\xbf" + content.encode(), "book.csv"))
    assert data.texts == ('one "two"\nthree, four', "")
    assert data.ids == ("1", "2")
    assert data.label_names == ("x", "y")
    assert_array_equal(data.Y.toarray(), [[1, 1], [0, 0]])


def test_rows_of_empty_cells_do_not_count(put):
    content = "Signatur;text;labels\r\nA1;one;x\r\n;;\r\nA2;;\r\n;;\r\n;;\r\n"
    data = read(put(content, "book.csv"), id_column="Signatur")
    assert (data.ids, data.texts) == (("A1", "A2"), ("one", ""))


def test_identifiers_are_found_by_any_case_or_by_their_column(put):
    path = put("Nr,ID,text,tags\n7,a,one,x\n8,b,two,y\n", "a.csv")
    assert read(path).ids == ("a", "b")
    assert read(path, id_column="Nr").ids == ("7", "8")
    with pytest.raises(DataError, match=r"expected .* one field 'nr' .*mean 'Nr'"):
        read(path, id_column="nr")
    twice = put("id,id,text,tags\n7,a,one,x\n", "b.csv")
    assert read(twice).ids is None


def test_quotes_inside_a_field_are_plain(put):
    data = read(put('text,labels\na 5" disk,"x"\n', "a.csv"))
    assert data.texts == ('a 5" disk',)
    assert data.label_names == ("x",)


def test_columns_and_separators_can_be_named(put):
    path = put("subject,note,kind,extra\na,b,x|y,\n,c, z ,\n", "a.csv")
    options = {"text_columns": ["subject", "note"], "labels_column": "kind"}
    data = read(path, **options, label_separator="|")
    assert data.texts == ("a\nb", "c")
    assert data.labels.decode(data.Y) == [["x", "y"], ["z"]]
    assert read(path, **options, label_separator=",").label_names == ("x|y", "z")
    assert read(path, text_columns="note", labels_column="kind").texts == ("b", "c")


def test_the_case_of_the_usual_names_does_not_matter(put):
    data = read(put("Title,Description,TAGS\na,b,x\n"))
    assert (data.texts, data.label_names) == (("a\nb",), ("x",))


def test_lists_that_a_data_frame_wrote_are_lists(put):
    content = "text;labels\na;['x, y', 'z']\nb;[\"x, y\"]\nc;[see],[1]\n"
    data = read(put(content, "a.csv"))
    assert data.labels.decode(data.Y) == [["x, y", "z"], ["x, y"], ["[1]", "[see]"]]


def test_texts_without_labels_are_read_in_one_pass(put):
    path = put("text\na\nb\n", "a.csv")
    data = read(path, labels_column=False)
    assert (data.texts, data.n_labels) == (("a", "b"), 0)
    path = put('text\na\n"b\n', "a.csv")
    chunks = iter_chunks(path, labels_column=False, n_rows=1)
    assert next(chunks).texts == ("a",)  # a first pass would have met the bad line
    with pytest.raises(DataError, match="line 3: expected a closing quote"):
        next(chunks)


def test_libmultilabel_is_read_when_asked_for(put):
    content = '7\tECAT GCAT\t"a text\n8\t\tanother\n'
    data = read(put(content), format="libmultilabel")
    assert (data.ids, data.texts) == (("7", "8"), ('"a text', "another"))
    assert data.label_names == ("ECAT", "GCAT")
    with pytest.raises(
        DataError, match=r"line 1: expected a header \(or format libmult"
    ):
        read(put(content, "a.tsv"))
    with pytest.raises(ValueError, match="text_columns must be left out for libm"):
        read(put(content), format="libmultilabel", text_columns="x")


def test_other_files_take_the_same_options(put):
    line = '{"subject": "a", "note": "b", "kind": "x;y"}\n'
    options = {"text_columns": ["subject", "note"], "labels_column": "kind"}
    data = read(put(line), **options, label_separator=";")
    assert (data.texts, data.label_names) == (("a\nb",), ("x", "y"))
    with pytest.raises(ValueError, match="label_separator must be at least one"):
        read(put(line), **options, label_separator="")
    with pytest.raises(ValueError, match="text_columns must be left out for xc files"):
        read(put("1 1 1\n0 0:1\n"), text_columns="a")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a,b\n1,2\n", r"line 1: .*the text in a field 'text', .*\['a', 'b'\]"),
        ("\ntext,b\n1,2\n", r"line 2: .*the labels in a field .*\['text', 'b'\]"),
        ("text,text,labels\n", "line 1: .*a header with one field 'text', found"),
        ('"text,labels\n', "line 1: .*a closing quote, found the end of the file"),
    ],
)
def test_a_bad_header_is_refused_whatever_may_be_skipped(put, content, reason):
    for skip in (False, True):
        with pytest.raises(DataError, match=reason):
            read(put(content, "a.csv"), skip_bad_lines=skip)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"only", "line 4: expected 2 fields, found 1"),
        (b"a,b,c", "line 4: expected 2 fields, found 3"),
        (b'"a"b,c', "line 4: expected ',' or the end .* closing quote, found 'b,c'"),
        (b'"a\nb', "line 4: expected a closing quote, found the end of the file"),
        (b"caf\xe9,x", "line 4: expected UTF-8, found byte 0xe9 at 3"),
        (b'"a\nb\xff",x', "line 4: expected UTF-8, found byte 0xff at 1"),
    ],
)
def test_bad_records_are_refused_by_their_first_line_or_skipped(put, line, reason):
    path = put('text,labels\n"öne\ntwo",x\n'.encode() + line + b"\n", "a.csv")
    with pytest.raises(DataError, match=reason):
        read(path)
    with pytest.warns(SkippedLines, match="skipped 1 bad line,"):
        assert read(path, skip_bad_lines=True).texts == ("öne\ntwo",)


def test_good_rows_come_before_the_error_of_a_bad_one(put):
    path = put("text,labels\na,x\nb,x\nc\n", "a.csv")
    chunks = iter_chunks(path, n_rows=1, label_names=["x"])
    assert [next(chunks).texts, next(chunks).texts] == [("a",), ("b",)]
    with pytest.raises(DataError, match="line 4"):
        next(chunks)


def test_a_damaged_gzip_is_no_bad_line(put):
    # Random digits, or the damage would come before the quote opens.
    digits = "\n".join(map(str, np.random.default_rng(0).integers(10**9, size=30_000)))
    whole = gzip.compress(f'text,labels\na,x\n"{digits}",x\n'.encode())
    path = put(whole[: len(whole) * 9 // 10], "a.csv")
    for skip in (False, True):
        with pytest.raises(DataError, match=r"a\.csv: expected a whole gzip file"):
            read(path, skip_bad_lines=skip)


def test_a_lost_quote_does_not_fill_the_memory(put):
    path = put('text,labels\n"a,x\n' + ("b" * 10**6 + ",x\n") * 17, "a.csv")
    with pytest.raises(
        DataError, match="line 2: expected lines of at most 8,388,608 bytes"
    ):
        read(path)


@pytest.mark.parametrize(
    ("header", "options", "both"),
    [
        ("titel,thema", {}, True),
        ("titel,tags", {}, False),
        ("titel,thema", {"labels_column": "thema"}, False),
        ("titel,thema", {"labels_column": False}, False),
        ("titel,thema", {"labels_columns": ["thema"]}, False),
    ],
)
def test_all_columns_that_are_missing_are_told_at_once(put, header, options, both):
    with pytest.raises(DataError, match="the text in a field") as told:
        read(put(f"{header}\na,b\n", "table.csv"), **options)
    assert ("and the labels in a field" in str(told.value)) == both


@pytest.mark.parametrize(
    "options", [{}, {"labels_column": "tags"}, {"labels_columns": "tags"}]
)
def test_a_column_is_not_both_text_and_labels(put, options):
    path = put("text,tags\na,1\n", "a.csv")
    with pytest.raises(DataError, match="another for the labels, found 'tags' for bo"):
        read(path, text_columns=["text", "tags"], **options)


SUBJECTS = "title,first,second,third\na,wine,,bread; jam\nb,,,\nc,,jam,wine\n"


@pytest.mark.parametrize("asked", ["first,second, third", ["first", "second,third"]])
def test_labels_of_several_columns_are_joined(put, asked):
    data = read(put(SUBJECTS, "a.csv"), labels_column=asked)
    found = [sorted(row) for row in data.labels.decode(data.Y)]
    assert found == [["bread", "jam", "wine"], [], ["jam", "wine"]]
    assert data.read_as["labels_column"] == ("first", "second", "third")
    again = read(put(SUBJECTS, "a.csv"), **data.read_as)
    assert again.label_names == data.label_names


def test_a_comma_may_be_in_the_name_of_a_column(put):
    content = 'x,"Title, main","a, b","Title, other"\n,one,1,two\n'
    asked = {"text_columns": "Title, main", "labels_columns": ["a, b"]}
    data = read(put(content, "a.csv"), **asked)
    assert (data.texts, data.label_names) == (("one",), ("a, b",))
    with pytest.raises(DataError, match="did you mean 'Title, main'"):
        read(put(content, "a.csv"), text_columns="Title, mian")
