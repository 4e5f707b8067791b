"""Numbers of things in sentences."""


def counted(number: float, noun: str) -> str:
    """Return how many there are, to a whole number, in words that agree with it.

    Examples
    --------
    >>> counted(1, "row"), counted(0, "label"), counted(2_500, "row")
    ('1 row', '0 labels', '2,500 rows')
    """
    shown = f"{number:,.0f}"
    return f"{shown} {noun}" if shown == "1" else f"{shown} {noun}s"
