"""Encodings: told by content, or said, or refused with the remedy."""

import codecs
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel import iter_chunks, read
from manylabel.data.encoding import as_utf8, tell_encoding
from manylabel.exceptions import DataError

TABLE = "text,tags\nCafé crème à la carte,boisson\nGrüße aus Köln,reise\n"
TEXTS = ("Café crème à la carte", "Grüße aus Köln")


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("cp1252", "cp1252"),
        ("latin-1", "cp1252"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
    ],
)
def test_what_spreadsheets_write_is_told(put, encoding, told):
    for zipped in (False, True):
        data = read(put(TABLE.encode(encoding), "a.csv", zipped=zipped))
        assert data.texts == TEXTS
        assert data.read_as["encoding"] == told


@pytest.mark.parametrize("marks", ["“{}”", "«\xa0{}\xa0»", "{}…", '"{}"'])
def test_accents_beside_marks_are_told(put, marks):
    words = ["CAFÉ", *(f"le numéro {n} du café à été" for n in range(20))]
    texts = [marks.format(word) for word in words]
    rows = "".join('"{}",x\n'.format(text.replace('"', '""')) for text in texts)
    data = read(put(f"text,tags\n{rows}".encode("cp1252"), "a.csv"))
    assert data.texts == tuple(texts)
    assert tell_encoding("text,tags\n“un café”,x\n".encode("cp1252")) == "cp1252"


@given(
    st.text(st.characters(codec="utf-8"), max_size=300),
    st.sampled_from(["utf-16", "utf-16-be", "utf-32", "gb18030", "shift_jis", "utf-7"]),
    st.integers(1, 7),
)
def test_pieces_of_any_size_are_the_whole_text(text, encoding, size):
    written = text.encode(encoding, errors="ignore")
    expected = written.decode(encoding).encode()
    stream = as_utf8(io.BytesIO(written), encoding)
    assert b"".join(iter(lambda: stream.read(size), b"")) == expected


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff")))
def test_utf_8_is_never_taken_for_something_else(text):
    assert tell_encoding(text.encode()) == "utf-8"


def test_an_encoding_can_be_said(put):
    path = put("text,tags\nжизни,да\n".encode("cp1251"), "a.csv")
    data = read(path, encoding="cp1251")
    assert (data.texts, data.label_names) == (("жизни",), ("да",))
    with pytest.raises(
        DataError, match=r"line 2: expected UTF-8, found byte 0xe6 at 0"
    ):
        read(path)
    with pytest.raises(
        ValueError, match=r"encoding must be one that Python knows, .*'x'"
    ):
        read(path, encoding="x")
    with pytest.raises(
        DataError, match=r"expected text in ascii, found .*; encoding sa"
    ):
        read(path, encoding="ascii")


def test_a_wrong_encoding_that_leaves_zeros_is_told_with_the_way_out(put):
    path = put(TABLE.encode("utf-16"), "a.csv")
    with pytest.raises(DataError, match=r"not in utf-8; encoding says .* utf-16"):
        read(path, encoding="utf-8")


def test_a_header_in_another_encoding_is_told(put):
    path = put("těxt,tags\nred wine,drink\n".encode("cp1250"), "a.csv")
    with pytest.raises(DataError, match=r"'tìxt', .*; encoding says .* if not cp1252"):
        read(path)
    with pytest.raises(DataError, match=r"line 1: .* UTF-8, found byte 0xec at 1"):
        read(path, encoding="utf-8")
    assert read(path, encoding="cp1250", text_columns="těxt").texts == ("red wine",)


def test_a_file_of_features_may_have_any_encoding(put):
    assert read(put("0 1:1\n".encode("utf-16"))).X.shape == (1, 1)
    assert read(put("1 2 2\n0 1:1\n".encode("utf-16"))).X.shape == (1, 2)


def test_letters_after_the_head_are_not_guessed(put):
    rows = b"plain,x\n" * 20_000
    with pytest.raises(DataError, match="line 20002: expected UTF-8, found byte 0xe9"):
        read(put(b"text,tags\n" + rows + b"caf\xe9,x\n", "a.csv"))


def test_chunks_of_another_encoding_are_the_whole_file(put):
    rows = "".join(f"numéro {n},x\n" for n in range(20_000))
    path = put(f"text,tags\n{rows}".encode("utf-16"), "a.csv")
    texts = [text for chunk in iter_chunks(path, n_rows=999) for text in chunk.texts]
    assert texts == [f"numéro {n}" for n in range(20_000)]


def test_damage_to_utf_8_is_not_another_encoding():
    assert tell_encoding("é".encode() + b" caf\xe9 ") == "utf-8"
    assert tell_encoding(b"PAR1\0\0\xff\xe9") == "utf-8"
    assert tell_encoding(codecs.BOM_UTF16_LE + b"\x00\xd8\x00\xd8") == "utf-8"
    assert tell_encoding(gzip.compress(b"x", mtime=0)) == "utf-8"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_line_ends_of_old_macs_are_line_ends(put, encoding):
    rows = [*(f"caffè {n},x" for n in range(20_000)), '"one\ntwo",y']
    content = "\r".join(["text,tags", *rows, ""]).encode(encoding)
    for path in (put(content, "a.csv"), put(content, "a.csv", zipped=True)):
        data = read(path)
        assert len(data) == 20_001
        assert (data.texts[0], data.texts[-1]) == ("caffè 0", "one\ntwo")
        with pytest.raises(DataError, match="line 3: expected 2 fields, found 1"):
            read(put("text,tags\ra,b\rc\r", "a.csv"))


def test_a_stray_carriage_return_is_no_line_end(put):
    path = put("text,tags\na\rb,x\n", "a.csv")
    assert read(path).texts == ("a\rb",)
    path = put("a\rb\nc\nd\n", "a.txt")
    assert read(path, format="lines").texts == ("a\rb", "c", "d")


@pytest.mark.parametrize("encoding", ["cp850", "mac-roman"])
@pytest.mark.parametrize(
    "words",
    ["päivä,kevät,hämärä", "élève,été,éditée", "abbé,métro,café", "Grüße aus Köln"],
)
def test_accents_of_old_programs_are_not_taken_for_others(put, encoding, words):
    path = put(f"text,tags\n{words.replace(',', ' ')},x\n".encode(encoding), "a.csv")
    with pytest.raises(DataError, match=r"expected UTF-8, found .* such as .*cp850"):
        read(path)
    (text,) = read(path, encoding=encoding).texts
    assert text == words.replace(",", " ")


@pytest.mark.parametrize(
    "text",
    [
        "l\u2019été où j\u2019aime",
        "“café” \u2013 été…",
        "\u201aso\u2018 \u201eist\u201c es für alle",
        "Škoda à Žilina, œuvre",
    ],
)
def test_marks_and_capitals_of_cp1252_are_taken_as_they_are(text):
    assert tell_encoding(f"text,tags\n{text}\n".encode("cp1252")) == "cp1252"
