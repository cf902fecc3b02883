"""Shows costs other than time: GPUs that waited for the host to launch kernels, energy, and different clocks of methods
that were compared."""

from ..frames import best, plots_over_size
from ..page import counted, factor, number, percent, seconds, whole
from .overview import RACING, ranked_methods

MOST_CLOCK_DIFFERENCE = 0.02  # larger relative differences of SM clocks are reported
LAUNCHES = """problem method precision device size kernels queue_seconds seconds_median replay_median
launch_bound"""
ENERGY = """problem precision device method matrix_name matrix_full operands config task size batch status matrix_seed
uplo threads rounds samples inner_repeats seconds_median flops energy_joules energy_uncertainty energy_source
idle_power_w"""


def costs(page, results):
    page.begin("costs", "Launches and clocks")
    mark = page.mark()
    _launches(page, results.take_answered(LAUNCHES))
    _clocks(page, results.take([*RACING, "sm_clock_mhz"]))
    if page.mark() == mark:
        page.remark("No trial ran on a GPU: there are no launches or clocks.")


def _launches(page, rows):
    """Adds the launch-bound runs: those whose GPU waited for the host to queue kernels."""
    checked = rows[rows["launch_bound"] >= 0]
    launch_bound = checked[checked["launch_bound"] == 1]
    if not len(checked):
        return
    page.heading("Launch-bound runs")
    names = sorted(set(launch_bound["problem"] + "/" + launch_bound["method"]))
    if not names:
        page.add(f"None of {len(checked)} timed runs on a GPU waited for the host to queue its kernels.")
        return
    page.add(
        f"{len(launch_bound)} of {len(checked)} timed runs on a GPU waited for the host to queue their kernels. Their"
        " times include the host's launches and vary with the CPU. The same run as a CUDA graph shows"
        " what the GPU alone needs. Methods: " + ", ".join(names) + "."
    )
    launch_bound = launch_bound.assign(
        per_launch=launch_bound["queue_seconds"] / launch_bound["kernels"].where(launch_bound["kernels"] > 0)
    )
    launch_bound = launch_bound.assign(waiting=launch_bound["seconds_median"] / launch_bound["replay_median"])
    mark = page.mark()
    page.table(
        "launches",
        launch_bound.sort_values(["waiting"], ascending=False, kind="stable"),
        [
            "problem method precision device size",
            ("kernels", "kernels", whole),
            ("per_launch", "per launch", seconds),
            "seconds_median",
            ("replay_median", "GPU alone", seconds),
            ("waiting", "times longer", factor),
        ],
        limit=80,
        caption="Launch-bound runs, longest waits first.",
        more_csv_columns=(),
    )
    page.fold("Table: launch-bound runs", mark)


def energy(page, results):
    """Adds the energy of one problem's methods over size, and the methods that use the least energy."""
    page.begin("energy", "Energy")
    rows = results.take_answered(ENERGY)
    rows = rows[(rows["energy_joules"] > 0) & (rows["status"] == "pass")]
    if not len(rows):
        page.remark("No energy was measured: `energy: 2s` in a plan does it on GPUs.")
        return
    with_ends = rows.assign(
        energy_low=rows["energy_joules"] - rows["energy_uncertainty"],
        energy_high=rows["energy_joules"] + rows["energy_uncertainty"],
    )
    point = "{of_seeds}{of_rounds}the energy of one run"
    more = {"ylog": True, "ends": ("the uncertainty of the energy",), "point": point}
    page.plots(
        plots_over_size(
            with_ends, "energy", "Energy", "energy per run [J]", "energy_joules", "energy_low", "energy_high", **more
        )
    )
    race = ["problem", "precision", "device", "task", "size"]
    rows = best(rows, [*race, "method"])
    rows = rows.assign(
        frugal=rows["flops"] / rows["energy_joules"] / 1e9, doubt=rows["energy_uncertainty"] / rows["energy_joules"]
    )
    rows = rows.sort_values([*race, "energy_joules"], kind="stable")
    group = rows.groupby(race, sort=False)
    rows["times"] = rows["energy_joules"] / group["energy_joules"].transform("first")
    first = group.head(1).set_index(race)
    fastest = rows.loc[group["seconds_median"].idxmin()].set_index(race)
    differing = [
        f"{key[0]}, {key[1]}, n = {int(key[-1])} on {key[2]}: {row['method']} takes the least energy,"
        f" {fastest.loc[key, 'method']} the least time"
        for key, row in first.iterrows()
        if row["method"] != fastest.loc[key, "method"]
    ]
    page.add_once(
        "Joules of one run, without the copying of operands, and their uncertainty. The sensors are good to about 5 %,"
        " the same for all methods on a GPU."
        + ("" if differing else " Of the methods measured, the fastest always takes the least energy too.")
    )
    if differing:
        page.items(differing[:12])
    page.table(
        "energy",
        rows,
        [
            "problem precision device task size method",
            ("energy_joules", "J per run", number),
            ("doubt", "±", percent),
            ("frugal", "GFLOP/s per watt", number),
            ("times", "over the least", factor),
            "seconds_median",
            ("idle_power_w", "idle [W]", number),
            ("energy_source", "measured by", None),
        ],
        limit=80,
        caption="Energy, least first.",
        more_csv_columns=("config",),
    )


def _clocks(page, records):
    """Adds the races (comparisons of all methods on one task and device) in which methods ran at different SM
    clocks."""
    rows = ranked_methods(records)
    rows = rows[rows["backend"] == "cuda"] if len(rows) else rows
    if not len(rows):
        return
    race = ["problem", "precision", "task", "size", "device"]
    clock = rows.groupby(race)["sm_clock_mhz"].agg(["min", "max"])
    differing = clock[clock["max"] > (1 + MOST_CLOCK_DIFFERENCE) * clock["min"]]
    if not len(differing):
        return
    page.heading("Clocks")
    page.items(
        f"{problem}, {precision}, n = {int(size)} on {device}: SM clocks from {low:.0f} to"
        f" {high:.0f} MHz, so part of the methods' difference may be due to the clock"
        for (problem, precision, _, size, device), low, high in list(differing.itertuples(name=None))[:12]
    )
    if len(differing) > 12:
        page.remark(f"{counted(len(differing) - 12, 'more race')} of this kind.")
