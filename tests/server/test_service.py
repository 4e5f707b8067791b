"""The service as its callers see it: predictions, feedback, versions, jobs."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import manylabel as ml
from manylabel.server import errors
from manylabel.server.items import FeedbackIn
from manylabel.server.label_index import LabelIndex
from manylabel.server.settings import Settings

QUICK = Settings(poll=0.05, snapshot_every=50)
TEXT = {"text": "zebra crossing"}


@pytest.fixture
def service(folder, serving):
    with serving(folder) as found:
        yield found


@pytest.fixture
def replica(service):
    return service.replica("m")


def test_a_correction_changes_the_next_prediction_of_it_and_of_what_is_like_it(
    replica, correct, best
):
    like = {"text": "zebra crossing here"}
    before = replica.predict([like]).labels
    assert best(replica) != ["brand-new"]
    correct(replica)
    assert replica.predict([like]).labels != before
    for _ in range(2):
        correct(replica)
    assert best(replica) == ["brand-new"]
    assert "brand-new" in best(replica, like, k=3)


def test_the_same_key_is_learnt_once(replica, correct):
    first = correct(replica, key="k")
    again = correct(replica, key="k")
    assert (first.is_new, again.is_new) == (True, False)
    assert first.sequence == again.sequence
    with pytest.raises(errors.KeyReused, match="'k' was used for another request"):
        correct(replica, accepted=["other"], key="k")


def test_feedback_may_name_a_prediction_of_another_process(
    service, folder, serving, wait_for
):
    found = service.replica("m").predict([TEXT])
    with serving(folder) as other:
        said = FeedbackIn(accepted=["a"], prediction_id=found.ids[0])
        appended = other.replica("m").feedback(said, None, "me").result(10)
        event = other.replica("m")._parts.log.read(appended.sequence - 1, 1)[0]
    assert event.body["item"] == TEXT
    assert event.body["prediction"] == found.ids[0]
    wait_for(lambda: service.replica("m").applied >= appended.sequence)


def test_a_prediction_that_nobody_remembers_is_refused(replica):
    said = FeedbackIn(accepted=["a"], prediction_id="no-such-id")
    with pytest.raises(errors.UnknownPrediction, match="'no-such-id' is remembered"):
        replica.feedback(said, None, "me")


def test_a_request_that_is_sent_again_outlives_its_prediction(replica, wait_for):
    found = replica.predict([TEXT])
    said = FeedbackIn(accepted=["a"], prediction_id=found.ids[0])
    first = replica.feedback(said, "k", "me").result(10)
    log = replica._parts.log
    wait_for(lambda: log.recall(found.ids[0]) is not None)
    log.forget(time.time() + 1, keep=0)
    assert replica.feedback(said, "k", "me").result(10).sequence == first.sequence


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (FeedbackIn(item=TEXT), "must accept or reject a label, or be complete"),
        (FeedbackIn(["a"], ["a"], item=TEXT), "must have no label in common. Got 'a'"),
        (FeedbackIn([""], item=TEXT), "labels must be strings, not blank"),
        (FeedbackIn([], [" "], item=TEXT), "labels must be strings, not blank"),
        (FeedbackIn(["a"], item={"features": {}}), "item must have text"),
        (FeedbackIn(["a"], item={"text": 3}), "text must be a string. Got int"),
    ],
)
def test_bad_feedback_is_refused_and_not_logged(replica, said, why):
    last = replica.acknowledged
    with pytest.raises(errors.BadItem, match=why):
        replica.feedback(said, None, "me")
    assert replica._parts.log.last() == last


def test_sets_are_those_that_the_model_gives(replica, correct, best):
    correct(replica)
    model = replica._published().model
    items = [TEXT, {"text": "zebra crossing here"}, {"text": "nothing of that"}]
    found = replica.predict(items, k=None).labels
    assert [[name for name, _ in row] for row in found] == [
        each.given for each in model.judge_many(items)
    ]
    assert found[0][0][0] == "brand-new"
    sure = replica.predict(items, k=None, proba=True).labels
    assert [set(dict(row)) for row in sure] == [set(dict(row)) for row in found]
    assert best(replica, k=None, deny=["brand-new"]) == []


def test_labels_are_allowed_denied_and_given_probabilities(replica, folder, best):
    (first,) = best(replica)
    assert best(replica, k=5, allow=["is-red", "unknown"]) == ["is-red"]
    assert best(replica, k=5, allow=["unknown"]) == []
    assert first not in best(replica, k=5, deny=[first])
    scores = [score for _, score in replica.predict([TEXT], proba=True).labels[0]]
    assert all(0 <= score <= 1 for score in scores)


def test_a_rollback_and_a_retraction_undo_a_correction(replica, correct):
    before = replica.predict([TEXT]).labels
    then = replica.applied
    appended = correct(replica)
    assert replica.predict([TEXT]).labels != before
    assert replica.wait(
        replica.retract(appended.sequence, "me").result(10).sequence, 30
    )
    assert replica.predict([TEXT]).labels == before
    correct(replica)
    assert replica.wait(replica.rollback(then, "me").result(10).sequence, 30)
    assert replica.predict([TEXT]).labels == before


def test_labels_of_a_retracted_feedback_do_not_count_however_often_it_is(
    replica, correct
):
    kept, gone = correct(replica), correct(replica, accepted=("brand-new", "misspelt"))
    assert replica.figures()["labels"] == {"brand-new": 2, "misspelt": 1}
    for _ in range(2):
        again = replica.retract(gone.sequence, "me").result(10)
        assert replica.wait(again.sequence, 30)
        assert replica.figures()["labels"] == {"brand-new": 1}
    assert "misspelt" not in dict(replica.labels("", 100))
    assert replica.wait(replica.retract(kept.sequence, "me").result(10).sequence, 30)
    assert replica.figures()["labels"] == {}


def test_what_cannot_be_undone_is_refused(replica):
    with pytest.raises(errors.UnknownSequence, match="must be that of a feedback"):
        replica.retract(1, "me")
    with pytest.raises(errors.UnknownSequence, match="Got 99"):
        replica.retract(99, "me")
    with pytest.raises(errors.UnknownSequence, match="at most 2, where the log ends"):
        replica.rollback(99, "me")
    for number in (-1, 0, 99):
        with pytest.raises(errors.UnknownSequence, match=f"Got {number}"):
            replica.rollback(number, "me")
    with pytest.raises(errors.UnknownVersion, match="no version 'abc'"):
        replica.activate("abc", "me")
    with pytest.raises(errors.UnknownJob, match="no job"):
        replica.job("../../etc/passwd")


@pytest.mark.parametrize("name", ["jobs", "tokens.json", "log.db"])
def test_names_of_the_services_own_files_are_refused(
    folder, batch_tagger, caplog, name, serving
):
    kept = folder / "models" / ".serve"
    kept.mkdir()
    (kept / "tokens.json").write_text("{}")
    batch_tagger.save(folder / "models" / name)
    with serving(folder) as service:
        assert service.names() == ["m"]
    assert "must be other than jobs, tokens.json and log.db" in caplog.text
    assert not (kept / name / "versions").exists()


def test_of_a_folder_that_is_cut_short_its_own_name_is_told(
    folder, batch_tagger, caplog, serving
):
    cut = folder / "models" / "cut"
    batch_tagger.save(cut)
    (arrays,) = cut.glob("*.safetensors")
    arrays.write_bytes(arrays.read_bytes()[:-100])
    with serving(folder) as service:
        assert service.names() == ["m"]
    assert f"model cut: {cut}: " in caplog.text
    assert ".draft" not in caplog.text


@pytest.mark.parametrize("name", ["my model", "a+b", "50%", "-x", "_y", "a" * 101])
def test_names_that_no_address_has_are_told(
    folder, batch_tagger, caplog, name, serving
):
    batch_tagger.save(folder / "models" / name)
    with serving(folder) as service:
        assert service.names() == ["m"]
    assert "must be letters, digits, ., - and _, at most 100, a letter" in caplog.text


def test_labels_are_sorted_before_a_model_is_ready(folder, monkeypatch, serving):
    extended = LabelIndex.extended

    def dawdle(index, names):
        time.sleep(0.3)
        return extended(index, names)

    monkeypatch.setattr(LabelIndex, "extended", dawdle)
    with serving(folder) as service:
        assert service.replica("m").labels("is-", 1)


def test_a_new_folder_is_served_and_a_changed_one_becomes_the_version(
    service, folder, batch_tagger, wait_for, correct, best
):
    with pytest.raises(errors.UnknownModel, match="no model 'late'"):
        service.replica("late")
    batch_tagger.save(folder / "models" / "late")
    wait_for(lambda: "late" in service.names() and service.is_ready())
    late = service.replica("late")
    first = late.version
    correct(late)
    ml.Tagger(ml.Popularity()).fit(["x"], [["y"]]).save(folder / "models" / "late")
    wait_for(lambda: late.version != first)
    assert [each.is_active for each in late.versions()] == [True, False]
    assert "brand-new" in best(late, k=5), "what was corrected is learnt again"
    late.activate(first, "me").result(10)
    wait_for(lambda: late.version == first)


def test_a_version_that_was_dropped_cannot_be_gone_back_to(
    folder, batch_tagger, serving, wait_for, correct, best
):
    settings = QUICK._replace(keep_versions=1)
    with serving(folder, settings=settings) as service:
        replica = service.replica("m")
        first, before = replica.version, correct(replica).sequence
        ml.Tagger(ml.Popularity()).fit(["x"], [["y"]]).save(folder / "models" / "m")
        wait_for(lambda: replica.version != first)
        wait_for(
            lambda: [each.is_there for each in replica.versions()] == [True, False]
        )
        with pytest.raises(errors.UnknownVersion, match="its folder is not there"):
            replica.rollback(before, "me")
        with pytest.raises(errors.UnknownVersion, match="its folder is not there"):
            replica.activate(first, "me")
        assert "brand-new" in best(replica, k=5)


def test_the_probabilities_of_the_page_drift_too(replica, monkeypatch):
    monkeypatch.setattr("manylabel.server.drift.WINDOW", 5)
    assert replica.figures()["drift"] is None
    for text in ("hot a", "unheard of"):
        replica.predict([{"text": text}] * 5, proba=True)
    assert replica.figures()["drift"] is not None


def test_a_folder_that_is_no_model_is_left_alone(service, folder, caplog, wait_for):
    bad = folder / "models" / "bad"
    bad.mkdir()
    (bad / "manifest.json").write_text("{}")
    wait_for(lambda: "the manifest has no checksum" in caplog.text)
    assert service.names() == ["m"]


def test_a_service_that_starts_again_knows_everything(folder, serving, correct):
    with serving(folder) as service:
        for _ in range(3):
            correct(service.replica("m"))
        labels = service.replica("m").predict([TEXT]).labels
        figures = service.replica("m").figures()["costs"]
    with serving(folder) as service:
        assert service.replica("m").predict([TEXT]).labels == labels
        assert service.replica("m").figures()["costs"] == figures


def test_predictions_do_not_wait_for_learning(replica, monkeypatch):
    gate = threading.Event()
    old = type(replica._following).step

    def slow(self, last):
        gate.wait(20)
        return old(self, last)

    monkeypatch.setattr(type(replica._following), "step", slow)
    said = FeedbackIn(accepted=["a"], item=TEXT)
    appended = replica.feedback(said, None, "me").result(10)
    assert replica.predict([TEXT]).labels
    assert not replica.wait(appended.sequence, 0.2)
    assert replica.acknowledged >= appended.sequence > replica.applied
    gate.set()
    assert replica.wait(appended.sequence, 30)


def test_labels_are_searched_and_counted(replica, correct):
    correct(replica, accepted=["is-hotter"])
    names = [name for name, _ in replica.labels("HOT", 10)]
    assert names == ["is-hot", "is-hotter"]
    assert replica.labels("is-hot", 2) == [("is-hot", 3), ("is-hotter", 1)]
    assert replica.labels("nothing", 5) == []


def test_figures_count_each_feedback_once(replica, correct):
    for _ in range(4):
        correct(replica)
    figures = replica.figures()
    assert figures["costs"]["P@1"]["count"] == 4
    assert 0 <= figures["costs"]["f1"]["recent"] <= 1
    assert figures["labels"] == {"brand-new": 4}
    assert figures["unknown_labels"] == []
    assert figures["trouble"] == ""


def test_who_subscribes_hears_of_what_is_learnt(replica, correct):
    news = replica.subscribe()
    appended = correct(replica)
    while (update := news.get(timeout=10)).applied < appended.sequence:
        pass
    assert update.costs["P@1"]["count"] == 1
    news.close()
    while news.get(timeout=0.1):
        pass
    correct(replica)
    assert news.get(timeout=0.1) is None


def test_the_queue_has_what_had_no_feedback_the_unsure_first(replica, wait_for):
    texts = ("rye a", "hot b", "red c", "rye a", "", " \n")  # a blank one tells nothing
    items = [{"text": text} for text in texts]
    found = replica.predict(items)
    wait_for(lambda: len(replica.queue(10)) == 3)
    queue = replica.queue(10)
    assert [each.priority for each in queue] == sorted(
        (each.priority for each in queue), reverse=True
    )
    said = FeedbackIn(accepted=["a"], prediction_id=found.ids[1])
    replica.feedback(said, None, "me").result(10)
    wait_for(lambda: len(replica.queue(10)) == 2)
    assert {each.item["text"] for each in replica.queue(10)} == {"rye a", "red c"}
    said = FeedbackIn(accepted=["a"], item={"text": "rye a"})
    replica.feedback(said, None, "me").result(10)
    wait_for(lambda: len(replica.queue(10)) == 1)
    assert replica.queue(10)[0].item["text"] == "red c"
    (given,) = replica.queue(1, items=[{"text": "hot a"}])
    assert given.prediction_id is None


def test_a_shadow_is_scored_beside_what_is_served(replica, folder, wait_for, correct):
    (active,) = replica.versions()
    other = folder / "other"
    ml.Tagger(ml.Popularity()).fit(["x"], [["y"]]).save(other)
    version = replica._parts.store.add("m", other)
    body = {"version": version, "contains": 0, "who": "me"}
    replica._submit("version", body).result(10)
    wait_for(lambda: len(replica.versions()) == 2)
    correct(replica)
    replica.shadow(version, "me").result(10)
    for _ in range(3):
        correct(replica)
    wait_for(lambda: (replica.versions()[0].served or {}).get("P@1", {}).get("count"))
    wait_for(lambda: replica.versions()[0].costs["P@1"]["count"] == 3)
    info = replica.versions()[0]
    assert info.served["P@1"]["count"] == 3
    assert not info.is_active
    assert replica.version == active.version
    replica.shadow(version, "me", is_on=False).result(10)
    wait_for(lambda: replica.versions()[0].costs is None)


def test_why_a_text_gets_its_labels(replica, correct):
    for _ in range(3):
        correct(replica)
    (reason,) = replica.explain(TEXT, ["brand-new"]).reasons
    assert {word for word, weight in reason.words if weight > 0} >= {"zebra"}
    assert len(replica.explain(TEXT, k=2).reasons) == 2


def test_a_card_says_which_version_is_served(replica):
    card = replica.card()
    assert card["version"] == replica.version
    assert card["labels"] == 6


def test_rows_of_features_by_name_and_column(tmp_path, serving, correct):
    data = ml.Dataset(
        [[1.0, 0.0], [0.0, 1.0]], [[1, 0], [0, 1]], ["a", "b"], ["red", "hot"]
    )
    (tmp_path / "models").mkdir()
    ml.Tagger(ml.OneVsRest()).fit(data).save(tmp_path / "models" / "m")
    with serving(tmp_path) as service:
        replica = service.replica("m")
        by_name, by_column = {"features": {"a": 1.0}}, {"features": {"0": 1}}
        labels = replica.predict([by_name, by_column]).labels
        assert labels[0] == labels[1]
        correct(replica, by_name, ["brand-new"])
        bad = {
            "c": "names of the model's features or columns below 2. Got 'c'",
            "7": "Got '7'",
        }
        for name, why in bad.items():
            with pytest.raises(errors.BadItem, match=why):
                replica.predict([{"features": {name: 1.0}}])
        for value in ("x", True, float("inf"), 1e300):
            with pytest.raises(errors.BadItem, match="features must be"):
                replica.predict([{"features": {"a": value}}])
        with pytest.raises(errors.BadItem, match="must be a text to be explained"):
            replica.explain(by_name)


SECOND = """
import json, sys
from pathlib import Path
from manylabel.server.following import Following
from manylabel.server.log import open_log
from manylabel.server.store import Store
log = open_log(f"sqlite:///{sys.argv[1]}/log.db")
following = Following("m", log, Store(Path(sys.argv[1]) / "models"))
following.start()
following.published.model.save(Path(sys.argv[1]) / "second")
"""


@pytest.mark.slow
def test_two_processes_reach_the_same_bits(folder, serving, correct):
    with serving(folder) as service:
        replica = service.replica("m")
        rng = np.random.default_rng(0)
        for n in range(30):
            text = {"text": " ".join(rng.choice(["rye", "hot", "a", "zebra"], 3))}
            correct(replica, text, [str(rng.choice(["is-hot", "is-rye", f"n{n % 3}"]))])
        replica._published().model.save(folder / "first")
        subprocess.run([sys.executable, "-c", SECOND, str(folder)], check=True)
    names = [p.name for p in (folder / "first").iterdir()]
    assert sorted(names) == sorted(p.name for p in (folder / "second").iterdir())
    for name in names:
        first, second = (
            (folder / each / name).read_bytes() for each in ("first", "second")
        )
        assert first == second
