"""Shows the verdict grid: a table per device with problems as rows and sizes as columns. A cell has the winner, its
lead and its fraction of the limit, the least time that the device's measured rates allow."""

import pandas as pd

from ..colours import border

from ..frames import MOST_MODELS, short_names, slug
from ..loader import TRIAL
from ..page import counted, factor, percent, seconds, text
from ..verdict import grids, rate, ratios

CELL_COLUMNS = """problem n batch winner backend methods median runner_up lead tie baseline over_baseline share bound
launch_bound seeds wins lacks_seeds gpus""".split()
MOST_SIZES = 7  # columns that fit on a sheet of paper and in a window of 1300 pixels
MOST_ALONE = 3  # if the rows with a single size have more distinct sizes, they become cards instead of rows
MOST_ROWS = 48  # rows after these are folded, because a browser takes seconds to lay out thousands of races
LEAST_LEAD = 1.05  # two devices of one model may differ by smaller factors, so these say nothing about two models
# Rows share a part of the table if the Jaccard index of their sets of sizes (common over all sizes) is at least this.
ALIKE = 0.4


def anchor(problem):
    """Returns the HTML id of a problem's block, without characters that a link would have to escape."""
    return f"problem-{slug(problem)}"


def verdict(page, results, baseline=""):
    page.begin("verdict", "Who wins where")
    all_grids = grids(results, baseline)
    if not all_grids:
        page.remark("No trial ran.")
        return
    tables = _tables(all_grids)
    pooled = any((seeds["seeds"] > 1).any() for *_, seeds in all_grids)
    model_words = " With several models: first the faster one" if any(len(models) > 1 for models in tables) else ""
    races = pd.concat([races for *_, races in all_grids])
    timed = races[(races["winner"] != "") & (races["backend"] != "emulated")]
    limits = " and its fraction of the problem's limit" if timed["share"].notna().any() else ""
    page.add(
        (
            "Each cell: the fastest method that passed, its median time and its lead over the next method. Then its"
            f" speedup over {baseline or 'the vendor'}, unless that wins or ties with it{',' * bool(limits)}{limits}."
            if len(timed)
            else "Each cell: a method that passed, and its time in the emulation, which says nothing about a GPU."
            if races["winner"].ne("").any()
            else "Each cell: the number of methods that were tried. None passed."
        )
        + (
            " Matrices that differ only in their seeds share a cell: a method's time is the median over the seeds with"
            " which all of the cell's methods were tried, and it must pass with all of these."
            ' "1 of 2" means that the winner is the fastest with one of the two seeds that are compared.'
            if pooled
            else ""
        )
        + (f"{model_words} and by how much (≈: less than 5 %)." if model_words else "")
    )
    for i, models in enumerate(tables):
        cpus = sorted({cpu for _, _, cpus, *_ in models for cpu in cpus})
        title = " and ".join(d + (f" ({c // 10}.{c % 10})" if c else "") for d, c, *_ in models)
        page.heading(title + (f", with methods on {', '.join(cpus)}" if cpus else ""), f"grid-{i + 1}")
        names = short_names([device for device, *_ in models])
        races = pd.concat([races.assign(device=device) for device, _, _, races, _ in models], ignore_index=True)
        for model in models[1:]:
            page.add(_speedup(results.devices, models[0], model, names))
        if len(models) == 1:
            page.add(_wins(models[0][4]))
        rows = _rows([(names[d], c, own) for d, c, _, _, own in models], page.methods)
        _show(page, f"grid-{i + 1}", rows[:MOST_ROWS], races)
        if len(rows) > MOST_ROWS:
            mark = page.mark()
            _show(page, f"grid-{i + 1}-more", rows[MOST_ROWS:])
            page.fold(f"{counted(len(rows) - MOST_ROWS, 'more row')} of {' and '.join(d for d, *_ in models)}", mark)
        if len(models) > 1:
            page.items(f"{names[device]}: {_wins(own)}" for device, *_, own in models)
    exceeded_bounds = {bound for *_, races, _ in all_grids for bound in races.loc[races["share"] > 1, "bound"]}
    if exceeded_bounds:
        reasons = {
            "memory": "memory: the operands are in a cache, or the copy rate was measured too low (another program used"
            " the memory).",
            "compute": "compute: the method uses a lower precision internally, units that the GEMM did not use, or"
            " skips zeros; or the GEMM rate was measured too low.",
        }
        words = " ".join(reason for bound, reason in reasons.items() if bound in exceeded_bounds)
        page.put(f'<p id="above-limit">* More than 100 % of {words}</p>')
    page.add(
        ("Tie: the interquartile ranges of the two times overlap. " if timed["tie"].any() else "")
        + (
            "The limit is the same for all methods of a problem: its operations at the measured GEMM rate (compute), or"
            " its operands once at the measured copy rate (memory), whichever takes longer. "
            if limits
            else ""
        )
        + "Cells link to the problem."
        + (
            f" These are the last runs of each plan{_missing(results)}; gaussweep summary --best --by gpu pools all"
            " runs that it is given."
            if results.earlier is not None
            else ""
        )
    )


def _missing(results):
    """Returns words with the number of trials that only earlier runs have; an empty text if there are none."""
    trials = results.earlier[TRIAL].drop_duplicates()
    now = results.table[TRIAL].astype(object).drop_duplicates()
    count = len(trials) - len(trials.merge(now, on=TRIAL))
    return f", which lack {counted(count, 'trial')} of earlier runs" if count else ""


def _speedup(devices, base, new, names):
    """Returns sentences that compare the model `new` with `base`: how often it is faster, by how much, and the ratios
    of their measured limits."""
    common = ratios(base, new)
    first, second = names[base[0]], names[new[0]]
    if not len(common):
        return f"{first} and {second} have no task in common."
    ratio = common["ratio"]
    faster, slower = int((ratio >= LEAST_LEAD).sum()), int((ratio <= 1 / LEAST_LEAD).sum())
    words = [
        f"{second} over {first}: {factor(ratio.median())} (median; {factor(ratio.min())} to {factor(ratio.max())});"
        f" faster in {faster} of {counted(len(ratio), 'case')}, slower in {slower}, within 5 % in"
        f" {len(ratio) - faster - slower}."
    ]
    limits = [
        f"{what} {factor(after / before)}"
        for what, column in (
            ("memory", "copy_bytes_per_second"),
            ("products in float", "gemm_flops_float"),
            ("products in double", "gemm_flops_double"),
        )
        for before, after in [[rate(devices, *model[:2], column) for model in (base, new)]]
        if after / before > 0
    ]
    words += [f"Measured limits: {', '.join(limits)}."] if limits else []
    launch_bound = common[common["launch_bound"] & common["launch_bound_new"]]
    if len(launch_bound):
        words.append(
            f"{counted(len(launch_bound), 'case')} up to n = {launch_bound['n'].max()} are launch-bound on both: the"
            f" host limits them, not the GPU ({factor(launch_bound['ratio'].median())} there,"
            f" {factor(common['ratio'].drop(launch_bound.index).median())} elsewhere)."
        )
    different_winner = common[
        (common["winner"] != common["winner_new"]) & ~common["tie"].astype(bool) & ~common["tie_new"].astype(bool)
    ]
    if len(different_winner):
        sizes = different_winner.groupby("problem")["n"].agg(lambda n: ", ".join(map(str, sorted(set(n))[:MOST_SIZES])))
        where = "; ".join(f"{problem} at n = {n}" for problem, n in sizes.items())
        words.append(f"The fastest method differs in {counted(len(different_winner), 'case')}: {where}.")
    return " ".join(words)


def _tables(found):
    """Returns a list of tables; a table is a list of models, as elements of `verdict.grids`. The GPU models share one
    table and the CPU models another, lowest compute capability first; more than MOST_MODELS models get a table each."""
    tables = []
    for is_gpu in (True, False):
        models = sorted((g for g in found if (g[1] > 0) == is_gpu), key=lambda g: (g[1], g[0]))
        tables += [models] if 0 < len(models) <= MOST_MODELS else [[model] for model in models]
    return tables


def _show(page, name, rows, races=None):
    """Adds the rows as a table. Rows with a single size become cards (boxes without columns) if they have too many
    distinct sizes for columns."""
    single_size_rows = [row for row in rows if len(row[1]) == 1]
    single_sizes = {n for _, cells in single_size_rows for n in cells}
    fits_one_column = len(single_sizes) == 1 and single_size_rows == rows and len(rows) > MOST_ALONE
    if len(single_sizes) <= MOST_ALONE and not fits_one_column:
        single_size_rows = []
    page.grid(name, _parts([row for row in rows if row not in single_size_rows]), races)
    if single_size_rows:
        cards = (
            f"<div>{label}, n = {n}<br>{cell}</div>" for label, cells in single_size_rows for n, cell in cells.items()
        )
        page.put(f'<div class="cards">{"".join(cards)}</div>')


def _wins(races):
    """Returns a sentence with the number of races that each method wins, as `gaussweep run` prints it at its end.
    `races`: those with the seeds pooled."""
    is_emulated = races["backend"].eq("emulated")
    emulated_sentence = (
        f"{counted(int(is_emulated.sum()), 'case')} ran only emulated kernels, whose times say nothing about a GPU."
    )
    races = races[~is_emulated]
    if not len(races):
        return emulated_sentence
    tied = races["tie"].eq(True)
    names = (races["problem"] + "/" + races["winner"])[(races["winner"] != "") & ~tied]
    wins = names.groupby(names).size().sort_values(ascending=False, kind="stable")
    parts = [f"{name} {count}" for name, count in wins.items()] + [counted(int(tied.sum()), "tie")] * bool(tied.any())
    none = int(races["winner"].eq("").sum())
    parts += [f"no method passed in {none}"] * (none > 0)
    words = f"Fastest, of {counted(len(races), 'case')}: {', '.join(parts)}."
    return f"{words} {emulated_sentence}" if is_emulated.any() else words


def _parts(rows):
    """Splits a table into parts, (sizes, rows), with at most MOST_SIZES columns each. Rows with many common sizes share
    a part."""
    all_sizes = set().union(*(cells for _, cells in rows))
    if not rows:
        return []
    if len(all_sizes) <= MOST_SIZES:
        return [(sorted(all_sizes), rows)]
    groups = []  # [sizes, rows]
    for label, cells in rows:
        row_sizes = set(cells)
        similar = [group for group in groups if len(row_sizes & group[0]) >= ALIKE * len(row_sizes | group[0])]
        if similar:
            similar[0][0] |= row_sizes
            similar[0][1].append((label, cells))
        else:
            groups.append([row_sizes, [(label, cells)]])
    parts = []
    for sizes, group_rows in groups:
        sizes = sorted(sizes)
        width = -(-len(sizes) // -(-len(sizes) // MOST_SIZES))  # ceilings: the fewest parts, of similar width
        for first in range(0, len(sizes), width):
            part_sizes = sizes[first : first + width]
            parts.append(
                (part_sizes, [(label, cells) for label, cells in group_rows if not set(part_sizes).isdisjoint(cells)])
            )
    return parts


def _rows(models, colours):
    """Returns the rows of the grid as (label, {n: cell}), in HTML. In each problem and precision the matrix with most
    sizes comes first. Matrices that differ only in their seeds share a row. Batches share a row if each size was run
    with one batch count only. `models`: (name, capability, pooled races) of each model; `colours`: method -> number."""
    rows = {}
    for name, _, races in models:
        row = races["task"].str.replace(r", seed -?\d+", "", regex=True)
        without_batch = row.str.replace(r", batch \d+", ", batches", regex=True)
        task = [races["problem"], races["precision"], without_batch]
        batches_at_size = races["batch"].groupby([*task, races["n"]]).transform("nunique")
        has_several_batches = races["batch"].groupby(task).transform("nunique") > 1
        is_merged = (batches_at_size.groupby(task).transform("max") == 1) & has_several_batches
        races = races[[*CELL_COLUMNS, "precision"]].assign(row=without_batch.where(is_merged, row), is_merged=is_merged)
        for key, group in races.groupby(["problem", "precision", "row"])[[*CELL_COLUMNS, "is_merged"]]:
            for race in group.itertuples():
                rows.setdefault(key, {}).setdefault(race.n, {}).setdefault(name, []).append(race)
    capabilities = {name: capability for name, capability, _ in models}
    keyed_rows = []
    for (problem, precision, task), races_by_size in rows.items():
        make = _cell if len(models) == 1 else _cell_of_models
        cells = {n: make(races_of_n, colours, capabilities) for n, races_of_n in sorted(races_by_size.items())}
        label = f'<a href="#{anchor(problem)}"><b>{text(problem)} {text(precision)}</b></a><br>{text(task)}'
        keyed_rows.append(((problem, precision, -len(cells), task), label, cells))
    return [(label, cells) for _, label, cells in sorted(keyed_rows, key=lambda row: row[0])]


def _winner(race, colours, capability):
    """Returns the HTML of the winner's name."""
    if not race.winner:
        words = "none passed with every seed" if race.seeds > 1 else "none passed"
        return f'<a href="#{anchor(race.problem)}" class="lost">{words}</a>'
    on = " (emulated)" if race.backend == "emulated" else " (CPU)" if race.backend == "host" and capability else ""
    on = f" ({race.gpus} GPUs)" if race.gpus > 1 and race.backend == "cuda" else on
    if race.backend == "emulated":
        return f'<a href="#{anchor(race.problem)}">{text(race.winner)}{on}</a>'
    colour = border(colours[race.winner]) if race.winner in colours else ""
    return f'<a href="#{anchor(race.problem)}" class="m" style="{colour}">{text(race.winner)}{on}</a>'


def _time(race):
    """Returns the HTML of the winner's time, its lead, and its speedup over the baseline."""
    if race.backend == "emulated":  # times of emulated kernels are not compared
        return f"{seconds(race.median)}, answers only"
    alone = "no common seed" if race.lacks_seeds else "uncontested"
    lead = f"tie with {text(race.runner_up)}" if race.tie else alone if not race.runner_up else factor(race.lead)
    over = f", {factor(race.over_baseline)} {text(race.baseline)}" if race.baseline not in ("", race.winner) else ""
    if over and race.runner_up == race.baseline:
        # The runner-up is the baseline, so its lead and its speedup are the same number.
        lead, over = lead if race.tie else over.removeprefix(", "), ""
    return f"{seconds(race.median)}, {lead}{over}"


def _share(race):
    """Returns the fraction of the limit as a percentage with at least two digits and without an exponent."""
    return percent(race.share) if race.share >= 0.01 else f"{100 * race.share:.2g} %"


def _above(race):
    """Returns a link to the explanation of a time below the limit; an empty text for other times."""
    return '<a href="#above-limit">*</a>' if race.share > 1 else ""


def _cell(of_model, colours, capabilities):
    """Returns the HTML of a cell with one model: the winner, its time and lead, and its fraction of the limit."""
    ((name, races),) = of_model.items()
    race = races[0]
    of = f" <small>{race.wins} of {race.seeds}</small>" if race.seeds > 1 else ""
    batch = f"<br>batch {race.batch}" if race.is_merged else ""
    winner = _winner(race, colours, capabilities[name])
    if not race.winner:
        return f"{winner}<br>of {counted(race.methods, 'method')}{batch}"
    share = f"<br>{_share(race)} {race.bound}{_above(race)}" if race.share > 0 and race.backend != "emulated" else ""
    return f"{winner}{of}<br>{_time(race)}{share}{batch}"


def _cell_of_models(of_model, colours, capabilities):
    """Returns the HTML of a cell with several models: the faster one and its lead, then each model's winner and
    time."""
    races = {name: several[0] for name, several in of_model.items()}
    passed = {name: race for name, race in races.items() if race.winner}
    winners = {name: _winner(race, colours, capabilities[name]) for name, race in races.items()}
    is_common = len(set(winners.values())) == 1
    lines = [_faster(passed, capabilities), next(iter(winners.values())) if is_common else ""]
    for name, race in races.items():
        time = _time(race) if race.winner else f"of {counted(race.methods, 'method')}"
        lines.append(f"{text(name)} {'' if is_common else winners[name] + ' '}{time}")
    with_share = [race for race in passed.values() if race.share > 0 and race.backend != "emulated"]
    shares, bounds = [_share(race) + _above(race) for race in with_share], {race.bound: None for race in with_share}
    if passed and all(race.launch_bound for race in passed.values()):
        lines.append("launch-bound")
    elif shares:
        lines.append(f"{', '.join(shares)} {', '.join(bounds)}")
    first = next(iter(races.values()))
    lines.append(f"batch {first.batch}" if first.is_merged else "")
    return "<br>".join(line for line in lines if line)


def _faster(passed, capabilities):
    """Returns the model with the fastest time and its lead over the next model. Returns an empty text if a winner ran
    on the CPU of a GPU's machine, or was emulated. Such times contain no information about the models."""
    comparable = [
        (race.median, name)
        for name, race in passed.items()
        if race.backend == "cuda" or (race.backend == "host" and not capabilities[name])
    ]
    if len(comparable) < 2 or len(comparable) < len(passed):
        return ""
    (time, name), (next_time, _) = sorted(comparable)[:2]
    lead = next_time / time
    return f"<b>{text(name)} {factor(lead)}</b>" if lead >= LEAST_LEAD else f"<b>≈</b> {factor(lead)}"
