"""Formats the text of `analysis/report --trend`, which nightly jobs send by mail: the times of trials in the last
runs."""

from .captions import is_rectangular
from .page import printable, seconds

MOST_RUNS = 7  # runs per line of the text, because a mail may be read on a phone


def _dates(starts):
    """Returns the dates, with the times of day if several are equal."""
    formats = ("%m-%d", "%m-%d %H:%M", "%m-%d %H:%M:%S")
    texts = [starts.dt.strftime(form).tolist() for form in formats]
    return next((each for each in texts if len(set(each)) == len(each)), texts[-1])


def table(times):
    """Returns two lines per trial: the change of its median from the first run shown to the last, and the median of
    each run. `times`: a frame as `changes.followed` returns it."""
    lines = []
    for (problem, precision, device), rows in times.groupby(["problem", "precision", "device"]):
        rows = rows.tail(MOST_RUNS)
        last = rows.iloc[-1]
        medians, dates = rows["seconds_median"].tolist(), _dates(rows["at"])
        change = 100 * (medians[-1] / medians[0] - 1)
        size = "" if is_rectangular(rows).iloc[-1] else f"n = {last['size']}"  # the operands have a product's shape
        trial = f"{last['matrix_full']}, seed {last['matrix_seed']}"
        trial = ", ".join(filter(None, [size, last["operands"], trial]))
        lines.append(f"{problem}/{last['method']} {precision}, {trial}, {device}: {change:+.1f} %")
        lines.append("  " + ", ".join(f"{date} {seconds(time)}" for date, time in zip(dates, medians)))
    return [printable(line) for line in lines]
