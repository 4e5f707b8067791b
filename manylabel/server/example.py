"""A small model of made-up texts, so that there is something to serve at once."""

import random
from collections.abc import Callable
from pathlib import Path

from manylabel.data import Dataset, LabelSpace, write
from manylabel.server.store import SERVE
from manylabel.text import Tagger

NAME = "shop"
TEXTS = "texts.jsonl"  # to retrain from
N_TEXTS, MOST_TAGS = 1500, 3
SEED = 0
# What each tag is spoken of with: tags share words, as in real life.
WORDS = {
    "bakery": "bread rye loaf crust flour oven baked bun",
    "cheese": "cheese goat cheddar rind creamy milk aged",
    "coffee": "coffee roast beans espresso aroma ground brew",
    "cold": "chilled frozen fridge ice fresh keep",
    "drink": "drink bottle glass sip pour",
    "fish": "fish salmon smoked tuna sea fillet",
    "fruit": "apple pear berry ripe juicy orchard lemon",
    "gluten-free": "gluten free rice maize certified",
    "organic": "organic farm unsprayed certified natural",
    "snack": "snack crisp salted nuts bag bite",
    "spice": "pepper cumin chilli ground hot pinch",
    "sweet": "sugar honey chocolate sweet cake caramel",
    "tea": "tea leaves green black herbal brew cup",
    "vegan": "vegan plant oat soy lentil tofu",
    "vegetable": "carrot cabbage leek green crunchy root",
    "wine": "wine red white grape dry vineyard bottle",
}
FILLERS = "a the with and of from our for very new small large best in".split()


def prepare(models: Path, tell: Callable[[str], None]) -> None:
    """Fit the example into a folder of models that has none.

    Parameters
    ----------
    models : Path
        The folder; made if missing.
    tell : callable
        Is told what goes on.
    """
    models.mkdir(parents=True, exist_ok=True)
    if any(path.name != SERVE for path in models.iterdir()):
        return
    tell(f"Fitting a model of made-up texts, {models / NAME}.")
    texts, tags = make_texts()
    space = LabelSpace(sorted(WORDS))
    data = Dataset(
        None, space.encode(tags), label_names=space.names, texts=tuple(texts)
    )
    source = models.resolve() / SERVE / NAME / TEXTS
    source.parent.mkdir(parents=True, exist_ok=True)
    write(data, source)
    tagger = Tagger(quality="fast").fit(data)
    tagger.annotate(source=str(source)).save(models / NAME)


def make_texts() -> tuple[list[str], list[list[str]]]:
    """Return descriptions of goods and their tags, the same at each call.

    Examples
    --------
    >>> texts, tags = make_texts()
    >>> len(texts), tags[0]
    (1500, ['bakery', 'vegan'])
    """
    draw = random.Random(SEED)
    texts, tags = [], []
    for _ in range(N_TEXTS):
        own = sorted(draw.sample(sorted(WORDS), draw.randint(1, MOST_TAGS)))
        words = [
            word for tag in own for word in draw.sample(WORDS[tag].split(), 3)
        ] + draw.sample(FILLERS, 4)
        draw.shuffle(words)
        texts.append(" ".join(words))
        tags.append(own)
    return texts, tags
