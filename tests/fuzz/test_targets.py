"""Inputs that once ended in something other than an answer or a clear error."""

from pathlib import Path

import pytest

from fuzz import models, readers
from fuzz.choices import Choices

FOUND = {
    line.split("#")[1].strip(): bytes.fromhex(line.split("#")[0])
    for line in Path(__file__).with_name("models.txt").read_text().splitlines()
}


@pytest.mark.parametrize("fault", FOUND)
def test_an_edited_model_is_refused_or_works(fault):
    models.load_edited(FOUND[fault])


@pytest.mark.parametrize("number", range(len(readers.seeds())))
def test_a_sound_file_is_read(number):
    readers.read_file(readers.seeds()[number])


@pytest.mark.slow
def test_a_sound_manifest_is_loaded():
    for seed in models.manifest_seeds():
        models.load_manifest(seed)


def test_choices_are_the_first_when_bytes_run_out():
    choices = Choices(b"")
    assert [choices.below(9), choices.of("ab"), choices.rest()] == [0, "a", b""]
