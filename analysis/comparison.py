"""What `gaussweep compare` and `gaussweep trend` say of the runs: the report has no rule of its own."""

import json
import os
import shutil
import subprocess
from pathlib import Path

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


def _said(*arguments):
    """What the program says in JSON. @raises Unjudged"""
    command = [_program(), *map(str, arguments), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, REGRESSION):
        raise Unjudged(done.stderr.strip() or f"gaussweep {arguments[0]} ended with {done.returncode}")
    return json.loads(done.stdout)


def verdicts(base, new):
    """(key, backend, GPU; None on the CPU) -> "SLOWER", …, of the trials that both results files have."""
    trials = _said("compare", *base, new, "--all")["trials"]
    return {(t["key"], t["backend"], t["new_place"] if t["backend"] == "cuda" else None): t["verdict"] for t in trials}


def changes_over(night):
    """What `gaussweep trend` says of each plan's runs: a sentence a change, the latest first. @raises Unjudged"""
    sentences = []
    for _, records in night.earlier.groupby("plan_name"):
        again = night.records.loc[night.records["key"].isin(records["key"]), "file"]
        files = sorted({*records["file"], *again})
        sentences += _said("trend", *(night.files[i][0] for i in files))["changes"]
    return sentences


def verdicts_of(night):
    """Those of a night and the last run before it of each plan. @raises Unjudged"""
    said = {}
    before = night.earlier[night.earlier["ago"] == 1]
    for plan, records in before.groupby("plan_name"):
        base = [night.files[i][0] for i in sorted(records["file"].unique())]
        again = night.records[(night.records["plan_name"] == plan) & night.records["key"].isin(records["key"])]
        for i in sorted(again["file"].unique()):
            said.update(verdicts(base, night.files[i][0]))
    return said
