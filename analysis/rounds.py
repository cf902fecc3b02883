"""Pools the rounds of trials, as `gaussweep summary` does. A plan with several rounds repeats all of its trials in
fresh processes; each round of a trial has a record of its own."""

import numpy as np
import pandas as pd

from .identity import CONDITIONS
from .words import counted

# Records of one run that agree in these columns are rounds of one trial.
SAME_IN_ROUNDS = [
    *"""run_id plan_name problem method backend precision m n k nrhs batch uplo parameters matrix
matrix_kind matrix_parameters matrix_seed gpu_name capability gpu_count library_digest""".split(),
    *CONDITIONS,
]
_ONCE_PER_ROUND = "allocate_seconds h2d_seconds d2h_seconds energy_joules energy_uncertainty".split()


def joint_codes(columns):
    """Returns an integer per row. Two rows have the same integer if all columns agree."""
    codes = 0
    for column in columns:
        # Combines the codes as digits of a mixed-radix number, and numbers the results from 0 to prevent an overflow.
        values = pd.factorize(column)[0].astype(np.int64) + 1
        codes = pd.factorize(codes * (values.max(initial=0) + 1) + values)[0]
    return codes


def pool_rounds(results):
    """Gives all rounds of a trial the same times, as `gaussweep summary` does. The median is that of the rounds'
    medians. The quartiles are those of one list, which has the quartiles and medians of all rounds. Otherwise sections
    that select the fastest record would show the fastest round. If a trial has several rounds, its runs by other plans
    count as further rounds. Adds three columns. `rounds` is the number of a trial's rounds. `pooled` is a number that
    all rounds of a trial share. `spread` is the interquartile range of the record's own samples over their median."""
    new_columns = _with_pooled_rounds(results.take)
    runs_of_trials = results.take("run_id").assign(pooled=new_columns["pooled"])[new_columns["rounds"] > 1]
    count = (runs_of_trials.groupby("pooled")["run_id"].nunique() > 1).sum()
    if count:
        results.warnings.append(
            f"{counted(count, 'trial')} with several rounds in more than one run: a time is the median over all of its"
            " rounds and runs, and captions count each run as a round"
        )
    results.table = pd.DataFrame({**dict(results.table.items()), **new_columns}, copy=False)
    if results.earlier is not None:
        earlier = results.earlier
        results.earlier = earlier.assign(**_with_pooled_rounds(lambda names: earlier[names].copy(), is_last=False))


def _with_pooled_rounds(take, is_last=True):
    """Returns the columns that `pool_rounds` changes and adds. `take`: returns columns of the records; `is_last`: true
    for the records of each plan's last run. Then further runs of a trial by other plans are pooled, too, if it has
    several rounds."""
    times = ["seconds_min", "seconds_q1", "seconds_median", "seconds_q3", "seconds_max"]
    records = take([*SAME_IN_ROUNDS, *times, "round", "gflops", "peak_share"])
    spread = (records["seconds_q3"] - records["seconds_q1"]) / records["seconds_median"]
    rounds, trial, pooled = pd.Series(1, index=records.index), pd.Series(np.arange(len(records)), records.index), {}
    if (records["round"] > 1).any():
        records = records.join(take([*_ONCE_PER_ROUND, "seconds_mean"]))
        trial_of_run = records.groupby(SAME_IN_ROUNDS, sort=False, dropna=False).ngroup()
        trial_of_runs = (
            _of_several_runs(records.join(take(["matrix_digest", "host", "threads"])), trial_of_run)
            if is_last
            else trial_of_run
        )
        has_rounds = records["round"].groupby(trial_of_runs).transform("max") > 1
        # A record without further rounds is a trial of its own. It gets a number that no trial in `trial_of_runs` has.
        trial = trial_of_runs.where(has_rounds, len(records) + trial)
        group = records.groupby(trial, sort=False)
        round_of_trial = pd.Series(joint_codes([trial_of_run, records["round"]]), records.index)
        rounds = round_of_trial.groupby(trial).transform("nunique")
        quartiles_and_medians = pd.concat([records[name].set_axis(trial) for name in times[1:4]]).groupby(level=0)
        pooled = {name: group[name].transform(name[len("seconds_") :]) for name in times[::2]}  # min, median, max
        pooled.update({name: group[name].transform("median") for name in _ONCE_PER_ROUND})
        pooled.update(seconds_mean=group["seconds_mean"].transform("mean"))
        pooled.update(
            seconds_q1=trial.map(quartiles_and_medians.quantile(0.25)),
            seconds_q3=trial.map(quartiles_and_medians.quantile(0.75)),
        )
        pooled = {name: records[name].where(rounds == 1, values) for name, values in pooled.items()}
        has_time = (rounds > 1) & (records["seconds_median"] > 0)
        time_over_pooled = (records["seconds_median"] / pooled["seconds_median"]).where(has_time, 1)
        for name in ("gflops", "peak_share"):
            # A rate is inversely proportional to the time, so it is scaled to the pooled time. All rounds should then
            # have the same rate; the median removes differences in the last bit.
            pooled[name] = (
                (records[name] * time_over_pooled).groupby(trial).transform("median").where(has_time, records[name])
            )
        # A record without an own time keeps none.
        pooled.update({name: values.where(records[name].notna()) for name, values in pooled.items()})
    return {**pooled, "rounds": rounds, "pooled": trial, "spread": spread}


def _of_several_runs(records, of_run):
    """Returns an integer per record, which is equal for runs of the same trial on the same device. For a GPU this means
    the same model; for a CPU the same host and number of threads. `of_run`: the number of the record's trial in its
    run."""
    # A round without an answer may lack the digest, and the rounds of a CPU trial may be on several hosts.
    shared = {name: records[name].groupby(of_run).transform("max") for name in ("matrix_digest", "host", "threads")}
    shared["host"] = shared["host"].where(records["backend"] != "cuda", "")
    same = [name for name in SAME_IN_ROUNDS if name not in ("run_id", "plan_name")]
    return records.assign(**shared).groupby([*same, *shared], sort=False, dropna=False).ngroup()
