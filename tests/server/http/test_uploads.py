"""Models that come over the network."""

import io
import tarfile
import time

import pytest

TAR = {"content-type": "application/x-tar"}


def pack(folder, prefix="model/", extra=()):
    """Return the files of a model folder as a tar archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, prefix + path.name)
        for member in extra:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return stream.getvalue()


def member(name, kind=tarfile.REGTYPE, target="", size=0):
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.size = kind, target, size
    return found


def test_an_uploaded_model_has_a_name_as_folders_have(http, shared, fitted):
    content = pack(fitted / "menu")
    answer = http.put("/v1/models/a.v2", content=content, headers=TAR)
    assert answer.status_code == 204
    assert (shared / "a.v2").is_dir()
    for name in ("_y", "a+b", ".x", "my%20model"):
        answer = http.put(f"/v1/models/{name}", content=content, headers=TAR)
        assert (answer.status_code, answer.json()["title"]) == (422, "Bad item")
        assert "must be letters, digits, ., - and _" in answer.json()["detail"]


@pytest.mark.parametrize("prefix", ["", "./", "model/"])
def test_an_uploaded_model_is_served(http, fitted, prefix):
    name = f"new{len(prefix)}"
    content = pack(fitted / "menu", prefix)
    answer = http.put(f"/v1/models/{name}", content=content, headers=TAR)
    assert answer.status_code == 204
    for _ in range(100):
        if name in http.get("/v1/models").json()["models"]:
            break
        time.sleep(0.1)
    while (card := http.get(f"/v1/models/{name}")).status_code == 503:
        time.sleep(0.1)
    assert card.json()["uploaded_by"] == "local"


@pytest.mark.parametrize(
    "extra",
    [
        member("../../evil", size=1),
        member("/etc/evil", size=1),
        member("evil.py", size=1),
        member("manifest.json", tarfile.SYMTYPE, "/etc/passwd"),
        member("arrays-0000000000000000.safetensors", tarfile.LNKTYPE, "/etc/passwd"),
        member("manifest.json", tarfile.FIFOTYPE),
        member(".draft-manifest", size=1),
        member("manifest.json", size=1),
    ],
    ids=lambda it: f"{it.name} {it.type!r}",
)
def test_archives_with_other_things_in_them_are_refused(http, shared, fitted, extra):
    before = sorted(path for path in shared.iterdir())
    content = pack(fitted / "menu", extra=[extra])
    answer = http.put("/v1/models/evil", content=content, headers=TAR)
    assert (answer.status_code, answer.json()["title"]) == (422, "Bad item")
    assert sorted(path for path in shared.iterdir()) == before


def test_archives_that_are_none_are_refused(http, fitted):
    damaged = pack(fitted / "menu").replace(b'"OneVsRest"', b'"OneVsRisk"')
    for content in (b"", b"nonsense" * 200, damaged, pack(fitted / "menu")[:5000]):
        answer = http.put("/v1/models/evil", content=content, headers=TAR)
        assert answer.status_code == 422
    answer = http.put("/v1/models/evil", content=pack(fitted / "menu"))
    assert (answer.status_code, answer.json()["title"]) == (415, "Not tar")
    assert "evil" not in http.get("/v1/models").json()["models"]


def test_answers_tell_nothing_of_the_servers_folders(http, fitted):
    damaged = pack(fitted / "menu").replace(b'"OneVsRest"', b'"OneVsRisk"')
    answer = http.put("/v1/models/evil", content=damaged, headers=TAR)
    assert "checksum" in answer.json()["detail"]
    assert "unpacked" not in answer.text
