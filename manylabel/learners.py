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
