"""What is another than in the last run of the same plan."""

import pandas as pd

from ..loader import STATUSES
from ..page import factor, seconds, whole

THRESHOLD = 0.05  # by which medians must be apart, as for `gaussweep compare`


def changes(night):
    """One row a trial that ran before too: its status and median then and now, and what became of it."""
    if night.before is None:
        return pd.DataFrame()
    trial = ["key", "backend", "gpu_name", "capability", "host", "plan_name"]
    kept = ["status", "seconds_q1", "seconds_median", "seconds_q3"]
    both = night.records.merge(night.before[[*trial, *kept]], on=trial, suffixes=("", "_before"))
    rank = {status: i for i, status in enumerate(STATUSES)}
    now, then = both["status"].map(rank), both["status_before"].map(rank)
    ratio = both["seconds_median"] / both["seconds_median_before"]
    timed = (both["status"] == "pass") & (both["status_before"] == "pass")
    slower = timed & (ratio > 1 + THRESHOLD) & (both["seconds_q1"] > both["seconds_q3_before"])
    faster = timed & (ratio < 1 / (1 + THRESHOLD)) & (both["seconds_q3"] < both["seconds_q1_before"])
    both["ratio"] = ratio
    both["change"] = "same"
    both.loc[faster, "change"] = "faster"
    both.loc[slower, "change"] = "slower"
    both.loc[(now < then) & (both["status"] == "pass"), "change"] = "passes now"
    both.loc[(now > then) & (both["status"] != "skipped"), "change"] = "worse"
    return both


def sentences(night):
    """For the first screen."""
    rows = changes(night)
    if not len(rows):
        return
    count = rows["change"].value_counts()
    words = [f"{count[c]} {c}" for c in ("worse", "slower", "faster", "passes now", "same") if c in count]
    yield f"Since the last run of the same plan: of {len(rows)} trials {', '.join(words)}.", "changes"


def table(page, night):
    """The trials that changed, the worst first."""
    rows = changes(night)
    rows = rows[rows["change"] != "same"] if len(rows) else rows
    if not len(rows):
        return
    order = {"worse": 0, "slower": 1, "passes now": 2, "faster": 3}
    rows = rows.assign(order_=rows["change"].map(order), far_=-(rows["ratio"] - 1).abs())
    rows = rows.sort_values(["order_", "far_"], kind="stable").drop(columns=["order_", "far_"])
    page.heading("Since the last run", "changes")
    page.table(
        "changes",
        rows[
            ["change", "problem", "method", "precision", "config", "task", "size", "device", "status_before", "status"]
            + ["seconds_median_before", "seconds_median", "ratio"]
        ],
        [
            ("change", "change", None),
            ("problem", "problem", None),
            ("method", "method", None),
            ("precision", "precision", None),
            ("config", "with", None),
            ("task", "matrix", None),
            ("size", "n", whole),
            ("device", "device", None),
            ("status_before", "was", None),
            ("status", "is", None),
            ("seconds_median_before", "median before", seconds),
            ("seconds_median", "now", seconds),
            ("ratio", "now / before", factor),
        ],
        limit=30,
        caption=(
            "Trials whose status changed, or whose medians are apart by more than 5 % with quartiles that do not"
            " overlap. gaussweep compare judges more strictly: it knows the noise from run to run."
        ),
    )
