"""Runs `gaussweep compare` and `gaussweep trend` for their verdicts, so that the report needs no comparison rules of
its own."""

import functools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

REGRESSION = 4  # exit code of compare if it found a regression


class CannotCompare(Exception):
    """Raised if the program cannot compare the times; its text is the reason."""


def _program():
    """Returns the path of the program: $GAUSSWEEP, else a build next to this folder, else one in PATH."""
    root = Path(__file__).resolve().parents[1]
    builds = [root / "build" / "gaussweep", root / "build-cluster" / "gaussweep", root / "bin" / "gaussweep"]
    for candidate in [os.environ.get("GAUSSWEEP"), *builds, shutil.which("gaussweep")]:
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    raise CannotCompare("the program gaussweep was not found (set GAUSSWEEP to its path)")


@functools.lru_cache(maxsize=None)
def _output_of(*arguments):
    """Runs the program and returns its JSON output. An argument that is a tuple stands for a folder with these results
    files, which `gaussweep compare` reads as one set. An example is the shards of a sweep: the parts of its plan that
    ran as separate jobs. @raises CannotCompare"""
    with tempfile.TemporaryDirectory() as folder:
        sets = {files: f"{folder}/{i}" for i, files in enumerate(a for a in arguments if isinstance(a, tuple))}
        for files, path in sets.items():
            for i, file in enumerate(files):
                (Path(path) / str(i)).mkdir(parents=True)
                (Path(path) / str(i) / "results.h5").symlink_to(file)
        command = [_program(), *(sets.get(each, str(each)) for each in arguments), "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, REGRESSION):
        # Takes the error, without the notes before it.
        words = f"\n{done.stderr.strip()}".rpartition("\ngaussweep: ")[2].strip().removesuffix(".")
        for files, path in sets.items():
            for i, file in enumerate(files):
                words = words.replace(f"{path}/{i}/results.h5", str(file))
            words = words.replace(path, ", ".join(map(str, files)))
        # Shows paths relative to the current folder, because pages are sent to others, who should not see its path.
        raise CannotCompare(
            words.replace(f"{Path.cwd()}/", "") or f"gaussweep {arguments[0]} failed: {done.returncode}"
        )
    return json.loads(done.stdout)


def verdicts(base, new):
    """Maps (key, backend, GPU model) of each trial in both runs to its JSON row of `gaussweep compare BASE… NEW`. A new
    entry `worse` is true if its answer became wrong. The GPU model is None for trials on the CPU. `base` and `new`:
    lists of results files. @raises CannotCompare"""
    comparison = _compared(base, new)
    worse = {_trial_key(trial) for trial in comparison["accuracy"] if trial["verdict"] == "WORSE"}
    return {_trial_key(trial): {**trial, "worse": _trial_key(trial) in worse} for trial in comparison["trials"]}


def _compared(base, new):
    """Returns the JSON of `gaussweep compare BASE… NEW`. If `base` is empty, compare takes the earlier runs from `new`.
    @raises CannotCompare"""
    return _output_of("compare", *base, new[0] if len(new) == 1 else tuple(new), "--all", "--same-models")


def _trial_key(trial):
    """Returns the trial's key in the map that `verdicts` returns. `new_place` is the GPU model in the new run."""
    return trial["key"], trial["backend"], trial.get("new_place") if trial["backend"] == "cuda" else None


def _last_and_earlier(results):
    """Returns (files of the last run, earlier files) for each plan with earlier runs. All shards of a run are compared
    together. jobs/slurm/night.sh compares the same files for its mail."""
    last_files = results.take("plan_name file").groupby("plan_name")["file"].unique()
    earlier_files = results.earlier.groupby("plan_name")["file"].unique()
    # Keys are the files of the last run, not the plans: a merged file may have several plans, but is compared once.
    found = {}
    for plan in last_files.index.intersection(earlier_files.index):
        last = tuple(sorted(last_files[plan]))
        found.setdefault(last, set()).update(set(earlier_files[plan]) - set(last))
    paths = [path for path, _, _ in results.files]
    return [([paths[i] for i in last], [paths[i] for i in sorted(earlier)]) for last, earlier in found.items()]


def regressions_of(results):
    """Returns the regressions of the last runs, as sentences of compare. @raises CannotCompare"""
    return [words for new, base in _last_and_earlier(results) for words in _compared(base, new)["regressions"]]


def disturbed_of(results):
    """Returns the number of regressed times during which other programs used the CPUs. @raises CannotCompare"""
    return sum(_compared(base, new)["disturbed"] for new, base in _last_and_earlier(results))


def differences_of(results):
    """Returns what compare found to differ between the last runs and the earlier ones: parameters, tolerances and
    matrix files, as texts. Leaves out plans whose times cannot be compared."""
    found = []
    for new, base in _last_and_earlier(results):
        try:
            compared = _compared(base, new)
        except CannotCompare:
            continue
        found += compared["changed_parameters"]
        found += [f"tolerance: {words}" for words in compared["changed_tolerances"]]
        found += [f"matrix file {name}" for name in compared["changed_files"]]
    return list(dict.fromkeys(found))


def advice_of(results):
    """Returns compare's advice about trials with the verdict UNCLEAR, as sentences; an empty list if times cannot be
    compared."""
    try:
        return [words for new, base in _last_and_earlier(results) for words in _compared(base, new)["advice"]]
    except CannotCompare:
        return []


def verdicts_of(results):
    """Returns `verdicts` of the last runs compared with all earlier runs of their plans. @raises CannotCompare"""
    found = {}
    for new, base in _last_and_earlier(results):
        found.update(verdicts(base, new))
    return found


def trend_of(results):
    """Returns the JSON of `gaussweep trend` on all runs. @raises CannotCompare"""
    files = {file for new, base in _last_and_earlier(results) for file in (*new, *base)}
    return _output_of("trend", *sorted(files))


def models_of(results):
    """Returns the comparisons of pairs of device models from the JSON of `gaussweep compare --models` on all runs.
    @raises CannotCompare"""
    return _output_of("compare", *sorted({path for path, *_ in results.files}), "--models")["comparisons"]
