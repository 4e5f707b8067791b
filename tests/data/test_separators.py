"""Several labels in one field, or in columns of 0 and 1: told by the first rows."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel import Dataset, iter_chunks, read, write
from manylabel.data.separators import join_labels, split_labels, tell_separator
from manylabel.exceptions import DataError, DoubtfulLabels

names = st.text(st.sampled_from('ab1 ,;|\t\n[](){}"\\é'), max_size=5) | st.just("set()")


@pytest.mark.parametrize("mark", [",", ";", "|", "\t", "\n", ", ", " | "])
def test_a_separator_is_told(put, mark):
    rows = ["acq", f"acq{mark}gold", "gold", "", f"earn{mark}gold"]
    content = "text,tags\n" + "".join(f'a,"{row}"\n' for row in rows)
    data = read(put(content, "a.csv"))
    assert data.label_names == ("acq", "earn", "gold")
    assert data.read_as == {
        "format": "csv",
        "encoding": "utf-8",
        "text_columns": ("text",),
        "labels_column": "tags",
        "label_separator": mark.strip(" "),
    }
    lines = "".join(json.dumps({"text": "a", "tags": row}) + "\n" for row in rows)
    path = put(lines)
    assert read(path).label_names == ("acq", "earn", "gold")
    assert read(path, **read(path).read_as).read_as == read(path).read_as


def test_lists_need_no_separator(put):
    data = read(put('text;tags\na;"[""x;y"", ""z\\u00e9""]"\nb;[\'z\']\n', "a.csv"))
    assert data.label_names == ("x;y", "z", "zé")


@pytest.mark.parametrize("kind", [list, tuple, set, np.array])
def test_what_a_data_frame_wrote_of_any_collection_is_labels(put, kind):
    rows = [["a"], ["it's, so", "b (c)", 'c "d"'], [], ["b" * 40, "c" * 40]]
    file = io.StringIO()
    cells = (kind(row) for row in rows)
    csv.writer(file).writerows([["text", "tags"], *(["x", str(it)] for it in cells)])
    data = read(put(file.getvalue(), "a.csv"))
    assert list(map(sorted, data.labels.decode(data.Y))) == list(map(sorted, rows))


@pytest.mark.parametrize("name", ["(a)", "('a')", "[a]", "{'a': 1}", "{[]}", "((("])
def test_a_name_in_brackets_is_a_name(put, name):
    assert read(put(f'text;tags\nx;"{name}"\n', "a.csv")).label_names == (name,)


def test_arrays_of_postgres_are_labels(put):
    cells = ["{eläin,koti}", '{"a, b",koti}', "{}", '{NULL,"x \\"y\\"", z}']
    file = io.StringIO()
    csv.writer(file).writerows([["text", "tags"], *(["x", cell] for cell in cells)])
    data = read(put(file.getvalue(), "a.csv"))
    assert data.labels.decode(data.Y) == [
        *(["eläin", "koti"], ["a, b", "koti"], []),
        ['x "y"', "z"],
    ]


def test_half_a_bracket_is_told(put):
    path = put('text,tags\na,"[eläin, koti]"\nb,"[koti]"\n', "a.csv")
    with pytest.warns(DoubtfulLabels, match=r"'\[eläin' is taken for a label"):
        read(path)


@pytest.mark.parametrize("field", ['["a\nb"]', "['a' 'b\\x']", "['a' '\\']"])
def test_what_python_does_not_read_as_a_list_is_a_name(field):
    assert split_labels(field, ";") == [field]


def test_numbers_in_lists_are_names(put):
    data = read(put('text;tags\na;"[1, 2]"\nb;"[2]"\n', "a.csv"))
    assert data.label_names == ("1", "2")


@pytest.mark.parametrize("cell", ["['a', None]", "[true]", '[{"name": 1}]'])
def test_what_is_no_list_of_names_is_refused(put, cell):
    quoted = cell.replace('"', '""')
    path = put(f'text;tags\na;"{quoted}"\n', "a.csv")
    with pytest.raises(DataError, match="line 2: expected names in a list of labels"):
        read(path)


@pytest.mark.parametrize("cells", [('["a", "b"]', '["a"]'), ("a", "b"), ("a", "")])
def test_no_separator_is_told_where_there_is_none(put, cells):
    quoted = ('"' + cell.replace('"', '""') + '"' for cell in cells)
    rows = "".join(f"x;{cell}\n" for cell in quoted)
    assert "label_separator" not in read(put("text;tags\n" + rows, "a.csv")).read_as


def test_a_mark_that_is_seldom_is_part_of_a_name():
    assert tell_separator(["a,b"] * 20 + ["c;d,e"]).separator == ","
    assert tell_separator(["a"] * 20 + ["c;d"]).separator == ";"
    assert tell_separator([]) == tell_separator(["a"]) == (None, None)


def test_a_line_end_after_a_mark_is_no_separator():
    assert tell_separator(["a;\nb", "c; \nd"]) == (";", None)
    assert tell_separator(["a, b\nc", "d\ne"]) == ("\n", ",")
    assert split_labels("a;\nb", ";") == ["a", "b"]


def test_two_marks_are_warned_of(put):
    path = put('text;tags\na;"Smith, Ann|Doe, Joe"\nb;"Doe, Joe"\n', "a.csv")
    with pytest.warns(DoubtfulLabels, match=r"'tags' are separated by '\|', though"):
        assert read(path).label_names == ("Doe, Joe", "Smith, Ann")
    assert read(path, label_separator="|").n_labels == 2


def test_labels_that_look_like_several_are_warned_of(put):
    path = put("text,tags\na,acq;gold\nb,earn;gold\n", "a.csv")
    with pytest.warns(DoubtfulLabels, match=r"'acq;gold' looks like several: label_s"):
        read(path, label_separator="|")
    path = put("text,tags\na,acq gold\nb,acq\nc,gold\n", "a.csv")
    with pytest.warns(DoubtfulLabels, match=r"'acq gold' .* label_separator ' ' makes"):
        list(iter_chunks(path, n_rows=1))
    assert read(path, label_separator=" ").label_names == ("acq", "gold")
    path = put("text,tags\na,acq / gold\nb,acq\nc,gold\n", "a.csv")
    with pytest.warns(DoubtfulLabels, match=r"'acq / gold' .* label_separator '/' m"):
        read(path)
    path = put("text,tags\na,big cats\nb,big dogs\n", "a.csv")
    assert read(path).label_names == ("big cats", "big dogs")


@given(st.lists(names, max_size=4, unique=True), st.sampled_from([",", ";", "::"]))
def test_labels_are_joined_so_that_they_are_split_again(labels, separator):
    field = join_labels(labels, separator)
    assert split_labels(field, separator) == labels
    found = tell_separator([field]).separator
    assert found in (None, separator) or separator == "::"


def test_labels_are_written_with_the_separator_asked_for(tmp_path):
    data = Dataset(
        None, [[1, 1, 0], [0, 1, 1]], None, ["a", "b", "c, d"], None, [*"xy"]
    )
    write(data, tmp_path / "a.csv", label_separator=";")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines == ["text,labels", "x,a;b", 'y,"[""b"", ""c, d""]"']
    assert read(tmp_path / "a.csv").label_names == data.label_names
    with pytest.raises(ValueError, match="label_separator must be at least one char"):
        write(data, tmp_path / "a.csv", label_separator="")
    with pytest.raises(ValueError, match="label_separator must be left out for jsonl"):
        write(data, tmp_path / "a.jsonl", label_separator=";")


FLAGS = "id,text,earn,acq,none,size\n1,a,1,0,0,7\n2,b,1.0,true,0,8\n3,c,,False,0,1\n"


def test_columns_of_0_and_1_are_labels(put):
    path = put(FLAGS, "a.csv")
    data = read(path)
    assert data.label_names == ("earn", "acq", "none")
    assert data.labels.decode(data.Y) == [["earn"], ["earn", "acq"], []]
    assert data.read_as["labels_columns"] == ("earn", "acq", "none")
    assert sum(chunk.Y.nnz for chunk in iter_chunks(path, n_rows=1)) == 3
    data = read(path, labels_columns=["acq"])
    assert data.label_names == ("acq",)
    line = '{"text": "a", "earn": 1, "acq": false}\n'
    assert read(put(line)).label_names == ("earn", "acq")


@pytest.mark.parametrize(
    ("yes", "no"),
    [("ja", "nein"), ("WAHR", "FALSCH"), ("✓", ""), ("Kyllä", "ei"), ("oui", "non")],
)
def test_yes_may_be_said_otherwise(put, yes, no):
    path = put(f"text,b,c\na,{yes},{no}\nd,{no},{yes}\n", "a.csv")
    data = read(path)
    assert data.labels.decode(data.Y) == [["b"], ["c"]]
    path = put("text,b\na,maybe\n", "a.csv")
    with pytest.raises(
        DataError, match="no or yes, FALSE or TRUE, or x or nothing, in"
    ):
        read(path, labels_columns="b")


@pytest.mark.parametrize("nothing", ["NaN", "None", "null", "n/a", "-"])
def test_a_label_that_may_stand_for_none_is_told(put, nothing):
    path = put(f"text,tags\na,x|y\nb,{nothing}\n", "a.csv")
    with pytest.warns(DoubtfulLabels, match=f"'{nothing}' is taken for a label"):
        assert nothing in read(path).label_names
    read(path, label_names=["x", "y", nothing])


@pytest.mark.parametrize("twin", ["EL\u00c4IN", "ela\u0308in"])
def test_labels_that_differ_only_in_their_letters_form_are_told(put, twin):
    path = put(f"text,tags\na,el\u00e4in|y\nb,{twin}\n", "a.csv")
    with pytest.warns(DoubtfulLabels, match="differ only in case"):
        assert len(read(path).label_names) == 3


def test_a_column_that_nearly_is_a_label_is_named(put):
    rows = [f"{n};a;{n % 2};1;{n}\n" for n in range(9)]
    path = put(f"id;title;cats;dogs;price\n{''.join(rows)}9;b;?;1;9\n", "a.csv")
    with pytest.warns(
        DoubtfulLabels, match="column 'cats' .* line 11 has '\\?'"
    ) as told:
        assert read(path).label_names == ("dogs",)
    assert len(told) == 1


def test_a_column_of_few_rows_or_with_one_mark_for_no_is_named(put):
    path = put("text;a;b\nred;ja;nein\nrye;nein;ja\ncup;nein;?\n", "a.csv")
    with pytest.warns(DoubtfulLabels, match=r"column 'b' .* line 4 has '\?'"):
        assert read(path).label_names == ("a",)
    rows = "".join(f"t{n},x,{'-' if n % 2 else 'x'}\n" for n in range(9))
    with pytest.warns(DoubtfulLabels, match="column 'b' .* has '-'"):
        assert read(put(f"text,a,b\n{rows}", "b.csv")).label_names == ("a",)


def test_columns_of_crosses_are_labels(put):
    path = put("title;ISBN;bees;sea\na;7;x;\nb;8;;X\nc;9;yes;no\n", "a.csv")
    data = read(path)
    assert data.label_names == ("bees", "sea")
    assert data.labels.decode(data.Y) == [["bees"], ["sea"], ["bees"]]


def test_columns_of_0_and_1_in_parquet_are_labels(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"text": ["a", "b"], "n": [4, 5], "x": [1, 0], "y": [True, True]})
    parquet.write_table(table, tmp_path / "a.parquet")
    data = read(tmp_path / "a.parquet")
    assert data.labels.decode(data.Y) == [["x", "y"], ["y"]]
    table = pa.table({"text": ["a", "b"], "tags": ["x;y", "y"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").label_names == ("x", "y")


def test_other_values_in_columns_of_labels_are_refused(put):
    path = put("text,x\n" + "a,1\n" * 1000 + "b,2\n", "a.csv")
    with pytest.raises(DataError, match=r"line 1002: expected 0 or 1, .*, in 'x', f"):
        read(path)
    path = put("text,x,tags\na,1,b\n", "a.csv")
    with pytest.raises(DataError, match="labels_column must be left out beside"):
        read(path, labels_column="tags", labels_columns="x")
    with pytest.raises(DataError, match="expected a header with one field 'y', found"):
        read(path, labels_columns=["x", "y"])


def test_columns_are_told_apart_by_other_marks(put):
    for mark in (";", "|", "\t"):
        path = put(f'"my, text"{mark}kind\nred wine{mark}drink\n', "a.csv")
        data = read(path, text_columns="my, text", labels_column="kind")
        assert (data.texts, data.label_names) == (("red wine",), ("drink",))


@pytest.mark.parametrize("mark", [",", ";", "|", "\t"])
def test_the_mark_that_all_lines_have_as_often_tells_columns_apart(put, mark):
    other = ";" if mark == "," else ","
    header = f"nr{mark}text{other} long{mark}kind"
    rows = [f"{n}{mark}{('a' + other) * n}{mark}x" for n in range(5)]
    rows += [f'7{mark}"it{mark} ""is""\n{mark * 3}"{mark}y']
    content = "\n".join([header, *rows])
    path = put(f"{content}\n", "a.csv")
    data = read(path, text_columns=f"text{other} long", labels_column="kind")
    assert data.label_names == ("x", "y")
    assert data.texts[-1] == f'it{mark} "is"\n{mark * 3}'


def test_labels_like_identifiers_are_warned_of(put):
    path = put("text,tags\n" + "".join(f"a,{n}\n" for n in range(30)), "a.csv")
    for reading in (lambda: read(path), lambda: list(iter_chunks(path, n_rows=7))):
        with pytest.warns(DoubtfulLabels, match="every row has a label of its own, as"):
            reading()
    few = put("text,tags\n" + "".join(f"a,{n}\n" for n in range(9)), "a.csv")
    assert read(few).n_labels == 9
    assert read(path, label_names=list(map(str, range(30)))).n_labels == 30
