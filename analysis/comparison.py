"""What `gaussweep compare` says of this run and the one before: the report has no rule of its own."""

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


def verdicts(base, new):
    """(key, backend, GPU; None on the CPU) -> "SLOWER", …, of the trials that both results files have."""
    command = [_program(), "compare", *map(str, base), str(new), "--format", "json", "--all"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in (0, REGRESSION):
        raise Unjudged(done.stderr.strip() or f"gaussweep compare ended with {done.returncode}")
    trials = json.loads(done.stdout)["trials"]
    return {(t["key"], t["backend"], t["new_place"] if t["backend"] == "cuda" else None): t["verdict"] for t in trials}


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
