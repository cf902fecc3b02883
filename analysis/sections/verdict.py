"""The verdict grid: per device, problems by sizes, with the winner, its lead and its fraction of the limit."""

from ..colours import border
from ..frames import slug
from ..page import counted, factor, percent, seconds, text
from ..verdict import grids

CELL = """problem n batch winner backend methods median runner_up lead tie baseline over_baseline share bound""".split()
MOST_SIZES = 8  # columns that fit on a sheet of paper
MOST_ALONE = 3  # sizes with one matrix each, or matrices with one size; more are shown as cards
MOST_ROWS = 48  # unfolded rows, because a browser takes seconds to lay out thousands of races
ALIKE = 0.4  # fraction of common sizes from which on rows share a part of the table


def anchor(problem):
    """Returns the id of a problem's block, which links can contain unescaped."""
    return f"problem-{slug(problem)}"


def verdict(page, night, baseline=""):
    page.begin("verdict", "Who wins where")
    found = grids(night, baseline)
    if not found:
        page.nothing("No trial ran.")
        return
    page.add(
        "Each cell: the fastest method that passed, its median time and its lead over the next method. Then its"
        f" speedup over {baseline or 'the vendor'}, if that is another method, and its fraction of the problem's limit."
    )
    for i, (device, capability, cpus, races) in enumerate(found):
        title = device + (f" ({capability // 10}.{capability % 10})" if capability else "")
        page.heading(title + (f", with methods on {', '.join(cpus)}" if cpus else ""), f"grid-{i + 1}")
        page.add(_wins(races))
        rows = _rows(races, page.methods, capability)
        _show(page, f"grid-{i + 1}", rows[:MOST_ROWS], races)
        if len(rows) > MOST_ROWS:
            mark = page.mark()
            _show(page, f"grid-{i + 1}-more", rows[MOST_ROWS:])
            page.fold(f"{counted(len(rows) - MOST_ROWS, 'more row')} of {device}", mark)
    above = {bound for *_, races in found for bound in races.loc[races["share"] > 1, "bound"]}
    if above:
        reasons = {
            "memory": "memory: the operands are in a cache, or the copy rate was measured too low (another program used"
            " the memory).",
            "compute": "compute: the method uses a lower precision internally, units that the GEMM did not use, or"
            " skips zeros; or the GEMM rate was measured too low.",
        }
        words = " ".join(reason for bound, reason in reasons.items() if bound in above)
        page.put(f'<p id="above-limit">* More than 100 % of {words}</p>')
    page.add(
        "Tie: the interquartile ranges of the two times overlap. The limit is the same for all methods of a problem:"
        " its operations at the measured GEMM rate (compute), or its operands once at the measured copy rate (memory),"
        " whichever takes longer. Cells link to the problem. gaussweep summary --best --by gpu has the same numbers."
    )


def _show(page, name, rows, races=None):
    alone = [row for row in rows if len(row[1]) == 1]
    own_sizes = {n for _, cells in alone for n in cells}
    a_column = len(own_sizes) == 1 and alone == rows and len(rows) > MOST_ALONE
    if len(own_sizes) <= MOST_ALONE and not a_column:
        alone = []
    page.grid(name, _parts([row for row in rows if row not in alone]), races)
    if alone:
        cards = (f"<div>{label}, n = {n}<br>{cell}</div>" for label, cells in alone for n, cell in cells.items())
        page.put(f'<div class="cards">{"".join(cards)}</div>')


def _wins(races):
    """Returns a sentence with the races that each method wins, as at the end of `gaussweep run`."""
    is_emulated = races["backend"].eq("emulated")
    only = f"{counted(int(is_emulated.sum()), 'case')} ran only emulated kernels, whose times say nothing about a GPU."
    races = races[~is_emulated]
    if not len(races):
        return only
    tied = races["tie"].eq(True)
    names = (races["problem"] + "/" + races["winner"]).where(races["winner"] != "", "nothing passed")[~tied]
    wins = names.groupby(names).size().sort_values(ascending=False, kind="stable")
    told = [f"{name} {count}" for name, count in wins.items()] + [counted(int(tied.sum()), "tie")] * bool(tied.any())
    words = f"Fastest, of {counted(len(races), 'case')}: {', '.join(told)}."
    return f"{words} {only}" if is_emulated.any() else words


def _parts(rows):
    """Returns (sizes, rows) parts with at most MOST_SIZES columns each. Rows with most of their sizes in common share a
    part."""
    every = set().union(*(cells for _, cells in rows))
    if not rows:
        return []
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
        width = -(-len(sizes) // -(-len(sizes) // MOST_SIZES))  # parts of similar width
        for first in range(0, len(sizes), width):
            some = sizes[first : first + width]
            parts.append((some, [(label, cells) for label, cells in alike if not set(some).isdisjoint(cells)]))
    return parts


def _rows(races, colours, capability):
    """Returns (label markup, {n: cell markup}) per row; in each problem and precision the matrix with most sizes comes
    first. Matrices that differ only in their seeds share a row, and so do batches if each size has one number of
    systems."""
    rows = []
    row = races["task"].str.replace(r", seed -?\d+", "", regex=True)
    together = row.str.replace(r", batch \d+", ", batches", regex=True)
    task = [races["problem"], races["precision"], together]
    of_size = races["batch"].groupby([*task, races["n"]]).transform("nunique")
    is_merged = (of_size.groupby(task).transform("max") == 1) & (races["batch"].groupby(task).transform("nunique") > 1)
    races = races[[*CELL, "precision"]].assign(row=together.where(is_merged, row), is_merged=is_merged)
    for (problem, precision, task), group in races.groupby(["problem", "precision", "row"])[[*CELL, "is_merged"]]:
        several = {}
        for race in group.itertuples():
            several.setdefault(race.n, []).append(race)
        cells = {n: _cell(of_n, colours, capability) for n, of_n in sorted(several.items())}
        matrix = text(task).replace("_", "_<wbr>")  # a narrow screen may break the line there
        label = f'<a href="#{anchor(problem)}"><b>{text(problem)} {text(precision)}</b></a><br>{matrix}'
        rows.append(((problem, precision, -len(cells)), label, cells))
    return [(label, cells) for _, label, cells in sorted(rows, key=lambda row: row[0])]


def _typical(races):
    """Returns the median race (by time) of those with the most frequent winner, and the number of races that it won."""
    won = {}
    for race in races:
        if race.winner:
            won.setdefault((race.winner, race.backend), []).append(race)
    if not won:
        return races[0], 0
    own = max(won.values(), key=lambda several: (len(several), max(race.methods for race in several)))
    return sorted(own, key=lambda race: race.median)[(len(own) - 1) // 2], len(own)


def _cell(races, colours, capability):
    race, wins = _typical(races)
    of = f" <small>{wins} of {len(races)}</small>" if len(races) > 1 else ""
    link = f'<a href="#{anchor(race.problem)}"'
    batch = f"<br>batch {race.batch}" if race.is_merged else ""
    if not race.winner:
        return f'{link} class="lost">none passed</a><br>of {race.methods}{batch}'
    on = " (emulated)" if race.backend == "emulated" else " (CPU)" if race.backend == "host" and capability else ""
    if race.backend == "emulated":  # its time is the emulator's: not a rival of anything
        return f"{link}>{text(race.winner)}{on}</a>{of}<br>{seconds(race.median)}, answers only{batch}"
    lead = "tie" if race.tie else "uncontested" if not race.runner_up else factor(race.lead)
    over = f", {factor(race.over_baseline)} {text(race.baseline)}" if race.baseline not in ("", race.winner) else ""
    if over and race.runner_up == race.baseline and not race.tie:
        lead, over = over.removeprefix(", "), ""  # the runner-up is the baseline
    near = percent(race.share) if race.share >= 0.01 else f"{100 * race.share:.2g} %"
    mark = '<a href="#above-limit">*</a>' if race.share > 1 else ""
    share = f"<br>{near} {race.bound}{mark}" if race.share > 0 else ""
    colour = border(colours[race.winner]) if race.winner in colours else ""
    winner = f'{link} class="m" style="{colour}">{text(race.winner)}{on}</a>{of}'
    return f"{winner}<br>{seconds(race.median)}, {lead}{over}{share}{batch}"
