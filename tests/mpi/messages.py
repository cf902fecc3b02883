"""Runs random sweeps with long messages and the smallest eager limits, and kills some of them.

    messages.py [--sweeps N] [--jobs J] [--ranks R] [--seed S] [--verbose]

Records have 1 kB to 1 MB (samples, messages, residual histories), batches have 1 to 128 trials. A sweep has 2 to 8
ranks, or R. The ranks use shared memory or TCP. In two of three cases messages beyond 128 bytes use MPI's rendezvous
protocol. Half of the sweeps are killed or signalled once and resumed. At the end the journal must have every trial
exactly once. J sweeps run concurrently.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import harness
from harness import FAULTY
from killer import LAUNCHER_HUNG, MOST_HUNG, one_start

KINDS = ("worker", "supervisor", "rank 0", "all", "SIGTERM")
TRANSPORTS = (
    {},
    {"OMPI_MCA_btl_vader_eager_limit": "128", "OMPI_MCA_btl_vader_rndv_eager_limit": "128"},
    {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_eager_limit": "128", "OMPI_MCA_btl_tcp_rndv_eager_limit": "128"},
)
MOST_SAMPLES = 40000  # per sweep


def plan_text(dice):
    repeats = dice.choice((1, 30, 300, 3000, 12000))
    trials = dice.randint(1, min(400, max(1, MOST_SAMPLES // repeats)))
    seeds = list(range(1, trials // 4 + 2))
    lines = [
        f"name: messages\nrepeats: {repeats}\nwarmup: 0\nstages: never\nstore: never\nsweep:",
        "  - {problem: gesv, method: [gauss_serial, gauss_jordan_serial, gauss_pivot_serial, crout],"
        f" n: {dice.randint(1, 20)}, seed: {seeds}, matrix: {{kind: diagonally_dominant}}}}",
    ]
    if dice.random() < 0.5:
        characters = dice.choice((1000, 30000, 1000000))
        some = seeds[: max(1, min(len(seeds), 3000000 // characters))]
        lines.append(
            f"  - {{problem: gesv, method: fault_throw, n: 3, seed: {some}, characters: {characters}, repeats: 1,"
            " matrix: {kind: diagonally_dominant}, expect: {fault_throw: error}}"
        )
    if dice.random() < 0.3:
        lines.append(
            "  - {problem: getrf, method: fixed_point, n: [6, 9], repeats: 1, matrix: {kind: diagonally_dominant}}"
        )
    return "\n".join(lines) + "\n"


def planned_keys(plan):
    done = harness.run(["run", plan, "-o", plan.parent / "none", "--dry-run", "--backend", "emulated"], 0, FAULTY)
    assert done.returncode == 0, done.stderr
    return sorted(line.split(" ", 1)[0] for line in done.stdout.splitlines()[:-1])


def one_sweep(number, dice, folder, ranks, verbose):
    sweep_folder = folder / f"sweep-{number}"
    sweep_folder.mkdir()
    plan, directory, console_log = sweep_folder / "plan.yaml", sweep_folder / "run", sweep_folder / "console"
    plan.write_text(plan_text(dice))
    ranks = ranks or dice.randint(2, 8)
    transport = dice.choice(TRANSPORTS)
    kind = dice.choice(KINDS) if dice.random() < 0.5 else None
    description = f"sweep {number}: {ranks} ranks, {kind}, {transport}, {plan.read_text()}"
    begin = time.monotonic()
    struck, code = [], None
    for _ in range(8):
        command = harness.command(
            ["run", plan, "-o", directory, "--resume", "--backend", "emulated", "--grace", "2"], ranks, FAULTY
        )
        with open(console_log, "w") as console:
            try:
                code, strike = one_start(command, kind, console, dice, transport)
            except AssertionError as error:
                raise AssertionError(f"{description}: {error}\n{console_log.read_text()[-2000:]}") from None
        if strike:
            struck.append(strike)
        if code == 0:
            break
        assert kind or strike, f"{description}: exit code {code}\n{console_log.read_text()[-2000:]}"
        kind = None
    assert code == 0, f"{description}: not finished, {struck}"
    keys = sorted(record["key"] for record in harness.journal(directory)[0])
    assert keys == planned_keys(plan), f"{description}: {len(keys)} records, {len(set(keys))} keys"
    size = (directory / "journal.jsonl").stat().st_size / len(keys)
    if verbose:
        print(
            f"sweep {number}: {len(keys)} records of {size:.0f} bytes, {ranks} ranks, {struck}, "
            f"{time.monotonic() - begin:.1f} s",
            flush=True,
        )
    shutil.rmtree(sweep_folder)
    return struck


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="sweeps at a time")
    parser.add_argument("--ranks", type=int, default=0, help="default: 2 to 8")
    parser.add_argument("--seed", type=int, default=None, help="default: from the clock; it is printed")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else time.time_ns() % 2**32
    print(f"seed {seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gaussweep-messages-"))
    strikes = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        sweeps = [
            pool.submit(
                one_sweep, number, random.Random(f"{seed}/{number}"), folder, arguments.ranks, arguments.verbose
            )
            for number in range(arguments.sweeps)
        ]
        try:
            for done in concurrent.futures.as_completed(sweeps):
                strikes.update(done.result())
        except (AssertionError, subprocess.SubprocessError):
            pool.shutdown(cancel_futures=True)
            raise
    shutil.rmtree(folder)
    description = ", ".join(f"{count} {kind}" for kind, count in sorted(strikes.items()))
    assert strikes[LAUNCHER_HUNG] <= max(1, arguments.sweeps * MOST_HUNG // 100), description
    print(f"{arguments.sweeps} sweeps, {strikes.total()} strikes ({description}), every record exactly once")
    return 0


if __name__ == "__main__":
    sys.exit(main())
