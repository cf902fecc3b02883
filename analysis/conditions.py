"""Condition numbers of the matrices."""

import re

import h5py
import numpy as np
import pandas as pd

from .hdf5 import DAMAGED


def conditions(records, attributes, store):
    """Returns the known condition numbers, NaN for the others. They come from a column of the file, else from the
    matrix store, else from the plan if it names exactly one condition number."""
    if "matrix_condition" in records:
        return pd.to_numeric(records["matrix_condition"], errors="coerce").astype(float)
    if "condition" in records and records["condition"].dtype.kind == "f":
        return records["condition"]
    condition = pd.Series(np.nan, index=records.index)
    condition[records["matrix_kind"] == "identity"] = 1.0
    by_condition = records["matrix_kind"] == "condition"
    if not by_condition.any():
        return condition
    in_plan = set(re.findall(r"condition:\s*([0-9][0-9.eE+-]*)\s*[,}\n]", attributes.get("plan", "") + "\n"))
    only = _number(in_plan.pop()) if len(in_plan) == 1 else np.nan
    known = {}
    for digest in records.loc[by_condition, "matrix_digest"].unique()[:5000]:  # at most, because each opens a file
        known[digest] = _stored_condition(store / f"{digest}.h5", only)
    condition[by_condition] = records.loc[by_condition, "matrix_digest"].map(known)
    return condition


def _stored_condition(path, otherwise):
    """Returns the condition number in the attributes of a stored matrix; `otherwise` if it has none."""
    try:
        with h5py.File(path, "r") as file:
            text = {k: v.decode() if isinstance(v, bytes) else str(v) for k, v in file.attrs.items()}
    except DAMAGED:
        return otherwise
    match = re.search(r"condition[=:\s]+([0-9][0-9.eE+-]*)", " ".join(text.values()))
    found = [_number(text.get("condition", "")), _number(match.group(1)) if match else np.nan]
    return next((value for value in found if np.isfinite(value)), otherwise)


def _number(text):
    """Returns the text as a number; NaN if it is not a number."""
    try:
        return float(text)
    except ValueError:
        return np.nan
