"""What `gaussweep compare` and `gaussweep trend` say of the runs: the report has no rule of its own."""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

from .loader import TRIAL

REGRESSION = 4  # compare's exit code


class Unjudged(Exception):
    """Why times are not compared, in words."""


def _program():
    """The program: $GAUSSWEEP, a build beside this folder, or one in PATH."""
    root = Path(__file__).resolve().parents[1]
    builds = [root / "build" / "gaussweep", root / "build-cluster" / "gaussweep", root / "bin" / "gaussweep"]
    for candidate in [os.environ.get("GAUSSWEEP"), *builds, shutil.which("gaussweep")]:
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    raise Unjudged("no program gaussweep is here (GAUSSWEEP may name it)")


@functools.lru_cache(maxsize=16)
def _said(*arguments):
    """What the program says in JSON. @raises Unjudged"""
    command = [_program(), *map(str, arguments), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, REGRESSION):
        raise Unjudged(done.stderr.strip() or f"gaussweep {arguments[0]} ended with {done.returncode}")
    return json.loads(done.stdout)


def verdicts(base, new):
    """(key, backend, GPU; None on the CPU) -> what `gaussweep compare BASE… NEW` says of a trial of both: its row in
    JSON, and `worse`: the answer became wrong. @raises Unjudged"""
    said = _compared(base, new)
    worse = {_place(trial) for trial in said["accuracy"] if trial["verdict"] == "WORSE"}
    return {_place(trial): {**trial, "worse": _place(trial) in worse} for trial in said["trials"]}


def _compared(base, new):
    """What `gaussweep compare` says over time. Without a base the runs in `new` are compared. @raises Unjudged"""
    return _said("compare", *base, new, "--all", "--same-models")


def _place(trial):
    return trial["key"], trial["backend"], trial.get("new_place") if trial["backend"] == "cuda" else None


def _again(night):
    """Files of last runs, and other files with runs of the same trials before them: the base of the mail too."""
    before = night.earlier[[*TRIAL, "file"]]
    both = night.take([*TRIAL, "file"]).merge(before, on=TRIAL, suffixes=("", "_before"))
    for i, trials in both.groupby("file"):
        others = sorted(set(trials["file_before"]) - {i})
        yield night.files[i][0], [night.files[j][0] for j in others]


def regressions_of(night):
    """Those of a night, in compare's words. @raises Unjudged"""
    return [words for new, base in _again(night) for words in _compared(base, new)["regressions"]]


def advice_of(night):
    """What would decide about UNCLEAR trials, in compare's words; nothing where times are not compared."""
    try:
        return [words for new, base in _again(night) for words in _compared(base, new)["advice"]]
    except Unjudged:
        return []


def verdicts_of(night):
    """Those of a night and all runs of its plans before it. @raises Unjudged"""
    said = {}
    for new, base in _again(night):
        said.update(verdicts(base, new))
    return said


def trend_of(night):
    """What `gaussweep trend` says of all runs: its JSON. @raises Unjudged"""
    files = {file for new, base in _again(night) for file in (new, *base)}
    return _said("trend", *sorted(files))
