"""Shows the accuracy: errors over the condition number, residual ratios by matrix, values of convergence tests."""

import numpy as np

from ..captions import matrices
from ..frames import MOST_VARIANTS, brief, history_plots, has_several, slug, verdict_rank
from ..page import number, whole
from ..plots import Plot, Series

COLUMNS = """problem precision device method matrix_name matrix_full matrix_seed operands uplo nrhs threads config
size status residual_ratio tolerance backward_error forward_error pivot_growth matrix_condition"""
ROUNDOFF = {"float": 2.0**-24, "double": 2.0**-53}  # unit roundoff


def accuracy(page, results):
    page.begin("accuracy", "Accuracy")
    rows = results.take(COLUMNS)
    rows = rows[rows["residual_ratio"].notna() | rows["forward_error"].notna()]
    if not len(rows):
        page.remark("No answer was verified.")
        return
    with_condition = rows[rows["matrix_condition"].notna() & rows["forward_error"].gt(0)]
    if with_condition["matrix_condition"].nunique() > 1:
        page.add_once(
            "Forward error over the condition number with which the matrix was made. Only the kinds condition and"
            " identity have one. The dashed line is the error that the condition number alone explains: unit roundoff"
            " times condition."
        )
        page.plots(_clouds(with_condition, "matrix_condition", "condition", "condition number"))
    with_errors = rows[rows["forward_error"].gt(0) & rows["backward_error"].gt(0)]
    if len(with_errors):
        page.add_once(
            "Forward error over backward error, for every verified answer with a known solution. The distance above the"
            " dashed line is the amplification by the matrix. For a sound method it is at most the condition number."
        )
        page.plots(_clouds(with_errors, "backward_error", "amplification", "backward error"))
    _ratio_table(page, rows)


def _clouds(rows, x, name, words):
    """Yields a plot per problem and precision: the forward error over the column `x`, with one cloud of points per
    method and a reference line. `words`: the label of the x axis."""
    for (problem, precision), group in rows.groupby(["problem", "precision"]):
        series, label = [], group["method"].astype(str)
        if has_several(group["nrhs"]):
            label = label + np.where(group["nrhs"] > 1, ", nrhs " + group["nrhs"].astype(str), "")
        if x != "matrix_condition" and 1 < group["matrix_name"].nunique() <= MOST_VARIANTS:
            label = label + ", " + group["matrix_name"].map(brief)
        for method_label, part in group.groupby(label):
            points = part[x].to_numpy(), part["forward_error"].to_numpy()
            settings = part["config"] + (part["uplo"].map(" uplo={}".format) if has_several(group["uplo"]) else "")
            series.append(
                Series(method_label, *points, hollow=verdict_rank(part), line=False, settings=settings.to_numpy())
            )
        x_range = np.array([group[x].min(), group[x].max()])
        reference = ROUNDOFF.get(precision, 0) * x_range if x == "matrix_condition" else x_range
        # The reference line is drawn first, then the clouds from largest to smallest, so that none hides a smaller one.
        series = sorted(series, key=lambda s: -len(s.x))
        line = Series(
            "roundoff × condition" if x == "matrix_condition" else "equal", x_range, reference, plain=True, marker=False
        )
        yield Plot(
            slug(name, problem, precision),
            f"Forward error: {problem}, {precision}",
            words,
            "forward error",
            [line, *series],
            kind="dots",
            xlog=True,
            ylog=True,
            basis=f"{matrices(group, with_sizes=True)} Each point: the error of one answer.",
        )


def _ratio_table(page, rows):
    """Adds the table of residual ratios and errors by method and matrix."""
    rated = rows.assign(ratio=rows["residual_ratio"].astype(float))
    table = (
        rated.groupby(["problem", "precision", "method", "matrix_name"])
        .agg(
            trials=("ratio", "size"),
            best=("ratio", "min"),
            median=("ratio", "median"),
            worst=("ratio", "max"),
            tolerance=("tolerance", "max"),
            passed=("status", lambda s: int((s == "pass").sum())),
            backward=("backward_error", "max"),
            forward=("forward_error", "max"),
            growth=("pivot_growth", "max"),
        )
        .reset_index()
    )
    table = table.sort_values("worst", ascending=False, kind="stable")
    page.table(
        "accuracy",
        table,
        [
            "problem precision method matrix_name trials",
            ("passed", "passed", whole),
            ("best", "least ratio", number),
            ("median", "median", number),
            ("worst", "largest", number),
            ("tolerance", "tolerance", number),
            ("backward", "backward error ≤", number),
            ("forward", "forward error ≤", number),
            ("growth", "pivot growth ≤", number),
        ],
        limit=60,
        caption="The residual ratio by method and matrix, worst first.",
    )


def convergence(page, results):
    page.begin("convergence", "Convergence histories")
    records = results.take(
        "problem precision device method matrix_name matrix_full matrix_seed operands uplo threads task convergence"
        " config size iterations residual_ratio"
    )
    rows = records[records["convergence"] != ""]
    if not len(rows) and not len(results.iterations):
        page.remark("These records have no iterative method.")
        return
    if len(rows):
        table = (
            rows.groupby(["problem", "precision", "method", "matrix_name", "convergence"])
            .agg(
                trials=("size", "size"),
                smallest=("size", "min"),
                largest=("size", "max"),
                low=("iterations", "min"),
                middle=("iterations", "median"),
                high=("iterations", "max"),
                ratio=("residual_ratio", "max"),
            )
            .reset_index()
        )
        page.table(
            "convergence",
            table,
            [
                "problem precision method matrix_name",
                ("convergence", "how it ended", None),
                "trials smallest",
                ("largest", "n to", whole),
                ("low", "iterations from", whole),
                ("middle", "median", number),
                ("high", "to", whole),
                ("ratio", "ratio ≤", number),
            ],
            limit=60,
            caption="How iterative methods ended, by matrix.",
        )
    if not len(results.iterations):
        page.remark("No residual histories are recorded.")
        return
    page.plots(history_plots(results, records))
