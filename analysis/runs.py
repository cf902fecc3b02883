"""Divides records into runs of plans. Finds the plan and the start of each run, and the sets of runs that are compared
with one another. The shards of a job array are runs too; together they are one set."""

import json

import numpy as np
import pandas as pd

# Two records are runs of the same trial if these columns agree. `same_trial`: the number of the trial, as
# `loader._number_trials` returns it. `gpus`: the GPU models that the run used on the host.
TRIAL = ["same_trial", "backend", "gpus", "capability", "host", "plan_name"]
SEQUENCE = ["gpus", "host", "plan_name"]  # runs that agree in these columns repeat one another over time


def plan_names(run_ids, attributes, name):
    """Returns the name of the plan of each record. The attribute `plan_name` of a merged file (`name`) may list several
    plans; then `merged_from` has the plan of each run. A run whose plan is unknown counts as a plan of its own.
    Otherwise its trials could be taken for earlier runs of another plan."""
    try:
        parts = json.loads(attributes.get("merged_from") or "[]")
    except ValueError:
        parts = []
    names = {part.get("run_id", ""): part.get("plan_name", "") for part in parts}
    if ", " not in name or not parts or set(names.values()) == {name}:
        return name
    run_ids = run_ids.astype(object)
    return run_ids.map({run: names.get(run) or f"{name}, run {run}" for run in run_ids.unique()})


def gpu_models(records):
    """Returns the GPU model of each record. A trial on the CPU gets all models that its run used on the host. If there
    are none, it gets the models of all runs on that host. `records`: the columns run_id, host and gpu_name."""
    gpus = records["gpu_name"]
    for columns in (["run_id", "host"], ["host"]):
        named = (
            records[records["gpu_name"] != ""].groupby(columns)["gpu_name"].agg(lambda of: ", ".join(sorted(set(of))))
        )
        models = records[columns].merge(named.rename("models"), left_on=columns, right_index=True, how="left")["models"]
        gpus = gpus.where(gpus != "", models.fillna(""))
    return gpus


def _sets(records):
    """Yields the row labels of each set of runs. As for `gaussweep compare`, a set is a series of runs without common
    trials, such as the shards of a job array. A run that repeats a trial begins the next set. `records`: sorted by the
    start of their run, with the trial's number in `trial_`."""
    trials_of_set, runs_of_set = set(), []
    for _, run in records.groupby("run_id", sort=False):
        run_trials = set(run.loc[run["status"] != "skipped", "trial_"])
        if not trials_of_set.isdisjoint(run_trials):
            yield np.concatenate(runs_of_set)
            trials_of_set, runs_of_set = set(), []
        trials_of_set |= run_trials
        runs_of_set.append(run.index)
    yield np.concatenate(runs_of_set)


def run_starts(records):
    """Returns the start of each record's run. The records of a resumed run begin at different times, and those of
    merged shards have several run ids. As for `gaussweep trend`, a set of runs in a file is one run. `records`: the
    columns of TRIAL, and run_id, start_time, status and file."""
    start = records.groupby(["plan_name", "run_id"])["start_time"].transform("min")
    order = records.assign(start_=start, trial_=records.groupby(TRIAL, sort=False).ngroup())
    order = order.sort_values("start_", kind="stable")
    for _, of_file in order.groupby(["file", "plan_name"], sort=False):
        if of_file["run_id"].nunique() > 1:
            for rows in _sets(of_file):
                start[rows] = start[rows].min()
    return start


def is_in_last_set(order):
    """Returns whether each record belongs to the last set of runs of its sequence. `order`: the records, sorted by the
    start of their run."""
    order = order.assign(trial_=order.groupby(TRIAL, sort=False).ngroup())
    is_last = pd.Series(False, index=order.index)
    for _, sequence in order.groupby(SEQUENCE, sort=False):
        *_, last = _sets(sequence)
        is_last[last] = True
    return is_last
