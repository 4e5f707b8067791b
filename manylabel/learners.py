"""Learners by the names that the command line and the service give them."""

ONLINE = {
    "csdpp": "CSDPP",
    "online-br": "OnlineBinaryRelevance",
    "online-rand": "OnlineRandomProjection",
    "online-cs": "OnlineCompressedSensing",
    "online-label-tree": "OnlineLabelTree",
}
LEARNERS = {
    "one-vs-rest": "OneVsRest",
    "popularity": "Popularity",
    "label-powerset": "LabelPowerset",
    "plst": "PLST",
    "cplst": "CPLST",
    "compressed-sensing": "CompressedSensing",
    "mlcssp": "MLCSSP",
    "leml": "LEML",
    "wsabie": "WSABIE",
    "sleec": "SLEEC",
    "lpsr": "LPSR",
    "homer": "HOMER",
    "pd-sparse": "PDSparse",
    "classifier-chain": "ClassifierChain",
    "label-tree": "LabelTree",
    "fastxml": "FastXML",
    "pfastxml": "PfastXML",
    "pfastrexml": "PfastreXML",
    "powerset-tree": "PowersetTree",
    "annotation-tree": "AnnotationTree",
    "blend": "Blend",
    **ONLINE,
}


def show_given(given: object) -> str:
    """Return what was given in place of a learner, and the learner that it names.

    Examples
    --------
    >>> show_given("one-vs-rest"), show_given(3)
    ("'one-vs-rest', which is called OneVsRest()", '3')
    """
    if isinstance(given, type):
        return f"the class {given.__name__}: add ()"
    if isinstance(given, str) and {given} & {*LEARNERS, *LEARNERS.values()}:
        return f"{given!r}, which is called {LEARNERS.get(given, given)}()"
    return f"{given!r:.60}"
