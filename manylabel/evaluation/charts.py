"""Charts as markup: SVG in a page, told in words to whoever cannot see them."""

from collections.abc import Iterator, Sequence
from math import isnan, sqrt

from manylabel.evaluation.label_figures import Band
from manylabel.metrics.calibration import Bin

STYLE = """svg { display: block; width: 100%; max-width: 27rem; height: auto;
 font: 12px system-ui, sans-serif }
svg text { fill: var(--ink) }
svg .axis { stroke: var(--line); fill: none }
svg .even { stroke: var(--grey); stroke-dasharray: 4 3 }
svg .gap { stroke: var(--minus); stroke-width: 2 }
svg .dot { fill: var(--plus) }
svg .first { fill: var(--plus) }
svg .second { fill: var(--minus) }
"""
SIDE, LEFT, TOP = 280, 62, 10  # of the square of a reliability diagram
SMALLEST, LARGEST = 3.0, 9.0  # dots
LENGTH, NAMED, STEP = 150, 116, 50  # bars: their length, room for names, a band


def draw_reliability(bins: Sequence[Bin], what: str) -> Iterator[str]:
    """Yield a reliability diagram: the share that is ``what`` over the probability.

    Examples
    --------
    >>> bins = [Bin(0.5, 0.6, 0.55, 0.5, 9)]
    >>> "".join(draw_reliability(bins, "true")).count("<circle")
    1
    """
    seen = [each for each in bins if each.n_pairs]
    words = "; ".join(
        f"said {_percent(each.proba)}, {what} {_percent(each.share)}" for each in seen
    )
    title = f"Reliability diagram of {what} labels"
    yield from _open(LEFT + SIDE + 24, TOP + SIDE + 46, title, words)
    yield f'<rect class="axis" x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}"/>'
    yield f'<path class="even" d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}"/>'
    for share in (0.0, 0.5, 1.0):
        yield _write(_x(share), _y(0) + 18, "middle", _percent(share))
        yield _write(LEFT - 6, _y(share) + 4, "end", _percent(share))
    yield _write(_x(0.5), _y(0) + 38, "middle", "probability")
    turned = f'transform="rotate(-90 11 {_y(0.5)})" text-anchor="middle"'
    yield f'<text x="11" y="{_y(0.5)}" {turned}>share {what}</text>'
    most = max((each.n_pairs for each in seen), default=1)
    for each in seen:
        x, y, even = _x(each.proba), _y(min(each.share, 1.0)), _y(each.proba)
        size = max(SMALLEST, LARGEST * sqrt(each.n_pairs / most))
        yield f'<path class="gap" d="M{x:.1f} {even:.1f}L{x:.1f} {y:.1f}"/>'
        yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>'
    yield "</svg>\n"


def draw_bands(bands: Sequence[Band]) -> Iterator[str]:
    """Yield bars of precision and recall for labels of like frequency.

    Examples
    --------
    >>> "".join(draw_bands([Band("1 row", 3, 4, 2, 1, 2)])).count("<rect")
    2
    """
    words = "; ".join(
        f"{band.name}: precision {_percent(band.precision)}, "
        f"recall {_percent(band.recall)}"
        for band in bands
    )
    height = STEP * len(bands) + 6
    yield from _open(
        NAMED + LENGTH + 94, height, "Precision and recall by frequency", words
    )
    for at, band in enumerate(bands):
        top = STEP * at + 6
        yield f'<text x="0" y="{top + 18}">{band.name}</text>'
        yield f'<text x="0" y="{top + 34}">{band.n_labels:,} labels</text>'
        yield from _bar("first", "precision", band.precision, top + 2)
        yield from _bar("second", "recall", band.recall, top + 22)
    yield "</svg>\n"


def _bar(kind: str, name: str, value: float, top: int) -> Iterator[str]:
    length = 0.0 if isnan(value) else LENGTH * value
    place = f'x="{NAMED}" y="{top}" width="{max(length, 1):.1f}" height="16"'
    yield f'<rect class="{kind}" {place}/>'
    words = f"{name} {_percent(value)}"
    yield f'<text x="{NAMED + length + 6:.1f}" y="{top + 12}">{words}</text>'


def _open(width: int, height: int, title: str, words: str) -> Iterator[str]:
    name = title.replace(" ", "-").lower()
    yield (
        f'<svg viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="{name}-title {name}-words">'
        f'<title id="{name}-title">{title}</title>'
        f'<desc id="{name}-words">{words}.</desc>\n'
    )


def _write(x: float, y: float, anchor: str, words: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{words}</text>'


def _x(share: float) -> float:
    return LEFT + SIDE * share


def _y(share: float) -> float:
    return TOP + SIDE * (1 - share)


def _percent(share: float) -> str:
    return "none" if isnan(share) else f"{100 * share:.0f} %"
