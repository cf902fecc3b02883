"""Draws a published table of times or rates over n together with our measured ones."""

import numpy as np
import pandas as pd

from ..captions import basis
from ..frames import answered, best, on_main_matrix, slug, verdict_rank
from ..page import factor, number, seconds
from ..plots import Plot, Series
from .common import device_title, described, panel_devices, panel_rows, pick, source_of, table_of

MEASURED_COLUMNS = """problem method backend device samples inner_repeats rounds matrix_full low high measured status
config matrix_kind matrix_seed operands uplo threads""".split()


def with_measured(drawing, rows, device):
    """Returns a published table joined with our times on one device: one row per published column, precision and n;
    None if nothing was measured. `drawing["columns"]`: the published columns, each with the records (`where`) that
    repeat it; a column without `where` has only published numbers. Columns of the result:
    `measured`: our median, or mean if the table has means;
    `low`, `high`: the quartiles; for means the smallest and largest sample, because a mean may lie outside the
    quartiles;
    `faster`: published over measured time; NaN for emulated kernels, whose times do not apply to a GPU."""
    published_table, rows = table_of(drawing["csv"]), on_main_matrix(answered(rows))
    statistic, low, high = ("mean", "min", "max") if drawing.get("statistic") == "mean" else ("median", "q1", "q3")
    names = {"measured": statistic, "low": low, "high": high}
    rows = rows.assign(**{name: rows[f"seconds_{of}"] for name, of in names.items()})
    pieces = []
    for column in drawing["columns"]:
        published_column = pd.DataFrame(
            {
                "n": published_table["n"],
                "published": published_table[column["column"]] * column.get("scale", 1),
                "column": column["column"],
            }
        )
        if "where" not in column:
            pieces.append(published_column.assign(what=column["label"]))
            continue
        for precision, part in pick(panel_rows(rows, device), column["where"]).groupby("precision"):
            part = best(part, ["size"])[["size", *MEASURED_COLUMNS]].rename(columns={"size": "n"})
            both = published_column.merge(part, on="n", how="outer")
            named = column["label"] if "precision" in column["where"] else f"{column['label']}, {precision}"
            pieces.append(both.assign(what=named, precision=precision).sort_values("n"))
    if not any("measured" in piece for piece in pieces):
        return None
    table = pd.concat(pieces, ignore_index=True)
    table["status"] = table["status"].fillna("not measured")
    table[["config", "matrix_kind"]] = table[["config", "matrix_kind"]].fillna("")
    return table.assign(faster=(table["published"] / table["measured"]).where(table["backend"] != "emulated"))


def published(page, results, experiment, drawing, rows):
    """Adds a table and a plot per device: the published times or rates, and ours. Parameters: see
    papers/__init__.py."""
    is_shown, is_rate = False, drawing.get("rate")
    has_one_column = len({column["column"] for column in drawing["columns"]}) == 1
    for device in panel_devices(answered(rows)):
        table = with_measured(drawing, rows, device)
        if table is None:
            continue
        page.add(_coverage(table, device, drawing))
        formatter, unit, value_of = (
            (number, " [GFLOP/s]", lambda n, t: 2 * n**3 / t / 1e9) if is_rate else (seconds, "", lambda n, t: t)
        )
        for name in ("published", "measured"):
            table[f"{name}_shown"] = value_of(table["n"].astype(float), table[name])
        measured, statistic = table[table["measured"].notna()], drawing.get("statistic", "median")
        page.table(
            slug(experiment["id"], device),
            measured if has_one_column else table,
            [
                "what n",
                ("published_shown", "published" + unit, formatter),
                ("measured_shown", "measured" + unit, formatter),
                ("faster", "published time / measured", factor),
                "status matrix_kind config",
            ],
            limit=len(table),
            caption=(
                f"{experiment['title']}: published, and measured on {device_title(device)} ({statistic} of the"
                " samples)."
            ),
        )
        series = []
        for i, (what, part) in enumerate(table.groupby("what", sort=False)):
            old, new = part[part["published"].notna()], part[part["measured"].notna()]
            if not has_one_column or i == 0:
                series.append(
                    Series(
                        "published" if has_one_column else f"{what}, published",
                        old["n"].to_numpy(),
                        old["published_shown"].to_numpy(),
                        dashed=True,
                        of="published" if has_one_column else what,
                    )
                )
            if not len(new):
                continue
            low, high = (value_of(new["n"].astype(float), new[end]) for end in ("low", "high"))
            series.append(
                Series(
                    f"{what}, measured",
                    new["n"].to_numpy(),
                    new["measured_shown"].to_numpy(),
                    np.minimum(low, high),
                    np.maximum(low, high),
                    verdict_rank(new),
                    of=what,
                    settings=new[["problem", "method", "precision", "config"]]
                    .agg("{0[0]}/{0[1]} {0[2]} {0[3]}".format, axis=1)
                    .to_numpy(),
                    ends=("least to largest sample",) if statistic == "mean" else Series.ends,
                )
            )
        page.plots(
            [
                Plot(
                    slug(experiment["id"], device, "plot"),
                    f"{experiment['title']}, {device_title(device)}",
                    "n",
                    "rate [GFLOP/s]" if is_rate else "time",
                    series,
                    ylog=True,
                    xlog=True,
                    seconds=not is_rate,
                    basis=f"{described(drawing['csv'])} {basis(measured, statistic)}",
                )
            ]
        )
        is_shown = True
    return is_shown


def _coverage(table, device, drawing):
    """Returns sentences about the coverage of a published table. They count the numbers that were measured again, our
    shorter times and our wrong answers. They name the published sizes that were not measured."""
    published_table = table_of(drawing["csv"])
    columns = sorted({column["column"] for column in drawing["columns"] if "where" in column})
    cells = int(published_table[columns].notna().to_numpy().sum())
    measured_again = table[table["faster"].notna()]
    source = f"Source: {source_of(drawing['csv'])}."
    sizes = table.loc[table["measured"].notna(), "n"]
    if not set(sizes) & set(published_table["n"]):
        ns = ", ".join(str(n) for n in sorted(set(sizes)))
        none = f"none of the {len(published_table)} published sizes was measured (this run has n = {ns})"
        return f"{device_title(device)}: {none}. {source}"
    covered = measured_again.drop_duplicates(["column", "n"])
    wrong = measured_again[measured_again["status"] != "pass"]
    absent = sorted(set(published_table["n"]) - set(measured_again["n"]))
    statuses = (
        f" ({len(wrong)} of them with the status {' or '.join(sorted(set(wrong['status'])))})" if len(wrong) else ""
    )
    missing = f" Not measured: n = {', '.join(str(n) for n in absent)}." if absent else ""
    return (
        f"{device_title(device)}: {len(covered)} of {cells} published numbers have {len(measured_again)} measured"
        f" ones{statuses}; {int((measured_again['faster'] > 1).sum())} of these are faster than published.{missing}"
        f" {source}"
    )
