"""Each tree from some rows: an approximation that is asked for."""

import numpy as np
import pytest

import manylabel as ml
from manylabel.distributed import fit, fit_part, plan, read_manifest, write_shards
from manylabel.exceptions import DataError


@pytest.fixture
def folder(data, tmp_path):
    write_shards([data[n : n + 100] for n in (0, 100, 200)], tmp_path / "rows")
    return tmp_path / "rows"


def test_a_tree_is_grown_from_its_shards(folder, data, tmp_path):
    learner = ml.FastXML(n_estimators=6)
    model = fit(learner, folder, out=tmp_path / "out", n_parts=3, rows="shards")
    assert model.forest_.n_trees == 6
    roots = model.forest_.node_rows[model.forest_.roots[:-1]]
    assert roots.tolist() == [100] * 6
    assert model.predict_topk(data.X, 3).nnz == 3 * len(data)


def test_the_first_trees_are_those_of_the_first_rows(folder, data, tmp_path):
    learner = ml.FastXML(n_estimators=6)
    model = fit(learner, folder, out=tmp_path / "out", n_parts=3, rows="shards")
    first = data[:100]
    alone = ml.FastXML(n_estimators=2).fit(first.X, first.Y)
    for one, other in zip(model.trimmed(2).forest_, alone.forest_, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_missing_shard_is_told(folder, tmp_path):
    parts = plan(ml.FastXML(), folder, 3, tmp_path / "out", rows="shards")
    (folder / "00001.txt").unlink()
    fit_part(tmp_path / "out", parts[0])
    with pytest.raises(DataError, match=r"00001\.txt: this shard is missing"):
        fit_part(tmp_path / "out", parts[1])


def test_a_damaged_shard_is_told(folder, tmp_path):
    parts = plan(ml.FastXML(), folder, 3, tmp_path / "out", rows="shards")
    with (folder / "00001.txt").open("a") as file:
        file.write("0 1:2\n")
    with pytest.raises(DataError, match=r"00001\.txt: the checksum is wrong"):
        fit_part(tmp_path / "out", parts[1])


@pytest.mark.parametrize(
    "learner", [ml.PfastreXML(), ml.FastXML(cost="f1"), ml.OneVsRest()]
)
def test_learners_that_need_all_rows_are_refused(learner, folder, tmp_path):
    with pytest.raises(ValueError, match="must be asked of a FastXML"):
        plan(learner, folder, 3, tmp_path / "out", rows="shards")


def test_shards_are_not_written_over(folder, data):
    with pytest.raises(DataError, match="this folder holds shards already"):
        write_shards([data], folder)


def test_another_folder_holds_no_shards(tmp_path):
    with pytest.raises(DataError, match=r"expected a sharded folder, found no shards"):
        read_manifest(tmp_path)
