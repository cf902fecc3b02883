"""Shows the speedup of trials on several GPUs over one GPU, and their efficiency: the speedup over the number of
GPUs."""

import numpy as np

from ..captions import matrices, sampled
from ..frames import RATIO_INTERVAL, COMPARED, best, gain, slug, verdict_rank
from ..identity import CONDITIONS
from ..loader import gpu_counts
from ..page import factor, percent, whole
from ..plots import Plot, Series

# The columns in which two trials must agree to be compared.
TASK = [*"precision device host m n k nrhs batch uplo matrix_digest".split(), *CONDITIONS]
# Words before the value of these columns in a line's label.
NAMES = {"matrix_seed": "seed", "matrix_name": "", "uplo": ""}
MOST_LINES = 8  # lines per figure; if there are more, those of the largest sizes are drawn


def several_gpus(page, results):
    # The records with an answer, right or wrong. Their status selects or marks them below.
    rows = results.take_answered([*COMPARED, *TASK, "gpu_count"])
    rows = rows.assign(gpus=gpu_counts(rows))
    one = best(rows[(rows["gpus"] == 1) & (rows["status"] == "pass")], TASK)
    several = best(rows[rows["gpus"] > 1], [*TASK, "method", "gpus"])
    # One row per row of `several`: the trial on one GPU with which it is compared.
    base = several[TASK].merge(one, on=TASK, how="left").set_index(several.index)
    speedup, low, high = gain(base, several)
    # `rank` is 0 if the answer passed, and larger the farther it was from passing; its points are then hollow.
    both = several.assign(method_one=base["method"], speedup=speedup, low=low, high=high, rank=verdict_rank(several))
    both = both.dropna(subset=["method_one"])
    if not len(both):
        return
    both["efficiency"] = both["speedup"] / both["gpus"]
    both = both.sort_values(
        ["precision", "device", "matrix_name", "method", "n", "nrhs", "uplo", "matrix_seed", "gpus"]
    )
    page.begin("gpus", "Several GPUs")
    page.add(
        "Compared with the fastest method on one GPU for the same matrix. Bars: the interval from the quartiles of both"
        " times. The line without marks is the number of GPUs: the speedup if they shared the work perfectly."
    )
    page.plots(_figures(both))
    page.table(
        slug("gpus"),
        both,
        [
            "precision device matrix_name method n nrhs uplo",
            ("gpus", "GPUs", whole),
            ("method_one", "on one GPU", None),
            ("speedup", "speedup", factor),
            ("low", "at least", factor),
            ("high", "at most", factor),
            ("efficiency", "efficiency", percent),
            "status",
        ],
        caption="Efficiency: the speedup over the number of GPUs.",
        more_csv_columns=("matrix_full", "matrix_seed"),
    )


def _figures(both):
    """Yields a figure per (precision, device), with a line per method and matrix."""
    for (precision, device), group in both.groupby(["precision", "device"]):
        problem = group["problem"].iloc[0]
        varying = [c for c in ("nrhs", "uplo", "matrix_name", "matrix_seed") if group[c].nunique() > 1]
        series = []
        for (_, method, *names), part in group.groupby(["n", "method", *varying], sort=True):
            words = [
                f"n = {part['n'].iloc[0]}",
                *(f"{NAMES.get(c, c)} {value}".lstrip() for c, value in zip(varying, names)),
            ]
            # Each line begins with a point for one GPU, whose speedup is 1.
            series.append(
                Series(
                    f"{method}, {', '.join(words)}",
                    np.r_[1, part["gpus"]],
                    np.r_[1, part["speedup"]],
                    np.r_[1, part["low"]],
                    np.r_[1, part["high"]],
                    np.r_[0, part["rank"]],
                    of=method,  # selects the colour
                    ends=RATIO_INTERVAL,  # explains the ends of the error bars
                )
            )
        left = max(0, len(series) - MOST_LINES)
        counts = np.arange(1, group["gpus"].max() + 1)
        yield Plot(
            slug("gpus", problem, precision, device),
            f"Several GPUs: {problem}, {precision}, {device}",
            "GPUs",
            "speedup over one GPU",
            [*series[-MOST_LINES:], Series("number of GPUs", counts, counts, marker=False, plain=True)],
            xlog=False,
            note=f"{left} lines of smaller sizes are only in the table." if left else "",
            basis=f"{matrices(group)} Each point: the median time of the fastest method on one GPU divided by the"
            f" median time of the line's method on this number of GPUs, of {sampled(group)}.",
        )
