"""JSON lines: texts with labels that are names or numbers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel import LabelSpace, iter_chunks, read
from manylabel.exceptions import DataError, SkippedLines

ROWS = (
    '{"id": "a", "text": "first", "labels": ["z", "b", "z"]}\n'
    "\n"
    '{"id": 2, "text": "second", "labels": [], "more": {}}\r\n'
    '{"id": "c", "text": "", "labels": ["a"]}'
)
RAW = (
    '{"uid": "B00", "title": "A title", "content": "and text", "target_ind": [0, 3]}\n'
    '{"uid": "B01", "title": "Alone", "content": "", "target_ind": [1]}\n'
)


def test_names_become_sorted_columns(put):
    data = read(put(ROWS, zipped=True))
    assert data.X is None
    assert data.ids == ("a", "2", "c")
    assert data.texts == ("first", "second", "")
    assert data.label_names == ("a", "b", "z")
    assert_array_equal(data.Y.toarray(), [[0, 1, 1], [0, 0, 0], [1, 0, 0]])


def test_the_raw_files_of_the_repository(put):
    data = read(put(RAW))
    assert data.ids == ("B00", "B01")
    assert data.texts == ("A title\nand text", "Alone")
    assert data.label_names is None
    assert_array_equal(data.Y.toarray(), [[1, 0, 0, 1], [0, 1, 0, 0]])
    assert read(put(RAW), n_labels=9).n_labels == 9
    assert read(put(RAW), label_names=list("abcd")).label_names == tuple("abcd")


def test_given_names_fix_the_columns(put):
    data = read(put(ROWS), label_names=["z", "y", "b", "a"])
    assert data.label_names == ("z", "y", "b", "a")
    assert_array_equal(data.Y.toarray(), [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]])
    with pytest.raises(DataError, match="line 4: expected one of 2 names, found 'a'"):
        read(put(ROWS), label_names=["z", "b"])
    with pytest.raises(ValueError, match="names must differ"):
        read(put(ROWS), label_names=["z", "b", "a", "a"])


def test_ids_may_be_absent(put):
    assert read(put('{"text": "x", "labels": ["a"]}\n')).ids is None


@pytest.mark.filterwarnings("ignore::manylabel.exceptions.DoubtfulLabels")
@given(
    st.lists(
        st.tuples(st.text(), st.lists(st.text(max_size=3), max_size=3)), min_size=1
    )
)
def test_whole_and_chunks_follow_the_label_space(put, rows):
    lines = [json.dumps({"text": text, "labels": labels}) for text, labels in rows]
    path = put("\n".join(lines))
    rows = [(text, list(filter(None, map(str.strip, it)))) for text, it in rows]
    space = LabelSpace.from_labels(labels for _, labels in rows)
    data = read(path)
    assert data.texts == tuple(text for text, _ in rows)
    assert (data.label_names or ()) == space.names
    assert_array_equal(data.Y.toarray(), space.encode(r[1] for r in rows).toarray())
    chunks = list(iter_chunks(path, n_rows=2))
    assert [text for chunk in chunks for text in chunk.texts] == list(data.texts)
    assert {chunk.label_names for chunk in chunks} == {data.label_names}


def test_paths_lead_to_fields_of_objects_inside(put):
    row = {"fields": {"summary": "x", "more": "y"}, "meta": {"tags": [{"name": "a"}]}}
    path = put(json.dumps(row))
    asked = {"text_columns": ["fields.summary", "fields.more"]}
    data = read(path, **asked, labels_column="meta.tags.name")
    assert (data.texts, data.labels.decode(data.Y)) == (("x\ny",), [["a"]])
    assert data.read_as["labels_column"] == "meta.tags.name"
    named = {"a.b": "whole", "a": {"b": "part"}, "labels": "p;q"}
    assert read(put(json.dumps(named)), text_columns="a.b").texts == ("whole",)
    named = {"text": "x", "meta": {"tags": "p;q"}}
    data = read(put(json.dumps(named)), labels_column="meta.tags")
    assert data.label_names == ("p", "q")
    with pytest.raises(
        DataError, match=r"found \['fields.summary', 'fields.more', 'me"
    ):
        read(path)


def test_a_record_may_lack_some_of_the_texts_but_not_all(put):
    lines = [
        '{"title": "one", "labels": ["a"]}',
        '{"body": "two", "title": null, "labels": ["b"]}',
        '{"title": "three", "body": "four", "labels": []}',
    ]
    expected = ("one", "two", "three\nfour")
    for options in ({}, {"text_columns": ["title", "body"]}):
        assert read(put("\n".join(lines)), **options).texts == expected
    lines.append('{"labels": []}')
    with pytest.raises(DataError, match="line 4: expected a string in 'title' or 'bo"):
        read(put("\n".join(lines)))


def test_what_the_first_record_lacks_later_ones_tell_but_nothing_else(put):
    lines = ['{"title": "one", "tags": ["a"]}', '{"title": "two", "tags": ["b"], "%s"']
    for name in ("text", "labels", "id"):
        path = put("\n".join(lines) % name + ': "x"}')
        assert read(path).texts == ("one", "two")
    lines = ['{"text": "one"}', '{"text": "two", "labels": ["b"]}']
    with pytest.raises(DataError, match=r"line 1: expected a list .* skip_bad_lines"):
        read(put("\n".join(lines)))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"text": "x", "labels": ["a"]', "line 2: expected a JSON object: "),
        ("[1]", r"line 2: expected a JSON object, found \[1\]"),
        ("[" * 100_000, "line 2: expected a JSON object"),
        ('{"text": "x"}', "line 2: expected a list of labels, found None"),
        (
            '{"text": "x", "labels": "a"}',
            "line 2: expected a list of labels, or label_separator, found 'a'",
        ),
        (
            '{"text": 5, "labels": ["a"]}',
            "line 2: expected a string in 'text', found 5",
        ),
        ('{"text": "x", "labels": ["a", 1]}', "line 2: .* all strings or all integers"),
        ('{"text": "x", "labels": [1]}', "line 2: .* all strings or all integers"),
        ('{"text": "x", "labels": [null]}', "line 2: .* all strings or all integers"),
    ],
)
def test_bad_lines_are_refused_or_skipped(put, line, reason):
    path = put('{"text": "x", "labels": ["a"]}\n' + line + "\n")
    with pytest.raises(DataError, match=reason):
        read(path)
    with pytest.warns(SkippedLines, match="skipped 1 bad line,"):
        assert len(read(path, skip_bad_lines=True)) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"labels": ["a"]}', r"the text in a field 'text', or .*\['labels'\]"),
        ('{"text": "a"}', r"the labels in a field 'labels', .*\['text'\]"),
        (
            '{"id": null, "text": "", "labels": []}',
            "expected a string in 'id', found N",
        ),
        (
            '{"id": true, "text": "", "labels": []}',
            "expected a string in 'id', found T",
        ),
        ('{"text": "", "labels": [true]}', "all strings or all integers"),
        ('{"text": "", "labels": [0.5]}', "all strings or all integers"),
        ('{"text": "", "labels": [-1]}', "expected a label from 0 to 2147483646, fou"),
        (
            '{"text": "", "labels": [2147483647]}',
            "expected a label from 0 to 214748364",
        ),
    ],
)
def test_a_bad_first_line_is_refused(put, line, reason):
    with pytest.raises(DataError, match=f"line 1: .*{reason}"):
        read(put(line))


def test_a_wrong_number_of_labels_is_refused(put):
    with pytest.raises(DataError, match="expected 2 labels, found 3"):
        read(put(ROWS), n_labels=2)
    with pytest.raises(DataError, match="expected 4 labels, found 3"):
        read(put(ROWS), n_labels=4)
    with pytest.raises(DataError, match="expected 3 labels, found 4"):
        read(put(RAW), n_labels=3)


def test_damaged_letters_are_refused_with_the_remedy(put):
    good = '{"text": "é", "labels": []}\n'.encode()
    with pytest.raises(
        DataError,
        match="line 2: expected a JSON object: expected UTF-8, found byte 0xe9 at 10; "
        "encoding says which other it is",
    ):
        read(put(good + good.decode().encode("latin-1")))


def test_labels_that_are_objects_are_told_their_path(tmp_path):
    path = tmp_path / "objects.jsonl"
    path.write_text('{"text": "wine", "tags": [{"name": "drink"}]}\n')
    with pytest.raises(DataError, match=r"labels_column may be a path, as 'tags.name'"):
        read(path)


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_an_array_is_read_as_lines_are(put, monkeypatch, indent, encoding):
    objects = [json.loads(line) for line in ROWS.splitlines() if line]
    text = json.dumps(objects, indent=indent, ensure_ascii=False)
    for size in (64, 1 << 17):
        monkeypatch.setattr("manylabel.data.json_records.BLOCK", size)
        path = put(text.replace("first", "zuerst, \\nö").encode(encoding), "a.json")
        data = read(path)
        assert data.texts == ("zuerst, \nö", "second", "")
        assert data.labels.decode(data.Y) == [["b", "z"], [], ["a"]]
        assert sum(len(chunk) for chunk in iter_chunks(path, n_rows=1)) == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            '[{"text": "a", "labels": []},\n 7]',
            "line 2: expected a JSON object, found 7",
        ),
        (
            '[\n{"text": "a", "labels": []},\n{"te',
            "line 3: expected a whole array of J",
        ),
        (
            '[{"text": "a", "labels": []}\n',
            "line 2: expected a whole array of JSON obj",
        ),
        (
            '[{"text": "' + "a" * (1 << 18),
            "line 1: expected lines of at most 131,072 by",
        ),
        (
            '[{"text": "a", "labels": []}]\n\n[{"text": "b", "labels": []}]',
            "line 1: expected nothing after an array",
        ),
        (b'[{"text": "caf\xe9\xe9\xe9\xe9", ', "a.json: expected text in utf-8, found"),
    ],
)
def test_a_damaged_array_is_refused(put, content, reason):
    with pytest.raises(DataError, match=reason):
        read(put(content, "a.json"), max_line_bytes=1 << 17)


def test_elements_of_an_array_that_are_bad_may_be_skipped(put):
    path = put('[{"text": "a", "labels": ["b"]}, {"text": 7}, 3]')
    with pytest.warns(SkippedLines, match="2 bad lines"):
        assert read(path, skip_bad_lines=True).texts == ("a",)


def test_lists_of_several_fields_are_joined(put):
    rows = '{"text": "a", "b": ["x"], "c": null}\n{"text": "b", "b": [], "c": "y"}\n'
    data = read(put(rows), labels_column=["b", "c"])
    assert data.labels.decode(data.Y) == [["x"], ["y"]]
    with pytest.raises(DataError, match="expected a list of labels, found None"):
        read(put('{"text": "a", "b": null, "c": null}\n'), labels_column=["b", "c"])


def test_spaces_around_a_label_do_not_count(put):
    path = put('{"text": "a", "labels": ["food ", ""]}\n{"text": "b", "labels": [" "]}')
    data = read(path)
    assert data.labels.decode(data.Y) == [["food"], []]
    assert read(path, label_names=["food "]).label_names == ("food",)
