"""Runs `gaussweep compare` and `gaussweep trend` for their verdicts, so that the report needs no comparison rules of
its own."""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

from .loader import TRIAL

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


@functools.lru_cache(maxsize=16)
def _output_of(*arguments):
    """Runs the program and returns its JSON output. @raises CannotCompare"""
    command = [_program(), *map(str, arguments), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, REGRESSION):
        # Shows paths relative to the current folder, because pages are sent to others, who should not see its path.
        words = done.stderr.strip().replace(f"{Path.cwd()}/", "")
        raise CannotCompare(words or f"gaussweep {arguments[0]} ended with {done.returncode}")
    return json.loads(done.stdout)


def verdicts(base, new):
    """Maps (key, backend, GPU model) of each trial in both runs to its JSON row of `gaussweep compare BASE… NEW`, with
    a new entry `worse`: whether its answer became wrong. The GPU model is None for trials on the CPU. `base`: a list of
    results files; `new`: one file. @raises CannotCompare"""
    comparison = _compared(base, new)
    worse = {_trial_key(trial) for trial in comparison["accuracy"] if trial["verdict"] == "WORSE"}
    return {_trial_key(trial): {**trial, "worse": _trial_key(trial) in worse} for trial in comparison["trials"]}


def _compared(base, new):
    """Returns the JSON of `gaussweep compare BASE… NEW`. If `base` is empty, compare takes the earlier runs from `new`.
    @raises CannotCompare"""
    return _output_of("compare", *base, new, "--all", "--same-models")


def _trial_key(trial):
    """Returns the trial's key in the map that `verdicts` returns."""
    return trial["key"], trial["backend"], trial.get("new_place") if trial["backend"] == "cuda" else None


def _last_and_earlier(results):
    """Yields (file, [earlier files]) for each file with runs that are the last of their plan. The earlier files have
    runs of the same trials. jobs/slurm/night.sh compares with the same files for its mail."""
    before = results.earlier[[*TRIAL, "file"]]
    both = results.take([*TRIAL, "file"]).merge(before, on=TRIAL, suffixes=("", "_before"))
    for file, trials in both.groupby("file"):
        earlier_files = sorted(set(trials["file_before"]) - {file})
        yield results.files[file][0], [results.files[earlier_file][0] for earlier_file in earlier_files]


def regressions_of(results):
    """Returns the regressions of the last runs, as sentences of compare. @raises CannotCompare"""
    return [words for new, base in _last_and_earlier(results) for words in _compared(base, new)["regressions"]]


def advice_of(results):
    """Returns compare's advice about UNCLEAR trials, as sentences; an empty list if times cannot be compared."""
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
    files = {file for new, base in _last_and_earlier(results) for file in (new, *base)}
    return _output_of("trend", *sorted(files))


def models_of(results):
    """Returns the comparisons of pairs of device models from the JSON of `gaussweep compare --models` on all runs.
    @raises CannotCompare"""
    return _output_of("compare", *sorted({path for path, *_ in results.files}), "--models")["comparisons"]
