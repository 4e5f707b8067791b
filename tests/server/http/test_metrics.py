"""Counts and times as Prometheus reads them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from manylabel.server.metrics import BOUNDS, Family, Metrics, Sample

SAMPLE = re.compile(
    r'[a-z_]+(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)*\})? -?[0-9.e+-]+|# (HELP|TYPE) .+'
)


@given(st.lists(st.floats(0, 20), max_size=50))
def test_a_histogram_counts_what_is_up_to_each_bound(seconds):
    metrics = Metrics()
    for each in seconds:
        metrics.observe("GET", "/", 200, each)
    lines = list(metrics.lines([]))
    for bound in BOUNDS if seconds else ():
        expected = sum(each <= bound for each in seconds)
        line = f'manylabel_request_seconds_bucket{{route="/",le="{bound}"}} {expected}'
        assert line in lines


def test_workers_count_together_and_go_on_after_a_restart(tmp_path):
    first, second = Metrics(tmp_path, 0), Metrics(tmp_path, 1)
    first.observe("GET", "/", 200, 0.1)
    second.observe("GET", "/", 200, 0.1)
    second.share()
    line = 'manylabel_requests_total{method="GET",route="/",status="200"} '
    assert f"{line}2" in first.lines([])
    again = Metrics(tmp_path, 1)
    again.observe("GET", "/", 200, 0.1)
    again.share()
    assert f"{line}3" in first.lines([])


def test_names_of_labels_are_quoted():
    family = Family("x", "gauge", "About.", [Sample(1, {"label": 'a"\\\nb'})])
    assert list(family.lines())[-1] == r'x{label="a\"\\\nb"} 1'


def test_the_server_tells_of_requests_models_and_feedback(http):
    given = {"item": {"text": "lion"}, "accepted": ['z"oo'], "complete": True}
    path = "/v1/models/menu/feedback"
    sequence = http.post(path, json=given, params={"wait": "applied"}).json()[
        "sequence"
    ]
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert all(SAMPLE.fullmatch(line) for line in lines)
    assert f'manylabel_applied_sequence{{model="menu",worker="0"}} {sequence}' in lines
    assert r'manylabel_label_accepted{model="menu",label="z\"oo"} 1' in lines
    for name in ("acknowledged_sequence", "cost_mean", "request_seconds_bucket"):
        assert any(line.startswith(f"manylabel_{name}{{") for line in lines)
    route = "/v1/models/{model}/feedback"
    counted = f'{{method="POST",route="{route}",status="202"}} 1'
    assert f"manylabel_requests_total{counted}" in lines
