"""Verdicts of `gaussweep compare` and `gaussweep trend` on the runs: the report has no comparison rule of its own."""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

from .loader import TRIAL

REGRESSION = 4  # compare's exit code


class Unjudged(Exception):
    """Raised if times cannot be compared; its text is the reason."""


def _program():
    """Returns the path of the program: $GAUSSWEEP, a build next to this folder, or one in PATH."""
    root = Path(__file__).resolve().parents[1]
    builds = [root / "build" / "gaussweep", root / "build-cluster" / "gaussweep", root / "bin" / "gaussweep"]
    for candidate in [os.environ.get("GAUSSWEEP"), *builds, shutil.which("gaussweep")]:
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    raise Unjudged("the program gaussweep was not found (set GAUSSWEEP to its path)")


@functools.lru_cache(maxsize=16)
def _output_of(*arguments):
    """Runs the program and returns its JSON output. @raises Unjudged"""
    command = [_program(), *map(str, arguments), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, REGRESSION):
        # Paths become relative to the current folder, because a page that is sent to others should not show its path.
        words = done.stderr.strip().replace(f"{Path.cwd()}/", "")
        raise Unjudged(words or f"gaussweep {arguments[0]} ended with {done.returncode}")
    return json.loads(done.stdout)


def verdicts(base, new):
    """Maps (key, backend, GPU) of each trial in both runs to its JSON row of `gaussweep compare BASE… NEW`. The GPU is
    None on the CPU. Adds `worse`: the answer became wrong. @raises Unjudged"""
    said = _compared(base, new)
    worse = {_place(trial) for trial in said["accuracy"] if trial["verdict"] == "WORSE"}
    return {_place(trial): {**trial, "worse": _place(trial) in worse} for trial in said["trials"]}


def _compared(base, new):
    """Returns the JSON of `gaussweep compare` over time. Without a base the runs in `new` are compared. @raises
    Unjudged"""
    return _output_of("compare", *base, new, "--all", "--same-models")


def _place(trial):
    """Returns a trial's key in `verdicts`."""
    return trial["key"], trial["backend"], trial.get("new_place") if trial["backend"] == "cuda" else None


def _last_and_earlier(night):
    """Yields (file, [earlier files]) for each file of last runs. The earlier files have runs of the same trials. The
    mail of jobs/slurm/night.sh compares with the same files."""
    before = night.earlier[[*TRIAL, "file"]]
    both = night.take([*TRIAL, "file"]).merge(before, on=TRIAL, suffixes=("", "_before"))
    for i, trials in both.groupby("file"):
        others = sorted(set(trials["file_before"]) - {i})
        yield night.files[i][0], [night.files[j][0] for j in others]


def regressions_of(night):
    """Returns the regressions of a night, as compare words them. @raises Unjudged"""
    return [words for new, base in _last_and_earlier(night) for words in _compared(base, new)["regressions"]]


def advice_of(night):
    """Returns compare's advice about UNCLEAR trials; an empty list if times are not compared."""
    try:
        return [words for new, base in _last_and_earlier(night) for words in _compared(base, new)["advice"]]
    except Unjudged:
        return []


def verdicts_of(night):
    """Returns `verdicts` of a night against all earlier runs of its plans. @raises Unjudged"""
    said = {}
    for new, base in _last_and_earlier(night):
        said.update(verdicts(base, new))
    return said


def trend_of(night):
    """Returns the JSON of `gaussweep trend` over all runs. @raises Unjudged"""
    files = {file for new, base in _last_and_earlier(night) for file in (new, *base)}
    return _output_of("trend", *sorted(files))


def models_of(night):
    """Returns the comparisons of device models that `gaussweep compare --models` makes of all runs. @raises Unjudged"""
    return _output_of("compare", *sorted({path for path, *_ in night.files}), "--models")["comparisons"]
