"""Data sets: reading, writing, streaming and generating them."""

from manylabel.data.corpus import Corpus, make_corpus
from manylabel.data.dataset import Dataset, LabelSpace
from manylabel.data.formats import iter_chunks, read
from manylabel.data.reader import ReadOptions
from manylabel.data.samples import load_packages
from manylabel.data.vocabulary import Vocabulary
from manylabel.data.writing import write

__all__ = [
    "Corpus",
    "Dataset",
    "LabelSpace",
    "ReadOptions",
    "Vocabulary",
    "iter_chunks",
    "load_packages",
    "make_corpus",
    "read",
    "write",
]
