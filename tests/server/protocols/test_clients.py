"""Programs of others, from the registry, talk to a server of ours.

They need other versions of what we need, so each runs with its own folder of packages.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 300  # seconds for which packages are fetched
pytestmark = pytest.mark.slow

ANNIF = """
import json, sys
from types import SimpleNamespace
from annif.backend import get_backend
from annif.corpus import Document

endpoint = sys.argv[1] + "/v1/projects/menu/suggest"
subjects = SimpleNamespace(by_uri=lambda uri: uri)
project = SimpleNamespace(subjects=subjects, datadir="")
params = {"endpoint": endpoint, "project": "menu", "limit": 2}
backend = get_backend("http")("http", params, project)
document = Document(text="a glass of red wine", metadata={"title": "Wines"})
found = backend._suggest(document, params)
print(json.dumps({
    "is_trained": backend.is_trained,
    "modified": backend.modification_time.isoformat(),
    "found": [(each.subject_id, each.score) for each in found],
}))
"""

# What asks an ML backend is in Label Studio itself (its SDK and its kit for backends do
# not); what it imports of the database and the settings is stood in for.
LABEL_STUDIO = """
import json, sys
from datetime import datetime
from types import ModuleType, SimpleNamespace

CONFIG = '''<View><Text name="dish" value="$description"/>
<Choices name="course" toName="dish" choice="multiple"><Choice value="drink"/>
<Choice value="food"/><Choice value="red"/></Choices></View>'''
settings = SimpleNamespace(
    ML_BLOCK_LOCAL_IP=False, HOSTNAME="http://localhost:8080", INTERNAL_PORT="8080",
    WEBHOOK_SERIALIZERS={"project": "project"},
)
serializer = lambda instance: SimpleNamespace(
    data={"id": instance.id, "title": "Menu", "label_config": instance.label_config}
)
for name, parts in {
    "core.feature_flags": {"flag_set": lambda *_: True},
    "core.utils.common": {"load_func": lambda _: serializer},
    "core.utils.exceptions": {"SsrfBlockedUrlError": OSError},
    "core.utils.io": {"SsrfSafeHTTPAdapter": None},
    "core.version": {"get_git_version": lambda: "1"},
    "data_export.serializers": {"ExportDataSerializer": None},
    "django.conf": {"settings": settings},
    "django.contrib.auth.models": {"AnonymousUser": object},
    "django.db.models": {"Count": None},
    "rest_framework.exceptions": {"ValidationError": ValueError},
}.items():
    steps = name.split(".")
    for n in range(1, len(steps) + 1):
        sys.modules.setdefault(".".join(steps[:n]), ModuleType(steps[n - 1]))
    vars(sys.modules[name]).update(parts)

import label_studio
from label_studio.ml.api_connector import MLApi

owner = SimpleNamespace(auth_token=SimpleNamespace(key="secret"))
project = SimpleNamespace(
    id=3, created_at=datetime(2026, 1, 5), label_config=CONFIG, created_by=owner,
    task_data_login=None, task_data_password=None,
)
tasks = [{"id": 11, "data": {"description": "a glass of red wine"}}]
api = MLApi(url=sys.argv[1] + "/label-studio/menu")
health, setup = api.health(), api.setup(project)
found = api.make_predictions(tasks, project)
trained = api.train(project)
wrong = MLApi(url=sys.argv[1] + "/label-studio/none").health()
print(json.dumps({
    "version": label_studio.__version__,
    "health": health.response,
    "setup": setup.response,
    "found": found.response,
    "trained": [trained.is_error, trained.status_code],
    "refused": [wrong.is_error, wrong.status_code],
}))
"""

TRITON = """
import json, sys
import numpy as np
import tritonclient.http as triton

client = triton.InferenceServerClient(sys.argv[1].removeprefix("http://"))
texts = np.array(["a glass of red wine", "rye bread"], dtype=object)
rows = []
for is_binary in (True, False):
    given = triton.InferInput("text", [2], "BYTES")
    given.set_data_from_numpy(texts, binary_data=is_binary)
    answer = client.infer("menu", [given], request_id="7", parameters={"k": 1})
    rows.append([
        [str(name) for name in answer.as_numpy("labels")[:, 0]],
        answer.as_numpy("scores").shape,
    ])
try:
    client.get_model_metadata("none")
except triton.InferenceServerException as error:
    refusal = error.message()
print(json.dumps({
    "ready": [client.is_server_ready(), client.is_model_ready("menu")],
    "metadata": client.get_model_metadata("menu")["outputs"][0]["name"],
    "rows": rows,
    "refusal": refusal,
}))
"""


@pytest.fixture(scope="module")
def address(saved, tmp_path_factory) -> Iterator[str]:
    """Serve a model in a process of its own, and return its address."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "menu").symlink_to(saved)
    command = [Path(sys.executable).with_name("manylabel"), "serve", folder]
    process = subprocess.Popen(
        [*map(str, command), "--port", "0"], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    told = iter(process.stderr.readline, "")
    found = next(filter(None, (re.search(r"http://[\d.:]+", line) for line in told)))
    try:
        yield found[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)


def install(folder: Path, *, alone: str, others: list[str]) -> Path:
    """Fetch a package without what it asks for, and packages with it; or skip."""
    for packages in (["--no-deps", alone], others):
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target"]
        ran = subprocess.run(
            [*command, str(folder), *packages],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if ran.returncode:
            pytest.skip(f"{packages[-1]} cannot be installed here")
    return folder


def run(program: str, address: str, packages: Path) -> dict[str, object]:
    """Run a program with some packages, and return what it prints."""
    ran = subprocess.run(
        [sys.executable, "-c", program, address],
        env={**os.environ, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, object] = json.loads(ran.stdout)
    return found


def test_the_http_backend_of_annif_gets_suggestions(address, tmp_path):
    others = ["requests", "python-dateutil", "flask", "rdflib"]
    packages = install(tmp_path, alone="annif", others=others)
    answer = run(ANNIF, address, packages)
    assert answer["is_trained"] is True
    assert answer["modified"]
    assert [uri for uri, _ in answer["found"]] == ["drink", "red"]


def test_label_studio_gets_predictions(address, tmp_path):
    packages = install(tmp_path, alone="label-studio", others=["requests"])
    answer = run(LABEL_STUDIO, address, packages)
    assert answer["health"]["status"] == "UP"
    version = answer["setup"]["model_version"]
    (task,) = answer["found"]["results"]
    (region,) = task["result"]
    assert region["value"] == {"choices": ["drink", "red"]}
    assert task["model_version"] == version == answer["health"]["model_version"]
    assert answer["trained"] == [False, 201]
    assert answer["refused"] == [True, 404]


def test_the_client_of_triton_gets_labels(address, tmp_path):
    others = ["ml-dtypes", "python-rapidjson", "geventhttpclient", "urllib3"]
    packages = install(tmp_path, alone="tritonclient", others=others)
    answer = run(TRITON, address, packages)
    assert answer["ready"] == [True, True]
    assert answer["metadata"] == "labels"
    assert answer["rows"] == [[["drink", "food"], [2, 1]]] * 2
    assert "There is no model 'none';" in answer["refusal"]
