"""`analysis/report --trend`: how trials did night by night, as text for a mail."""

from .page import printable, seconds

MOST_NIGHTS = 7  # side by side: a mail is read on a telephone


def table(told):
    """Two lines a trial of `followed`: what its median in the last run is over that in the first one shown, and the
    medians."""
    lines = []
    for (problem, precision, device), rows in told.groupby(["problem", "precision", "device"]):
        rows = rows.tail(MOST_NIGHTS)
        last = rows.iloc[-1]
        times, dates = rows["seconds_median"].tolist(), [f"{at:%m-%d}" for at in rows["at"]]
        change = 100 * (times[-1] / times[0] - 1)
        lines.append(f"{problem}/{last['method']} {precision}, n = {last['size']}, {device}: {change:+.1f} %")
        lines.append("  " + ", ".join(f"{date} {seconds(time)}" for date, time in zip(dates, times)))
    return [printable(line) for line in lines]
