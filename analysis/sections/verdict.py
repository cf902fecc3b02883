"""The verdict grid: for each device problems by sizes, who wins, by how much, how near the limit."""

from ..frames import method_styles
from ..page import factor, percent, seconds, text
from ..verdict import grids

MOST_SIZES = 8  # side by side: as many as a sheet of paper takes
MOST_RACES = 3  # in one cell: of systems that only their digests tell apart
MOST_ROWS = 48  # in sight; a browser takes seconds to lay out what thousands of races fill
ALIKE = 0.4  # the share of common sizes from which on rows stand under the same ones


def anchor(problem):
    """The id of a problem's block on the page."""
    return f"problem-{problem}"


def verdict(page, night):
    page.begin("verdict", "Who wins where")
    found = grids(night)
    if not found:
        page.nothing("Nothing was tried.")
        return
    page.add(
        "In each cell the fastest method that passed, its median time, its lead over the next method, and how near it"
        " came to the problem's limit on the device."
    )
    styles = method_styles(night.records)
    for i, (device, capability, cpus, races) in enumerate(found):
        title = device + (f" ({capability // 10}.{capability % 10})" if capability else "")
        page.heading(title + (f", beside it methods of {', '.join(cpus)}" if cpus else ""), f"grid-{i + 1}")
        rows = _rows(races, styles, capability)
        page.grid(f"grid-{i + 1}", _parts(rows[:MOST_ROWS]), races)
        if len(rows) > MOST_ROWS:
            mark = page.mark()
            page.grid(f"grid-{i + 1}-more", _parts(rows[MOST_ROWS:]))
            page.fold(f"{len(rows) - MOST_ROWS} more rows of {device}", mark)
    page.add(
        "Tie: the times of the two overlap from first to third quartile. The limit is the problem's, whatever the"
        " method: its operations at the measured GEMM rate (compute), or its operands once at the measured copy rate"
        " (memory)."
        " A cell leads to the problem. The same numbers as gaussweep summary --best --by gpu."
    )


def _parts(rows):
    """(sizes, rows) each, at most MOST_SIZES side by side. Where there are more, rows that have most of their sizes in
    common stand together."""
    every = set().union(*(cells for _, cells in rows))
    if len(every) <= MOST_SIZES:
        return [(sorted(every), rows)]
    groups = []  # [sizes, rows]
    for label, cells in rows:
        own = set(cells)
        near = [group for group in groups if len(own & group[0]) >= ALIKE * len(own | group[0])]
        if near:
            near[0][0] |= own
            near[0][1].append((label, cells))
        else:
            groups.append([own, [(label, cells)]])
    parts = []
    for sizes, alike in groups:
        sizes = sorted(sizes)
        for first in range(0, len(sizes), MOST_SIZES):
            some = sizes[first : first + MOST_SIZES]
            parts.append((some, [(label, cells) for label, cells in alike if not set(some).isdisjoint(cells)]))
    return parts


def _rows(races, styles, capability):
    """(label markup, {n: cell markup}) each: of a problem and precision the matrix of most sizes first."""
    rows = []
    for (problem, precision, task), group in races.groupby(["problem", "precision", "task"]):
        cells = {}
        for race in group.sort_values("methods", ascending=False, kind="stable").itertuples():
            cells.setdefault(race.n, []).append(_cell(race, styles, capability))
        matrix = text(task).replace("_", "_<wbr>")  # a telephone breaks the line there
        label = f'<a href="#{anchor(problem)}"><b>{text(problem)} {text(precision)}</b></a><br>{matrix}'
        rows.append(((problem, precision, -len(cells)), label, {n: _stack(several) for n, several in cells.items()}))
    return [(label, cells) for _, label, cells in sorted(rows, key=lambda row: row[0])]


def _stack(cells):
    """The races of one cell, those of most methods first."""
    more = f"{len(cells) - MOST_RACES} more in the CSV"
    return "<hr>".join(cells if len(cells) <= MOST_RACES + 1 else [*cells[:MOST_RACES], more])


def _cell(race, styles, capability):
    link = f'<a href="#{anchor(race.problem)}"'
    if not race.winner:
        return f'{link} class="lost">none passed</a><br>of {race.methods}'
    on = " (emulated)" if race.backend == "emulated" else " (CPU)" if race.backend == "host" and capability else ""
    lead = "tie" if race.tie else "uncontested" if not race.runner_up else factor(race.lead)
    near = percent(race.share) if race.share >= 0.01 else f"{100 * race.share:.2g} %"
    share = f"<br>{near} {race.bound}" if race.share > 0 else ""
    style = styles.get((race.problem, race.winner), 0) % 8
    return f'{link} class="m{style}">{text(race.winner)}{on}</a><br>{seconds(race.median)}, {lead}{share}'
