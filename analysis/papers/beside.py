"""Tables with published numbers next to our numbers."""

import numpy as np
import pandas as pd

from ..frames import answered, basis, best, not_passed, one_kind, slug
from ..page import factor, number, seconds
from ..plots import Plot, Series
from .common import called, described, heads, on, pick, source_of, table_of

KEPT = """problem method backend device samples inner_repeats matrix_full low high measured status config matrix_kind
matrix_seed operands uplo threads""".split()


def beside(drawing, rows, device):
    """Joins a published table over n with our times on one device, one row per column and size. A column without
    `where` has only published numbers. `low`, `high`: the quartiles; of means, the range of the samples, because a mean
    may lie outside the quartiles. `faster`: the published time over the measured one; unknown for emulated kernels,
    whose times do not apply to a GPU. Returns None if nothing was measured."""
    theirs, rows = table_of(drawing["csv"]), one_kind(answered(rows))
    statistic, low, high = ("mean", "min", "max") if drawing.get("statistic") == "mean" else ("median", "q1", "q3")
    names = {"measured": statistic, "low": low, "high": high}
    rows = rows.assign(**{name: rows[f"seconds_{of}"] for name, of in names.items()})
    pieces = []
    for column in drawing["columns"]:
        given = pd.DataFrame(
            {
                "n": theirs["n"],
                "published": theirs[column["column"]] * column.get("scale", 1),
                "column": column["column"],
            }
        )
        if "where" not in column:
            pieces.append(given.assign(what=column["label"]))
            continue
        for precision, part in pick(on(rows, device), column["where"]).groupby("precision"):
            part = best(part, ["size"])[["size", *KEPT]].rename(columns={"size": "n"})
            both = given.merge(part, on="n", how="outer")
            named = column["label"] if "precision" in column["where"] else f"{column['label']}, {precision}"
            pieces.append(both.assign(what=named, precision=precision).sort_values("n"))
    if not any("measured" in piece for piece in pieces):
        return None
    table = pd.concat(pieces, ignore_index=True)
    table["status"] = table["status"].fillna("not measured")
    table[["config", "matrix_kind"]] = table[["config", "matrix_kind"]].fillna("")
    return table.assign(faster=(table["published"] / table["measured"]).where(table["backend"] != "emulated"))


def published(page, night, experiment, drawing, rows):
    """Adds a published table over n with our times."""
    shown, rate = False, drawing.get("rate")
    once = len({column["column"] for column in drawing["columns"]}) == 1
    for device in heads(answered(rows)):
        table = beside(drawing, rows, device)
        if table is None:
            continue
        page.add(_met(table, device, drawing))
        form, unit, y = (
            (number, " [GFLOP/s]", lambda n, t: 2 * n**3 / t / 1e9) if rate else (seconds, "", lambda n, t: t)
        )
        for name in ("published", "measured"):
            table[f"{name}_shown"] = y(table["n"].astype(float), table[name])
        measured, statistic = table[table["measured"].notna()], drawing.get("statistic", "median")
        page.table(
            slug(experiment["id"], device),
            measured if once else table,
            [
                "what n",
                ("published_shown", "published" + unit, form),
                ("measured_shown", "measured" + unit, form),
                ("faster", "published time / measured", factor),
                "status matrix_kind config",
            ],
            limit=len(table),
            caption=(
                f"{experiment['title']}: published, and measured on {called(device)} ({statistic} of the samples)."
            ),
        )
        series = []
        for i, (what, part) in enumerate(table.groupby("what", sort=False)):
            old, new = part[part["published"].notna()], part[part["measured"].notna()]
            if not once or i == 0:
                series.append(
                    Series(
                        "published" if once else f"{what}, published",
                        old["n"].to_numpy(),
                        old["published_shown"].to_numpy(),
                        dashed=True,
                        of="published" if once else what,
                    )
                )
            if not len(new):
                continue
            low, high = (y(new["n"].astype(float), new[end]) for end in ("low", "high"))
            series.append(
                Series(
                    f"{what}, measured",
                    new["n"].to_numpy(),
                    new["measured_shown"].to_numpy(),
                    np.minimum(low, high),
                    np.maximum(low, high),
                    not_passed(new),
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
                    f"{experiment['title']}, {called(device)}",
                    "n",
                    "rate [GFLOP/s]" if rate else "time",
                    series,
                    ylog=True,
                    xlog=True,
                    seconds=not rate,
                    basis=f"{described(drawing['csv'])} {basis(measured, statistic)}",
                )
            ]
        )
        shown = True
    return shown


def _met(table, device, drawing):
    """Returns a sentence: how many published numbers have measured ones, how many of these are faster, and how many
    have wrong answers."""
    theirs = table_of(drawing["csv"])
    columns = sorted({column["column"] for column in drawing["columns"] if "where" in column})
    cells = int(theirs[columns].notna().to_numpy().sum())
    met = table[table["faster"].notna()]
    source = f"Source: {source_of(drawing['csv'])}."
    sizes = table.loc[table["measured"].notna(), "n"]
    if not set(sizes) & set(theirs["n"]):
        ns = ", ".join(str(n) for n in sorted(set(sizes)))
        none = f"none of the {len(theirs)} published sizes was measured (this run has n = {ns})"
        return f"{called(device)}: {none}. {source}"
    known = met.drop_duplicates(["column", "n"])
    wrong = met[met["status"] != "pass"]
    absent = sorted(set(theirs["n"]) - set(met["n"]))
    judged = (
        f" ({len(wrong)} of them with the status {' or '.join(sorted(set(wrong['status'])))})" if len(wrong) else ""
    )
    missing = f" Not measured: n = {', '.join(str(n) for n in absent)}." if absent else ""
    return (
        f"{called(device)}: {len(known)} of {cells} published numbers have {len(met)} measured ones{judged};"
        f" {int((met['faster'] > 1).sum())} of these are faster than published.{missing}"
        f" {source}"
    )
