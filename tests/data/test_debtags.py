"""Debian's package lists become texts with tags."""

import gzip
import lzma
import subprocess

import pytest

from manylabel.data import control, debtags, read_debtags
from manylabel.exceptions import DataError

CHESS = """\
Package: chess
Version: 1.0
Description: play chess
Description-md5: 0c
Tag: game::board, interface::{graphical,
 text-mode}, special::unreviewed
"""
UNTAGGED = "Package: plain\nDescription: no tags\n"
EDITOR = """\
Package: editor
Description: edit text
 Edit it well.
 .
\tEdit it  often.
Tag: use::editing
"""
LONG = """\
Package: chess
Description-md5: 0c
Description-en: play chess
 A game of kings.
 .
 And of pawns.

Package: other
Description-md5: 0d
Description-en: other
"""


@pytest.fixture
def lists(tmp_path):
    """Write lists; a name without an underscore is that of a list of packages."""

    def write(**contents):
        for name, text in contents.items():
            path = tmp_path / (name if "_" in name else f"{name}_Packages")
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def tags_of(data):
    names = data.labels.decode(data.Y)
    return dict(zip(data.ids, names, strict=True))


def test_tagged_packages_are_read_by_name(lists):
    data = read_debtags(lists(a=f"\n{EDITOR}\n\n{UNTAGGED}\n{CHESS}"))
    assert data.ids == ("chess", "editor")
    assert data.texts == ("play chess", "edit text Edit it well. Edit it often.")
    assert data.X is None


def test_braces_and_further_lines_hold_tags(lists):
    found = tags_of(read_debtags(lists(a=CHESS)))
    tags = ["game::board", "interface::graphical", "interface::text-mode"]
    assert found == {"chess": tags}


def test_how_far_tagging_has_come_is_no_tag(lists):
    none = "Package: new\nDescription: new\nTag: special::not-yet-tagged\n"
    assert read_debtags(lists(a=f"{CHESS}\n{none}")).ids == ("chess",)


def test_long_descriptions_come_from_translations(lists):
    data = read_debtags(lists(a=f"{CHESS}\n{EDITOR}", **{"a_Translation-en": LONG}))
    assert data.texts[0] == "play chess A game of kings. And of pawns."
    assert data.texts[1].startswith("edit text")


def test_a_package_of_several_lists_counts_once(lists):
    newer = CHESS.replace("game::board", "game::arcade")
    data = read_debtags(lists(a=CHESS, b=f"{newer}\n{EDITOR}"))
    assert data.ids == ("chess", "editor")
    assert "game::board" in tags_of(data)["chess"]


def test_a_name_tells_the_subset_whatever_else_there_is(lists):
    names = [f"package-{i}" for i in range(60)]
    texts = [f"Package: {n}\nDescription: {n}\nTag: a::b\n" for n in names]
    test = read_debtags(lists(a="\n".join(texts)), subset="test")
    train = read_debtags(lists(), subset="train")
    assert sorted(test.ids + train.ids) == sorted(names)
    assert 0 < len(test) < len(train)
    fewer = read_debtags(lists(a="\n".join(texts[:30])), subset="test")
    assert set(fewer.ids) == set(test.ids) & set(names[:30])


def test_subsets_have_the_same_labels(lists):
    folder = lists(a=f"{CHESS}\n{EDITOR}")
    names = [read_debtags(folder, subset=s).label_names for s in debtags.SUBSETS]
    assert names[0] == names[1] == names[2]


@pytest.mark.parametrize(("suffix", "packed"), [("gz", gzip), ("xz", lzma)])
def test_compressed_lists_are_read(tmp_path, suffix, packed):
    path = tmp_path / f"a_Packages.{suffix}"
    path.write_bytes(packed.compress(CHESS.encode()))
    assert read_debtags(tmp_path).ids == ("chess",)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=f"{path.name}: expected a whole {suffix} file"):
        read_debtags(tmp_path)


def lz4(content):
    """Return a frame of LZ4 with one block that is not compressed."""
    size = (len(content) | 1 << 31).to_bytes(4, "little")
    return b"\x04\x22\x4d\x18\x60\x40\x82" + size + content + bytes(4)


@pytest.mark.skipif(not control.HELPER.exists(), reason="apt is not there")
def test_apt_uncompresses_what_python_cannot(tmp_path):
    path = tmp_path / "a_Packages.lz4"
    path.write_bytes(lz4(CHESS.encode()))
    assert read_debtags(tmp_path).ids == ("chess",)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="lz4: expected a whole lz4 file"):
        read_debtags(tmp_path)


def test_without_apt_its_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(control, "HELPER", tmp_path / "none")
    (tmp_path / "a_Packages.lz4").write_bytes(b"")
    with pytest.raises(DataError, match="lz4, which needs apt"):
        read_debtags(tmp_path)


def test_other_files_of_apt_are_left_alone(lists):
    others = dict.fromkeys(["a_Packages.diff_Index", "a_InRelease", "lock"], "-----")
    others["a_Translation-en_GB"] = "-----"
    folder = lists(a=CHESS)
    for name, text in others.items():
        (folder / name).write_text(text)
    assert read_debtags(folder).ids == ("chess",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{CHESS}\nno field\n", "line 8: expected 'Name: value', found 'no field'."),
        (f"{CHESS}\n further\n", "line 8: expected 'Name: value', found ' further'."),
        (f"{CHESS}: 1\n", "line 7: expected 'Name: value', found ': 1'."),
        (f"{CHESS}Tag: a\n", "line 7: expected 'Tag' once in a paragraph."),
        ("Tag: a::b\n", "line 1: expected a Package with this Tag."),
        ("Package: a\nTag: a::b\n", "line 2: expected a Description with this Tag."),
        (CHESS.replace("}", ""), r"line 5: expected tags, found 'interface::{gra"),
        (CHESS.replace("{", ""), r"line 5: expected tags, found 'text-mode}'."),
        (CHESS.replace("board,", "board"), "line 5: expected tags, found 'game::bo"),
    ],
)
def test_a_malformed_paragraph_is_told_by_its_line(lists, text, reason):
    with pytest.raises(DataError, match=f"a_Packages, {reason}"):
        read_debtags(lists(a=text))


def test_text_that_is_not_utf8_is_told_by_its_line(tmp_path):
    content = CHESS.encode().replace(b" text-mode", b" text-\xff")
    (tmp_path / "a_Packages").write_bytes(content)
    with pytest.raises(DataError, match="line 6: expected UTF-8, found byte 0xff"):
        read_debtags(tmp_path)


def test_a_folder_without_lists_or_tags_is_refused(lists, tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(DataError, match="expected Debian's package lists, found n"):
            read_debtags(folder)
    with pytest.raises(DataError, match="expected package lists with tags, found none"):
        read_debtags(lists(a=UNTAGGED, b=""))


def test_an_unknown_subset_is_refused(lists):
    with pytest.raises(ValueError, match="subset must be one of all, train, test"):
        read_debtags(lists(a=CHESS), subset="valid")


def uncompressed(path):
    command = [control.HELPER, "cat-file", path]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


def test_the_lists_of_this_machine_are_read_whole():
    lists = [*debtags._files(debtags.LISTS, "Packages")]
    if not lists or not control.HELPER.exists():
        pytest.skip(f"{debtags.LISTS} has no package lists")
    tagged = {
        paragraph.strip().partition("\n")[0].removeprefix("Package: ")
        for path in lists
        for paragraph in uncompressed(path).split("\n\n")
        if "\nTag: " in paragraph
    }
    if not tagged:
        pytest.skip("the package lists of this machine have no tags")
    data = read_debtags()
    assert set(data.ids) <= tagged
    assert len(data) > 0.9 * len(tagged)  # others have tags of the special facet only
    assert all("::" in name for name in data.label_names)
    assert data.Y.sum(axis=1).min() >= 1


def test_paragraphs_come_before_the_rest_is_read(tmp_path):
    path = tmp_path / "list"
    path.write_text(f"{CHESS}\nno field\n")
    found = control.paragraphs(path, ["Package"])
    assert next(found) == {"Package": control.Field("chess", 1)}
    with pytest.raises(DataError, match="line 8"):
        next(found)
