"""Models are retrained by jobs, which say how far they are and why they fail."""

import json
import os

import pytest

import manylabel as ml
from manylabel.server import errors
from manylabel.server.example import NAME, prepare


@pytest.mark.slow
def test_a_model_is_retrained_from_data_and_log(
    tmp_path, batch_tagger, serving, wait_for, correct, best
):
    rows = [{"text": f"{w} {o}", "labels": [w]} for w in ("rye", "hot") for o in "abc"]
    data = tmp_path / "data.jsonl"  # whose columns only the model knows
    lines = ({"wort": row["text"], "thema": row["labels"]} for row in rows)
    data.write_text("\n".join(map(json.dumps, lines)))
    columns = {"text_columns": ["wort"], "labels_column": "thema"}
    (tmp_path / "models").mkdir()
    tagger = ml.Tagger(ml.OneVsRest()).fit(
        [row["text"] for row in rows], [row["labels"] for row in rows]
    )
    tagger.annotate(source=str(data), columns=columns)
    tagger.save(tmp_path / "models" / "m")
    with serving(tmp_path) as service:
        replica = service.replica("m")
        for _ in range(2):
            correct(replica)
        gone = correct(replica, {"text": "never"}, ["wrong"])
        replica.retract(gone.sequence, "me").result(10)
        started = replica.retrain(learner="one-vs-rest", quality="fast", who="me")
        with pytest.raises(errors.Busy, match="is being retrained already"):
            replica.retrain(who="me")
        wait_for(lambda: replica.job(started.id).state != "running")
        job = replica.job(started.id)
        assert (job.state, job.share) == ("done", 1.0), job.message
        wait_for(lambda: len(replica.versions()) == 2)
        info = replica.versions()[0]
        assert (info.version, info.is_active) == (job.version, False)
        assert info.contains == gone.sequence + 1
        assert "retrained on 7 rows, 2 feedbacks" in info.about
        replica.activate(info.version, "me").result(10)
        wait_for(lambda: replica.version == job.version)
        assert best(replica) == ["brand-new"]
        assert "wrong" not in best(replica, k=9)


@pytest.mark.slow
def test_a_job_that_fails_says_why(folder, serving, wait_for):
    with serving(folder) as service:
        replica = service.replica("m")
        with pytest.raises(ValueError, match="quality must be"):
            replica.retrain(quality="superb", who="me")
        with pytest.raises(ValueError, match="learner must be"):
            replica.retrain(learner="nobody", who="me")
        job = replica.retrain(who="me")
        wait_for(lambda: replica.job(job.id).state != "running")
        assert replica.job(job.id).state == "failed"
        assert "data must name the file to learn from" in replica.job(job.id).message
        job = replica.retrain(who="me", data=folder / "nothing.csv")
        os.kill(replica.job(job.id).process, 9)
        wait_for(lambda: replica.job(job.id).state == "failed")


@pytest.mark.slow
def test_the_example_is_retrained(tmp_path, serving, wait_for):
    prepare(tmp_path / "models", print)
    with serving(tmp_path) as service:
        replica = service.replica(NAME)
        job = replica.retrain(quality="fast", who="me")
        wait_for(lambda: replica.job(job.id).state != "running")
        assert replica.job(job.id).state == "done", replica.job(job.id).message
