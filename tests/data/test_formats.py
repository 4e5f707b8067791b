"""The format is told by content; any bytes are read or refused by our own error."""

import gzip
import os
import re
import warnings
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manylabel import Dataset, iter_chunks, read
from manylabel.data.formats import tell_format
from manylabel.data.source import Source
from manylabel.exceptions import DataError, SkippedLines

XML = b"<labels><label name='a'/></labels>"
ARFF = b"@relation x\n@attribute 'a' {0,1}\n@attribute b {r,'s t'}\n@attribute c real\n"
ARFF += b"@data\n1,r,0.5\n0,'s t',?\n{0 1,2 3}\n"
VALID = {
    "xc": b"3 5 4\n0,3 0:0.5 4:1e-3\n 1:2\n2 3:1 2:7\n",
    "svmlight": b"# c\n0,3 1:0.5 4:1e-3\n 1:2\n2.0 qid:1 3:1 2:7\n",
    "arff": ARFF,
    "meka": ARFF.replace(b"@relation x", b"@relation 'x: -C 1'"),
    "jsonl": b'{"text": "x", "labels": ["a"]}\n{"text": "\xc3\xa9", "labels": []}\n',
    "csv": b'id,text,labels\n1,"a ""b"",\nc","x, y"\r\n\n2,\xc3\xa9,\n',
    "tsv": b'text\tlabels\n"a\tb"\tx,y\nc\t\n',
}
# Without the time, or the names of tests would differ between workers.
ZIPPED = gzip.compress(VALID["xc"], mtime=0)
PIECES = (
    b"\n|,|:| |-1|1e39|nan|{|}|'|?|\0|99999999999999999999|\xff|\"|[|%|@data".split(
        b"|"
    )
)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", VALID)
def test_the_format_is_told_by_content(put, name, zipped):
    for content in (VALID[name], b"\xef\xbb\xbf" + VALID[name]):
        path = put(content, "no-suffix", zipped=zipped)
        assert tell_format(Source(path)) == name


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"0\n", "svmlight"),
        (b"\n\n+1 1:1\n", "svmlight"),
        (b" 1:1\n", "svmlight"),
        (b"1:1\n", "svmlight"),
        (b"-1 qid:1 2:3", "svmlight"),
        (b"1.0,2.0\t3:1\n", "svmlight"),
        (b"7 8 9", "xc"),
        (b"\n  {}", "jsonl"),
        (b"% Weka\n\n@RELATION weka.filters-C5\n", "arff"),
        (b'@relation "Music: -split 3 -C -6"\r\n', "meka"),
        (b"@relation Music:-C\t6", "meka"),
        (b"title,body,tags\n", "csv"),
        (b'"labels";"text"\r\n', "csv"),
        (b"text, with a comma\tlabels\ttext\n", "tsv"),
    ],
)
def test_sparing_files_are_told_too(put, content, name):
    assert tell_format(Source(put(content))) == name


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "expected data, found an empty file"),
        (b" \n\r\n", "expected data, found an empty file"),
        (gzip.compress(b"", mtime=0), "expected data, found an empty file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "text or Parquet, found a binary file"),
        (b"PK\x03\x04\0\0", "found a workbook or a zip archive: save the table as CSV"),
        (
            b"id\ttext\tnotes\n",
            "expected one of xc, .*, found 'id.*; format says which",
        ),
        (b"\xff\xfe\xfd hello", "expected text in utf-16, found truncated data; enc"),
        (b"\xff\xff\xff hello", r"expected one of .* found '.*xff"),
        (b"5 10\n", "expected one of .* found '5 10'"),
        (ZIPPED[:-9], "expected a whole gzip file, found damage"),
        (ZIPPED + b"junk", "expected a whole gzip file"),
        (ZIPPED[:12] + b"\xff" * 30, "expected a whole gzip file"),
    ],
)
def test_what_is_no_data_file_is_refused(put, content, reason):
    path = put(content)
    with pytest.raises(DataError, match=reason) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_a_gzip_cut_short_after_the_first_block_is_refused(put):
    rows = b"".join(b"0 %d:0.%d\n" % (i % 1000, i * 7919) for i in range(60_000))
    whole = gzip.compress(b"60000 1000 1\n" + rows)
    assert len(read(put(whole))) == 60_000
    with pytest.raises(DataError, match="expected a whole gzip file, found damage"):
        read(put(whole[: len(whole) * 9 // 10]))


def test_a_folder_is_refused_and_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(DataError, match="expected a file, found a folder"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing.txt")


def test_a_pipe_is_refused_before_any_byte_of_it_is_lost(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader, writer = os.pipe()
    os.write(writer, VALID["svmlight"])
    os.close(writer)
    for path in (tmp_path / "pipe", f"/dev/fd/{reader}"):
        with pytest.raises(DataError, match="found a pipe or a device: save it to a"):
            read(path)
    assert os.read(reader, 1000) == VALID["svmlight"]
    os.close(reader)


def test_options_that_mean_nothing_are_refused(put):
    path = put(VALID["xc"])
    with pytest.raises(ValueError, match=r"format must be one of xc, .*Got 'xls'"):
        read(path, format="xls")
    with pytest.raises(TypeError, match=r"options must be .*skip_.* Got 'labels_col'"):
        read(path, labels_col="tags")
    with pytest.raises(TypeError, match=r"Got 'n_row'\."):
        iter_chunks(path, n_row=3)
    with pytest.raises(ValueError, match="n_labels must be left out for xc files"):
        read(path, n_labels=3)
    with pytest.raises(ValueError, match="labels_from must be left out for svmlight"):
        read(put(VALID["svmlight"]), labels_from="x.xml")
    with pytest.raises(ValueError, match="zero_based must be left out for jsonl files"):
        read(put(VALID["jsonl"]), zero_based=False)


@contextmanager
def one_line():
    """Demand that an error is one line that says what was expected or found."""
    try:
        yield
    except DataError as error:
        good = re.fullmatch(r"[^\n]*(expected|found)[^\n]*", error.reason)
        if not good:
            raise AssertionError(error.reason) from error
        raise


def reads_or_refuses(path, **options):
    """Read with and without skipping: a data set, or DataError."""
    with suppress(DataError), one_line():
        assert isinstance(read(path, **options), Dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkippedLines)
        with suppress(DataError):
            assert isinstance(read(path, skip_bad_lines=True, **options), Dataset)


@st.composite
def edited(draw, valid):
    """Replace, repeat or remove a few slices of a valid file."""
    content = bytearray(valid)
    piece = st.binary(max_size=4) | st.sampled_from(PIECES)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        stop = draw(st.integers(start, min(len(content), start + 6)))
        content[start:stop] = draw(piece)
    return bytes(content)


@pytest.mark.parametrize("name", [None, *VALID, "parquet", "libmultilabel", "lines"])
@given(content=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(put, name, content):
    reads_or_refuses(put(content), format=name)


@pytest.mark.slow
@pytest.mark.parametrize("name", VALID)
@settings(max_examples=150)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(put, name, data):
    path = put(data.draw(edited(VALID[name])))
    put(XML, "data.xml", beside=path)
    reads_or_refuses(path)
    reads_or_refuses(path, format=name)


@given(edited(XML))
def test_a_damaged_xml_is_read_or_refused(put, xml):
    path = put(ARFF)
    reads_or_refuses(path, labels_from=put(xml, "labels.xml"))


@given(edited(ZIPPED))
def test_a_damaged_gzip_is_read_or_refused(put, content):
    reads_or_refuses(put(content))


@given(data=st.data())
def test_a_damaged_parquet_is_read_or_refused(put, data):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    sink = pa.BufferOutputStream()
    table = pa.table({"text": ["a", "b"], "labels": [["x"], ["y", "z"]]})
    parquet.write_table(table, sink)
    whole = sink.getvalue().to_pybytes()
    reads_or_refuses(put(data.draw(edited(whole))), format="parquet")


def test_a_pdf_is_said_to_be_binary(put):
    with pytest.raises(DataError, match="found a binary file, a PDF"):
        read(put(b"%PDF-1.4\n%\xe2\xe3\n1 0 obj\n", "a.pdf"))
