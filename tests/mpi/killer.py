"""Kills sweeps at random moments and checks that nothing is lost.

    killer.py [--rounds N] [--seed S] [--trials T] [--verbose]

Each round: a sweep of T short trials over 1 to 4 ranks is started; at a random moment a worker, a supervisor, rank 0
or everything is killed (kill -9), or told to stop (SIGTERM); results.h5 must open in h5py (where it is not there yet,
after the documented rebuild); the sweep is resumed, with another number of ranks and another limit of the matrix store,
and may be killed again. In the end the records must equal those of an undisturbed run: same keys, no key twice, same
statuses and inputs' digests.
"""

import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py

import harness
from harness import FAULTY, GAUSSWEEP

KINDS = ("worker", "supervisor", "rank 0", "all", "SIGTERM")


def plan_text(trials):
    seeds = list(range(1, trials // 2 + 1))
    return ("name: killed\nrepeats: 1\nwarmup: 0\nmatrix: {kind: diagonally_dominant}\nsweep:\n"
            f"  - {{problem: gesv, method: fault_none, n: 6, milliseconds: 2, seed: {seeds}}}\n"
            f"  - {{problem: gesv, method: [fault_lie, gauss_serial], n: 5, seed: {seeds[:len(seeds) // 2]},\n"
            "     expect: {fault_lie: failed}}\n")


def children(pid):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


def family(pid):
    """All descendants, with their command lines."""
    everyone = []
    for child in children(pid):
        try:
            words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        everyone.append((child, words))
        everyone += family(child)
    return everyone


def rank_of(pid):
    try:
        for entry in pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0"):
            if entry.startswith("OMPI_COMM_WORLD_RANK="):
                return int(entry.split("=")[1])
    except OSError:
        pass
    return 0


def kill(pid, number):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def strike(process, kind, dice):
    """Does what `kind` says to the sweep. False where its victim was not there."""
    everyone = [(process.pid, [])] + family(process.pid)
    workers = [pid for pid, words in everyone if "worker" in words[1:2]]
    supervisors = [pid for pid, words in everyone if "run" in words[1:2]] or [process.pid]
    if kind == "worker":
        return bool(workers) and kill(dice.choice(workers), signal.SIGKILL)
    if kind == "supervisor":
        return kill(dice.choice(supervisors), signal.SIGKILL)
    if kind == "rank 0":
        return kill(next((pid for pid in supervisors if rank_of(pid) == 0), process.pid), signal.SIGKILL)
    if kind == "all":
        for pid, _ in everyone:
            kill(pid, signal.SIGKILL)
        return True
    return kill(process.pid, signal.SIGTERM)


def outcome(directory):
    """Key → what must not depend on kills. Fails where a key is there twice."""
    with h5py.File(directory / "results.h5", "r") as file:
        rows = file["records"][:]
    result = {}
    for row in rows:
        assert row["key"] not in result, f"{row['key']} twice"
        result[row["key"]] = (row["status"], row["matrix_digest"])
    return result


def check_openable(directory, rebuilt):
    if not (directory / "journal.jsonl").exists():
        return
    target = directory / "results.h5"
    if not target.exists():
        # the documented way to rebuild it from the journal; a journal without a record has nothing to rebuild
        if not harness.journal(directory)[0]:
            return
        target = rebuilt
        target.unlink(missing_ok=True)
        done = harness.run(["merge", directory / "journal.jsonl", "-o", target], program=FAULTY)
        assert done.returncode == 0, done.stderr
    with h5py.File(target, "r") as file:
        len(file["records"])


def one_round(number, dice, folder, plan, expected, verbose):
    directory = folder / f"run-{number}"
    kills = []
    for attempt in range(12):
        ranks = dice.choice((0, 1, 2, 3, 4))
        limit = dice.choice(("none", "200KiB", "40KiB"))
        process = subprocess.Popen(harness.command(["run", plan, "-o", directory, "--resume", "--grace", "2", "--store-limit", limit],
                                                    ranks, FAULTY),
                                   env=harness.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        kind = dice.choice(KINDS) if attempt < 10 and (attempt == 0 or dice.random() < 0.3) else None
        if kind is not None:
            time.sleep(dice.uniform(0, 1.2))
            if process.poll() is None and strike(process, kind, dice):
                kills.append((ranks, kind))
        try:
            _, errors = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(f"a run hung after {kills}") from None
        check_openable(directory, folder / "rebuilt.h5")
        if process.returncode == 0:
            break
        assert kind is not None or process.returncode in (0, 5), f"undisturbed run ended with {process.returncode}:\n{errors}"
    else:
        raise AssertionError(f"not finished after 12 starts, {kills}")
    found = outcome(directory)
    assert found == expected, (f"round {number}, {kills}: {len(found)} records, expected {len(expected)}; "
                               f"different: {[k for k in expected if found.get(k) != expected[k]][:3]}")
    shutil.rmtree(directory)
    if verbose:
        print(f"round {number}: {kills}", flush=True)
    return [kind for _, kind in kills]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=None, help="default: from the clock; it is printed")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else time.time_ns() % 2**32
    print(f"seed {seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gaussweep-killer-"))
    plan = folder / "plan.yaml"
    plan.write_text(plan_text(arguments.trials))
    done = harness.run(["run", plan, "-o", folder / "undisturbed"], 2, FAULTY)
    assert done.returncode == 0, done.stderr
    expected = outcome(folder / "undisturbed")
    kills = collections.Counter()
    for number in range(arguments.rounds):
        kills.update(one_round(number, random.Random(f"{seed}/{number}"), folder, plan, expected, arguments.verbose))
    shutil.rmtree(folder)
    words = ", ".join(f"{count} {kind}" for kind, count in sorted(kills.items()))
    print(f"{arguments.rounds} rounds of {len(expected)} trials, {kills.total()} kills ({words}), no record lost, none twice")
    return 0


if __name__ == "__main__":
    sys.exit(main())
