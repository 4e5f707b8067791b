"""Figures that Chu, Huang & Lin published, as the tables of ``reproduce`` have them.

Losses are Hamming, F1 and accuracy; normalised rank loss is left out, as its values are
out of reach of the cost as printed.
"""

from benchmarks.reproduce.table import Table, read_table

SHARES = {0.10: "table-12", 0.25: "table-13", 0.50: "table-14"}
COSTS = ("hamming", "f1", "accuracy")


def _losses(table: Table, data: str, row: str) -> tuple[float, ...]:
    values = table.published[data][row]
    return tuple(values[table.metrics.index(cost)] for cost in COSTS)


# By set and share of the labels: CS-DPP with PBT.
PBT = {
    (data, share): _losses(table, data, "CS-DPP-PBT")
    for share, name in SHARES.items()
    for table in [read_table("cs-dpp", name)]
    for data in table.published
}
# By set and share of the labels: means over 50 orders of the labels.
_ORDERS = read_table("cs-dpp", "table-18")
ORDERS = {
    (data, share): _losses(_ORDERS, data, f"M = {share:.0%}".replace("%", " %"))
    for data in _ORDERS.published
    for share in SHARES
}
