"""The pages of docs/ are true: what they run prints what they say."""

import inspect
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
import warnings
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

import manylabel as ml

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {str(page.relative_to(DOCS)): page for page in sorted(DOCS.rglob("*.md"))}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n(?:\s*```text\n(.*?)^```\n)?", re.M | re.S)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
TERM = re.compile(r"^\*\*(.+?)\*\*: ", re.M)
CALL = re.compile(r"`([A-Z]\w+)(?:\((\w+)=[^`]*\))?(?:\.(\w+))?`")
ENTRY = re.compile(r"^::: manylabel\.(\S+)", re.M)
ELSEWHERE = {"C", "X", "Y", "GridSearchCV"}  # parameters, and scikit-learn's
CLUSTERS = {  # pages whose examples start a cluster
    "how-to/cluster-dask.md": "distributed",
    "how-to/cluster-ray.md": "ray",
    "how-to/cluster-spark.md": "pyspark",
}
SERVED = {"how-to/serve.md"}  # pages whose examples ask a server
NEEDED = {"how-to/libraries.md": ("pandas", "polars", "mlflow", "tqdm")}  # not by us
ADDRESS = "127.0.0.1:8000"
NOT_RUN = {
    "console": "typed in a clone or another environment: make and pip",
    "text": "a file, a formula or a picture in letters",
}


def _text(page):
    return PAGES[page].read_text(encoding="utf-8")


def _ways_to_run():
    """Yield the pages that run something here; those that start processes are slow."""
    for page in PAGES:
        kinds = re.findall(r"^```(python|sh)$", _text(page), re.M)
        if kinds and page not in CLUSTERS:
            is_slow = "sh" in kinds or page in NEEDED
            yield pytest.param(page, marks=[pytest.mark.slow] if is_slow else [])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder, with the command line of this tree at hand."""
    program = tmp_path / "bin" / "manylabel"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m manylabel.cli.main "$@"')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COLUMNS", "88")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.mark.skipif(os.name == "nt", reason="Windows has no sh")
@pytest.mark.parametrize("page", list(_ways_to_run()))
def test_what_a_page_runs_prints_what_it_says(page, folder, capsys):
    for library in NEEDED.get(page, ()):
        warnings.simplefilter("ignore")  # theirs
        pytest.importorskip(library)
    names, text = {}, _text(page)
    with _serve() if page in SERVED else nullcontext(ADDRESS) as address:
        _run(page, text.replace(ADDRESS, address), names, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("page", CLUSTERS)
def test_a_page_of_a_cluster_is_a_program(page, folder):
    pytest.importorskip(CLUSTERS[page])
    if page == "how-to/cluster-spark.md" and shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    text, guard = _text(page), 'if __name__ == "__main__":'
    found = BLOCK.findall(text)
    code = "\n".join(each for language, each, _ in found if language == "python")
    if guard in text:  # what the page says that a file needs
        code = f"{guard}\n{textwrap.indent(code, '    ')}"
    Path("program.py").write_text(code, encoding="utf-8")
    program = [sys.executable, "program.py"]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = "\n".join(said for language, _, said in found if language == "python")
    assert _agree(done.stdout, printed)


def _run(page, text, names, capsys):
    for language, code, printed in BLOCK.findall(text):
        if language == "python":
            exec(compile(code, page, "exec"), names)
            got = capsys.readouterr().out
        elif language == "sh":
            got = _shell(code)
        else:
            assert language in NOT_RUN
            continue
        assert _agree(got, printed), f"{code}printed\n{got}in place of\n{printed}"


@pytest.mark.slow
def test_the_readme_corrects_a_served_model_by_curl(folder):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"^shop=http:.*?(?=^```)", text, re.M | re.S)[0]
    _, ask, teach = re.split(r"^(?=curl)", code, flags=re.M)
    # By one program, so that the next prediction is asked for at once.
    code += f"{teach.replace('picnic', 'feast').rstrip()} {ask.replace('curl', '-:')}"
    with _serve() as place:
        got = _shell(re.sub("curl|-:", r"\g<0> -s", code).replace(ADDRESS, place))
    answers = '{"model":"shop" ... "wine" ... {"sequence":...}{"sequence":...}'
    assert _agree(got, f'{answers}{{"model": ... "feast" ...')


@contextmanager
def _serve():
    """Serve the example; yield where."""
    with subprocess.Popen(
        ["manylabel", "serve", "models/", "--example", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            while not (place := re.search(r"http://(\S+)/", server.stderr.readline())):
                assert server.poll() is None
            while _get(f"http://{place[1]}/health/ready") != 200:
                time.sleep(0.1)
            yield place[1]
        finally:
            server.terminate()
            server.communicate()


def _get(url):
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def _agree(got, printed):
    """Compare words; three dots stand for any of them, or for the end of a number."""
    parts = [r"\s+".join(map(re.escape, p.split())) for p in printed.split("...")]
    return re.fullmatch(rf"\s*{'.*'.join(parts)}\s*", got, re.S)


def _shell(code):
    done = subprocess.run(["sh", "-eu"], input=code, capture_output=True, text=True)
    assert done.returncode == 0, f"{code}ended with\n{done.stderr}"
    return done.stdout


def test_every_block_names_what_it_is():
    for page in PAGES:
        fences = re.findall(r"^```(.*)$", _text(page), re.M)
        assert len(fences) % 2 == 0, page
        assert set(fences[::2]) <= {"python", "sh", *NOT_RUN}, page


def test_links_lead_to_files():
    for page, path in PAGES.items():
        for target in LINK.findall(_text(page)):
            assert (path.parent / target).exists(), f"{page} links to {target}"


def test_every_page_is_in_the_navigation():
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(listed) == sorted(PAGES)


def test_every_public_name_has_one_place_in_the_reference():
    pages = [page for page in PAGES if page.startswith("reference/")]
    entries = [name for page in pages for name in ENTRY.findall(_text(page))]
    assert sorted(entries) == sorted(_public_names())


def test_the_glossary_names_what_there_is():
    public = {name.rpartition(".")[2] for name in _public_names()} | ELSEWHERE
    named = CALL.findall(_text("reference/glossary.md"))
    assert len(named) > 50
    for name, parameter, attribute in named:
        assert name in public, name
        if parameter:
            assert parameter in inspect.signature(getattr(ml, name)).parameters
        if attribute:
            assert re.search(rf"^ *{attribute} :", getattr(ml, name).__doc__, re.M)


def test_the_glossary_is_in_order():
    terms = [term.lower() for term in TERM.findall(_text("reference/glossary.md"))]
    assert terms == sorted(terms)
    assert len(terms) > 60


def _public_names():
    for name in ml.__all__:
        thing = getattr(ml, name)
        if inspect.ismodule(thing):
            members = ((each, getattr(thing, each)) for each in thing.__all__)
            yield from (f"{name}.{each}" for each, what in members if _is_code(what))
        elif _is_code(thing):
            yield name


def _is_code(thing):
    return inspect.isclass(thing) or inspect.isfunction(thing)
