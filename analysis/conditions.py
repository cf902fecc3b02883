"""Finds the condition numbers of the records' matrices, of which only some kinds have a known one."""

import re

import h5py
import numpy as np
import pandas as pd

from .hdf5 import DAMAGED


def conditions(records, attributes, store):
    """Returns the condition number of each record's matrix; NaN if it is unknown. Sources are, in this order, a column
    of the file, the matrix store (the folder `store`), and the plan. The plan is used only if it names exactly one
    condition number."""
    if "matrix_condition" in records:
        return pd.to_numeric(records["matrix_condition"], errors="coerce").astype(float)
    if "condition" in records and records["condition"].dtype.kind == "f":
        return records["condition"]
    condition = pd.Series(np.nan, index=records.index)
    condition[records["matrix_kind"] == "identity"] = 1.0
    is_condition_kind = records["matrix_kind"] == "condition"
    if not is_condition_kind.any():
        return condition
    numbers_in_plan = set(re.findall(r"condition:\s*([0-9][0-9.eE+-]*)\s*[,}\n]", attributes.get("plan", "") + "\n"))
    plan_condition = _number(numbers_in_plan.pop()) if len(numbers_in_plan) == 1 else np.nan
    condition_of = {}
    # At most 5000 matrices are looked up, because each lookup opens a file.
    for digest in records.loc[is_condition_kind, "matrix_digest"].unique()[:5000]:
        condition_of[digest] = _stored_condition(store / f"{digest}.h5", plan_condition)
    condition[is_condition_kind] = records.loc[is_condition_kind, "matrix_digest"].map(condition_of)
    return condition


def _stored_condition(path, otherwise):
    """Returns the condition number in the attributes of a stored matrix; `otherwise` if it has none."""
    try:
        with h5py.File(path, "r") as file:
            attribute_texts = {k: v.decode() if isinstance(v, bytes) else str(v) for k, v in file.attrs.items()}
    except DAMAGED:
        return otherwise
    match = re.search(r"condition[=:\s]+([0-9][0-9.eE+-]*)", " ".join(attribute_texts.values()))
    found = [_number(attribute_texts.get("condition", "")), _number(match.group(1)) if match else np.nan]
    return next((value for value in found if np.isfinite(value)), otherwise)


def _number(text):
    """Returns the text as a number; NaN if it is not a number."""
    try:
        return float(text)
    except ValueError:
        return np.nan
