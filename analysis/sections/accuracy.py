"""Accuracy: errors against the condition number, residual ratios by matrix, residual histories."""

import numpy as np

from ..frames import MOST_VARIANTS, history_plots, many, matrices, not_passed, slug
from ..page import number, whole
from ..plots import Plot, Series

JUDGED = """problem precision device method matrix_name matrix_full matrix_seed operands uplo nrhs threads config
size status residual_ratio tolerance backward_error forward_error pivot_growth matrix_condition"""
ROUNDOFF = {"float": 2.0**-24, "double": 2.0**-53}


def accuracy(page, night):
    page.begin("accuracy", "Accuracy")
    rows = night.take(JUDGED)
    rows = rows[rows["residual_ratio"].notna() | rows["forward_error"].notna()]
    if not len(rows):
        page.nothing("No answer was verified.")
        return
    known = rows[rows["matrix_condition"].notna() & rows["forward_error"].gt(0)]
    if known["matrix_condition"].nunique() > 1:
        page.once(
            "Forward error over the condition number with which the matrix was made. Only the kinds condition and"
            " identity have one. The dashed line is the error that the condition number alone explains: unit roundoff"
            " times condition."
        )
        page.plots(_clouds(known, "matrix_condition", "condition", "condition number"))
    both = rows[rows["forward_error"].gt(0) & rows["backward_error"].gt(0)]
    if len(both):
        page.once(
            "Forward error over backward error, for every verified answer with a known solution. The distance above the"
            " dashed line is the amplification by the matrix. For a sound method it is at most the condition number."
        )
        page.plots(_clouds(both, "backward_error", "amplification", "backward error"))
    _ratio_table(page, rows)


def _clouds(rows, x, name, words):
    """Yields a plot per problem and precision: the forward error over the column `x`, with one cloud per method and a
    reference line. `words`: the label of the x axis."""
    for (problem, precision), group in rows.groupby(["problem", "precision"]):
        series, label = [], group["method"].astype(str)
        if x != "matrix_condition" and 1 < group["matrix_name"].nunique() <= MOST_VARIANTS:
            label = label + ", " + group["matrix_name"]
        for name_of, part in group.groupby(label):
            points = part[x].to_numpy(), part["forward_error"].to_numpy()
            settings = part["config"]
            for column in ("nrhs", "uplo"):
                if many(group[column]):
                    settings = settings + part[column].map(f" {column}={{}}".format)
            series.append(Series(name_of, *points, hollow=not_passed(part), line=False, settings=settings.to_numpy()))
        span = np.array([group[x].min(), group[x].max()])
        floor = ROUNDOFF.get(precision, 0) * span if x == "matrix_condition" else span
        # The largest cloud is drawn first, so that it does not hide the smaller ones. The reference line comes before.
        series = sorted(series, key=lambda s: -len(s.x))
        line = Series(
            "roundoff × condition" if x == "matrix_condition" else "equal", span, floor, plain=True, marker=False
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
    finite = rows.assign(ratio=rows["residual_ratio"].astype(float))
    table = (
        finite.groupby(["problem", "precision", "method", "matrix_name"])
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


def convergence(page, night):
    page.begin("convergence", "Convergence histories")
    records = night.take(
        "problem precision device method matrix_name matrix_full matrix_seed operands uplo threads task convergence"
        " config size iterations residual_ratio"
    )
    rows = records[records["convergence"] != ""]
    if not len(rows) and not len(night.iterations):
        page.nothing("These records have no iterative method.")
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
    if not len(night.iterations):
        page.nothing("No residual histories are recorded.")
        return
    page.plots(history_plots(night, records))
