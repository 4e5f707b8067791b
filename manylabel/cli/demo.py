"""``manylabel demo``: texts get tags, one is corrected, hidden labels are seen."""

import time
from itertools import islice
from typing import TYPE_CHECKING, Any

from manylabel.cli import hidden_labels, options
from manylabel.cli.console import print_json, print_table, say, status

if TYPE_CHECKING:
    from manylabel.data import Dataset
    from manylabel.text import Corrected

N_HELD, N_SHOWN = 40, 5  # texts that the tagger has not seen, and how many are shown
K = 2  # tags that are shown of each
MAX_LETTERS = 50  # of a text


def demo(seed: options.Seed = 0, json: options.Json = False) -> None:
    """Tag texts, correct a tag and see it learnt, and judge what was never recorded.

    The texts are what Python packages say of themselves, and come with the library. In
    the second corpus, which is made up, all labels are known, also those that were
    hidden: so one can see which figures on recorded labels are worth believing.

    Example: manylabel demo --seed 1
    """
    start, quiet = time.perf_counter(), json
    with hidden_labels.judging(seed) as wait:
        with status("Fitting a tagger to descriptions of packages", quiet=quiet):
            model, held = _fit(seed)
        figures: dict[str, Any] = {"texts": _show_tags(model, held, quiet)}
        figures["correction"] = _correct(model, held, quiet)
        with status("Hiding labels of a corpus, training and judging", quiet=quiet):
            hidden, table = wait()
    if json:
        preferred = hidden_labels.choices(table)
        print_json(
            {**figures, "hidden": hidden, "figures": table, "prefers": preferred}
        )
        return
    say("\n3  Labels that nobody wrote down")
    hidden_labels.show(table, hidden)
    say(f"\nThat took {time.perf_counter() - start:.1f} s. Next: manylabel --help")


def _fit(seed: int) -> "tuple[Corrected, Dataset]":
    """Return a tagger of packages that takes corrections, and rows it has not seen."""
    import numpy as np

    from manylabel.data import load_packages
    from manylabel.text import Corrected, Tagger, TextVectorizer

    packages = load_packages()
    order = np.random.default_rng(seed).permutation(len(packages))
    letters = TextVectorizer(analyzer="char")  # few texts share whole words
    tagger = Tagger(quality="fast", vectorizer=letters)
    tagger.fit(packages[np.sort(order[N_HELD:])])
    return Corrected(tagger), packages[order[:N_HELD]]


def _show_tags(model: "Corrected", held: "Dataset", quiet: bool) -> dict[str, Any]:
    """Show what the tagger suggests for texts that it has not seen."""
    suggested = _best(model, list(held.texts or ()))
    recorded = held.labels.decode(held.Y)
    right = sum(best[0] in tags for best, tags in zip(suggested, recorded, strict=True))
    if not quiet:
        n_rows = model.tagger.n_rows_
        say(f"1  Texts and tags: learnt from {n_rows} Python packages, others tagged")
        shown = held.texts or ()
        rows = zip(map(_cut, shown), suggested, recorded, strict=True)
        print_table(
            ["text", "suggested", "recorded"],
            ([t, _listed(b), _listed(r)] for t, b, r in islice(rows, N_SHOWN)),
            title="",
        )
        say(f"The first suggestion was recorded for {right} of {len(held)} such texts.")
    return {"learnt": model.tagger.n_rows_, "judged": len(held), "right": right}


def _correct(model: "Corrected", held: "Dataset", quiet: bool) -> dict[str, Any]:
    """Correct the first text whose best tag is wrong; show it before and after."""
    texts, recorded = list(held.texts or ()), held.labels.decode(held.Y)
    best = _best(model, texts)
    wrongly = (i for i, tags in enumerate(recorded) if best[i][0] not in tags)
    row = next((i for i in wrongly if len(recorded[i]) <= K), 0)
    like = f"{texts[row]} A fork with fewer bugs and more features."
    before = _best(model, [texts[row], like])
    wrong = [tag for tag in before[0] if tag not in recorded[row]]
    model.correct([texts[row]], accepted=[recorded[row]], rejected=[wrong])
    after = _best(model, [texts[row], like])
    if not quiet:
        say(f'\n2  A correction: "{_cut(texts[row])}"')
        say(f"is not {_listed(wrong)} but {_listed(recorded[row])}. Once that is said:")
        print_table(
            ["tags of", "before", "after"],
            [
                [name, _listed(before[i]), _listed(after[i])]
                for i, name in enumerate(("that text", "a longer one like it"))
            ],
            title="",
        )
    return {"text": texts[row], "wrong": wrong, "before": before, "after": after}


def _best(model: "Corrected", texts: list[str]) -> list[list[str]]:
    return [[name for name, _ in tags] for tags in model.tag_many(texts, k=K)]


def _listed(tags: list[str]) -> str:
    return ", ".join(tags[:K]) + ", ..." * (len(tags) > K)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LETTERS else f"{text[:MAX_LETTERS].rstrip()} ..."
