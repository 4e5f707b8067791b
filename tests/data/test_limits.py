"""Files that were made to fill the memory are refused before they do."""

import gzip
import subprocess
import sys
import textwrap

import pytest

import manylabel as ml
from manylabel.exceptions import DataError

MB = 1 << 20
LIMIT = 8 * MB  # of a line, if no other is given
ROOM = 300 * MB  # above the limit
SIZE = 1 << 29  # what a bomb would unfold to

# Each is told apart by its first bytes, and filled by repeating the second.
BOMBS = {
    "an open quote": ("csv", b'text,labels\n"', b"\n"),
    "an open quote, one line": ("csv", b'text,labels\n"', b"x"),
    "doubled quotes": ("csv", b'text,labels\n"', b'""'),
    "fields": ("csv", b"text,labels\n", b","),
    "columns": ("csv", b"text,labels", b",a"),
    "one JSON line of lists": ("jsonl", b'{"text": "a", "labels": [', b"[],"),
    "one JSON line of objects": ("jsonl", b'{"text": "a", "labels": [', b"{},"),
    "nested JSON": ("jsonl", b'{"text": ', b"["),
    "one row of features": ("xc", b"1 9 9\n0 ", b"1:1 "),
    "one row of labels": ("xc", b"1 9 9\n0", b",1"),
    "one row of svmlight": ("svmlight", b"0 ", b"1:1 "),
    "a header of counts": ("xc", b"1", b"0"),
    "one line of ARFF": ("arff", b"@relation a\n@attribute b {", b"a,"),
    "attributes": ("arff", b"@relation a\n", b"@attribute a numeric\n"),
    "one line": ("lines", b"", b"x"),
    "one line of fields": ("libmultilabel", b"1\ta\t", b"\t"),
}


def write_bomb(path, start, filling):
    """Write a small file that unfolds to half a gigabyte."""
    block = gzip.compress(filling * (MB // len(filling)))
    path.write_bytes(gzip.compress(start) + block * (SIZE // MB))


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_little_memory(name, tmp_path):
    kind, start, filling = BOMBS[name]
    path = tmp_path / "bomb.gz"
    write_bomb(path, start, filling)
    assert path.stat().st_size < 8 * MB
    program = f"""
        import resource
        import manylabel as ml
        from manylabel.exceptions import DataError

        try:
            ml.read({str(path)!r}, format={kind!r})
        except DataError as error:
            print(str(error)[:200])
        before = {idle_peak()}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
        assert peak < {LIMIT + ROOM}, f"{{peak:,}} bytes"
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ran.returncode == 0, ran.stderr
    assert "bomb.gz" in ran.stdout


def idle_peak():
    """Return the peak of a process that reads a small file, in bytes."""
    program = """
        import resource, tempfile
        import manylabel as ml

        with tempfile.NamedTemporaryFile("w") as file:
            file.write("1 1 1\\n0 0:1\\n")
            file.flush()
            ml.read(file.name)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"2 3 3\n0 1:1\n1 " + b"1:1 " * 40_000 + b"\n", 3),
        (b'text,labels\na,b\n"' + b"x" * 140_000 + b'",b\n', 3),
        (b'{"text": "a", "labels": []}\n{"text": "' + b"x" * 140_000 + b'"}\n', 2),
    ],
)
def test_a_long_line_is_named_and_the_limit_can_be_raised(content, line, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"at most 131,072 bytes.*max_line_bytes") as e:
        ml.read(path, max_line_bytes=1 << 17)
    assert e.value.line == line
    assert "at most 131,072" not in str(outcome(path, 1 << 18))


def outcome(path, longest):
    try:
        return ml.read(path, max_line_bytes=longest)
    except DataError as error:
        return error


def test_a_record_over_many_lines_has_the_same_limit(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('text,labels\n"' + "x\n" * 70_000 + '",b\n')
    with pytest.raises(DataError, match="at most 131,072 bytes"):
        ml.read(path, max_line_bytes=1 << 17)
    assert len(ml.read(path)) == 1


def test_a_limit_below_a_block_is_refused(tmp_path):
    path = tmp_path / "data"
    path.write_text("1 1 1\n0 0:1\n")
    with pytest.raises(ValueError, match="max_line_bytes == 5"):
        ml.read(path, max_line_bytes=5)


def test_a_loop_of_links_is_named(tmp_path):
    path = tmp_path / "loop"
    path.symlink_to(path)
    with pytest.raises(OSError, match="loop"):
        ml.read(path)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev"])
def test_devices_and_folders_are_refused(path):
    with pytest.raises(DataError, match="found a"):
        ml.read(path)
