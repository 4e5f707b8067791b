"""Fuzzing the readers of data files."""

import gzip
import tempfile
import warnings
from pathlib import Path

import manylabel as ml
from manylabel.data.formats import READERS
from manylabel.exceptions import DataError

PLACE = tempfile.TemporaryDirectory(prefix="fuzz-")
FORMATS = (None, *READERS)
SAMPLES = {
    "xc": b"3 5 4\n0,2 1:1.5 3:2\n1 0:1\n 4:0.25 1:3\n",
    "svmlight": b"1,2 1:0.5 7:1 # note\n 3:1\n0 qid:2 1:1e-3\n",
    "arff": (
        b"@relation 'toy: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n"
        b"@attribute x numeric\n@data\n1,0,2.5\n0,1,?\n{0 1, 2 3}\n"
    ),
    "meka": (
        b"@relation 'toy: -C -1'\n@attribute x real\n@attribute b {0,1}\n@data\n1,0\n"
    ),
    "jsonl": b'{"text": "red wine", "labels": ["drink", "a\\u00e9"]}\n{"text": ""}\n',
    "csv": b'text,labels\n"red, ""wine""",a b\nbread,food\n',
    "tsv": b"text\tlabels\nred wine\tdrink\n",
    "libmultilabel": b"1\tdrink food\tred wine\n2\tfood\tbread\n",
    "lines": b"red wine\nwhite bread\n",
}
TABLES = (  # that have to be guessed at
    'text;tags\ncafé;a|b\nthé;"[""a, b""]"\n',
    "text|x|y\nbread|1|0\nwine|true|\n",
    '{"text": "red wine", "tags": "a;b"}\n',
)
ENCODINGS = ("utf-8-sig", "cp1252", "utf-16", "utf-16-be", "utf-32")


def seeds() -> list[bytes]:
    """Return inputs to begin with: a small file in each format, also gzipped."""
    plain = [bytes([FORMATS.index(name), 0]) + it for name, it in SAMPLES.items()]
    told = [bytes([0, 1]) + it for it in SAMPLES.values()]
    csv = bytes([FORMATS.index("csv"), 0])
    odd = [csv + each.encode(name) for each in TABLES for name in ENCODINGS]
    return plain + told + odd + [bytes([0, 0]) + gzip.compress(SAMPLES["xc"])]


def read_file(data: bytes) -> None:
    """Read bytes as a file: a data set comes out, or a DataError."""
    if len(data) < 2:
        return
    path = Path(PLACE.name) / "data"
    path.write_bytes(data[2:])
    options = {"format": FORMATS[data[0] % len(FORMATS)]}
    if data[1] & 2:
        options["skip_bad_lines"] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if data[1] & 1:
                parts = list(ml.iter_chunks(path, n_rows=2, **options))
            else:
                parts = [ml.read(path, **options)]
        except DataError:
            return
    for part in parts:
        for matrix in (part.X, part.Y):
            if matrix is not None:
                matrix.check_format(full_check=True)
