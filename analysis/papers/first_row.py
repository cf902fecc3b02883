"""Compares two accuracy checks: Fuhrmann's, which uses only the first row of A, and our residual ratio (the backward
error in units of n u), which uses all rows."""

import numpy as np
import pandas as pd

from ..captions import matrices
from ..frames import slug, verdict_rank
from ..loader import parameter
from ..page import counted, number, whole
from ..plots import Plot, Series
from .common import table_of


def first_row(page, records, name="first-row"):
    """Adds sentences, a table and plots on both checks. Returns False if no record has both values. An answer with NaN
    or Inf has an infinite residual ratio and no deviation."""
    rows = records[(records["problem"] == "gesv") & records["residual_ratio"].notna()]
    if not rows["first_row_percent"].notna().any():
        return False
    is_infinite = rows["first_row_percent"].isna() & np.isinf(rows["residual_ratio"])
    rows = rows[is_infinite | rows["first_row_percent"].notna()]
    is_infinite = is_infinite[rows.index]
    page.heading("Fuhrmann's first-row check and the residual ratio")
    margin = table_of("claims.csv").set_index("id").loc["first-row-margin", "high"]
    is_accepted = rows["first_row_percent"] <= margin
    is_correct = rows["status"] == "pass"
    is_wrongly_accepted, is_wrongly_rejected = is_accepted & ~is_correct, ~is_accepted & is_correct
    page.add(
        "His check multiplies the first row of A with x, compares with the first right-hand side and accepts a"
        f" deviation up to {margin:g} %. Of {len(rows)} answers here it accepts {int(is_accepted.sum())},"
        f" {int(is_wrongly_accepted.sum())} of them wrong by the backward error of the whole system. It rejects"
        f" {counted(is_wrongly_rejected.sum(), 'correct answer')}{_rejected_in(rows[is_wrongly_rejected])}"
        f" and {counted(is_infinite.sum(), 'answer')} with NaN or Inf. Without added rows, after"
        " elimination and back substitution only rounding errors can make it fail: the first row is never changed, and"
        " the first unknown is computed"
        " from it. So the row holds for any values of the other unknowns. The residual ratio uses every row."
    )
    blocks = pd.to_numeric(parameter(rows, "blocks"), errors="coerce")
    preparation = parameter(rows, "preparation").fillna("none")
    rows = rows.assign(blocks=blocks.fillna(0).astype(int), preparation=preparation, is_accepted=is_accepted)
    table = (
        rows.groupby(["precision", "method", "matrix_kind", "preparation", "blocks"])
        .agg(
            trials=("key", "size"),
            smallest=("size", "min"),
            largest=("size", "max"),
            accepted=("is_accepted", "sum"),
            row=("first_row_percent", "max"),
            passed=("status", lambda s: int((s == "pass").sum())),
            least=("residual_ratio", "min"),
            worst=("residual_ratio", "max"),
        )
        .reset_index()
    )
    table = table.sort_values(["worst", "method", "blocks"], ascending=[False, True, True], kind="stable")
    page.table(
        name,
        table,
        [
            "method precision matrix_kind preparation",
            ("blocks", "blocks", whole),
            "trials smallest largest",
            ("row", "first row ≤ [%]", number),
            ("accepted", "accepted by it", whole),
            ("passed", "correct", whole),
            ("least", "ratio from", number),
            ("worst", "to", number),
        ],
        limit=60,
        caption="His check and the residual ratio (blocks 0: the method has no such parameter).",
    )
    series = []
    drawn = rows[~is_infinite & np.isfinite(rows["residual_ratio"])]
    for label, mask in (("passed", drawn["status"] == "pass"), ("did not pass", drawn["status"] != "pass")):
        part = drawn[mask]
        series.append(
            Series(
                label,
                part["residual_ratio"].to_numpy(float),
                np.maximum(part["first_row_percent"].to_numpy(float), 1e-17),
            )
        )
    figures = list(_ratio_over_blocks(rows, name))
    if len(drawn):
        left_out = f" Not drawn: {counted(len(rows) - len(drawn), 'answer')} with NaN or Inf."
        cloud = Plot(
            slug(name, "cloud"),
            "The first-row check against the residual ratio",
            "residual ratio",
            "first-row deviation [%]",
            series,
            kind="dots",
            xlog=True,
            ylog=True,
            lines_at=[(margin, "his margin")],
            note="Deviations of exactly 0 are drawn at 1e-17." + left_out * (len(drawn) < len(rows)),
            basis=f"Methods: {', '.join(sorted(drawn['method'].unique()))}."
            f" {matrices(drawn, with_sizes=True)} Each point: one answer.",
        )
        figures.insert(0, cloud)
    page.plots(figures)
    return True


def _rejected_in(rows):
    """Returns words with the reason why correct answers are rejected, if all of them are in float."""
    kinds = sorted(set(rows["precision"]))
    return f" (all in {kinds[0]}, whose rounding alone exceeds the margin)" if kinds == ["float"] else ""


def _ratio_over_blocks(rows, name):
    """Yields plots of the residual ratio over the number of blocks, at the largest size of each method and matrix
    kind, for systems without a preparation (rows that are added to others until no element of A is 0)."""
    some = rows[(rows["blocks"] > 0) & (rows["preparation"] == "none")]
    some = some[some.groupby(["method", "matrix_kind", "precision"])["blocks"].transform("nunique") > 1]
    if not len(some):
        return
    some = some[some["size"] == some.groupby(["method", "matrix_kind", "precision"])["size"].transform("max")]
    some = some.sort_values("residual_ratio", kind="stable")
    worst = some.drop_duplicates(["precision", "method", "matrix_kind", "size", "blocks"], keep="last")
    worst = worst.sort_values("blocks", kind="stable")
    for precision, group in worst.groupby("precision"):
        infinite = group[~np.isfinite(group["residual_ratio"])]
        lines = sorted(set(infinite["method"] + " on " + infinite["matrix_kind"].astype(str)))
        series = [
            Series(
                f"{method}, {kind}, n = {size}",
                part["blocks"].to_numpy(),
                part["residual_ratio"].to_numpy(),
                hollow=verdict_rank(part),
            )
            for (method, kind, size), part in group.groupby(["method", "matrix_kind", "size"])
        ]
        yield Plot(
            slug(name, "blocks", precision),
            f"Residual ratio over blocks, {precision}",
            "blocks",
            "residual ratio",
            series,
            ylog=True,
            note=f"Ratios that are infinite are not drawn: {', '.join(lines)}." if lines else "",
            basis=f"{matrices(group)} Each point: the largest of the answers' ratios. No preparation.",
        )
