"""Makes the names of a trial's matrix and operands. A trial is one method on one matrix. Short names have only
properties that vary between the trials."""

import json

import numpy as np
import pandas as pd

# The conditions of measurement under which methods are compared separately (rows of io/plan/settings.cpp), with their
# usual values. Older files lack these columns, or have empty texts.
CONDITIONS = {"cache": "warm", "host_memory": "pageable"}


def parameters(text):
    """Returns the JSON object in the text as a dict; an empty dict if the text is not a JSON object."""
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def name_tasks(records):
    """Adds columns that name what a trial solves:
    `matrix_name`: the matrix file's name or the kind, the parameters in which matrices of that name differ, and the
    condition number;
    `matrix_full`: the file's name or the kind, and all parameters;
    `system`: `matrix_name`, and the seed if the problem has several seeds;
    `operands`: numbers of right-hand sides and of systems in a batch, triangle, shape of a product, and conditions
    ("cold cache"); each only if it is unusual or varies;
    `task`: system and operands. Trials with the same problem, precision, size and `task` solve the same system, so that
    their methods compete."""
    records["matrix_name"] = _matrix_names(records, _distinct_names)
    records["matrix_full"] = _matrix_names(records, _full_names)
    seeds_differ = _varies(records, ["problem"], "matrix_seed")
    records["system"] = records["matrix_name"].where(
        ~seeds_differ, records["matrix_name"] + ", seed " + records["matrix_seed"].astype(str)
    )
    records["operands"] = _operands(records)
    records["task"] = records["system"].where(records["operands"] == "", records["system"] + ", " + records["operands"])


def _by_value(frame, words):
    """Returns one text per row. The function `words` maps a frame to the texts of its rows. It is called once, with the
    distinct rows only, because a million records may have few of them."""
    number_of_row = frame.groupby(list(frame), sort=False, dropna=False).ngroup().to_numpy()
    is_first = ~pd.Series(number_of_row).duplicated().to_numpy()
    texts = np.empty(int(is_first.sum()), dtype=object)
    texts[number_of_row[is_first]] = words(frame[is_first])
    return pd.Series(texts[number_of_row], index=frame.index, dtype=object)


def _varies(records, by, column):
    """Returns, per row, whether its group (the rows with the same values of the columns `by`) has several values of
    `column`."""
    return records.groupby(by)[column].transform("nunique") > 1


def _matrix_names(records, words):
    label = records["matrix"].where(records["matrix"] != "", records["matrix_kind"])
    return _by_value(pd.DataFrame({"label": label, "text": records["matrix_parameters"]}), words)


def _full_names(matrices):
    """Returns the labels with all parameters, such as "condition (condition 1e+12, mode 3)"."""
    words = [", ".join(f"{k} {value_words(v)}" for k, v in parameters(text).items()) for text in matrices["text"]]
    return [
        f"{label} ({parameter_text})" if parameter_text else label
        for label, parameter_text in zip(matrices["label"], words)
    ]


def _distinct_names(matrices):
    """Returns the labels with the parameters in which matrices of one label differ. The condition number is always
    added, because it decides whether an answer can be accurate."""
    parameters_of_row = [parameters(text) for text in matrices["text"]]
    names = [""] * len(matrices)
    for label, rows in matrices.reset_index(drop=True).groupby("label").indices.items():
        keys = sorted({key for row in rows for key in parameters_of_row[row]})
        differ = [k for k in keys if k == "condition" or len({str(parameters_of_row[row].get(k)) for row in rows}) > 1]
        for row in rows:
            words = [
                f"{key}={value_words(parameters_of_row[row][key])}" for key in differ if key in parameters_of_row[row]
            ]
            names[row] = " ".join([label, *words])
    return names


def value_words(value):
    """Returns a parameter's value as its shortest text with up to 12 digits: 1e+08 for 100000000.0, 0 for 0.0."""
    if not isinstance(value, float):
        return str(value)
    digits, mark, exponent = f"{value:.11e}".partition("e")
    return min(f"{value:.12g}", digits.rstrip("0").rstrip(".") + mark + exponent, key=len)


def _operands(records):
    shape = records[["problem", "nrhs", "batch", "uplo", "m", "k", "n", *CONDITIONS]]
    return _by_value(shape.assign(both=_varies(records, ["problem"], "uplo")), _distinct_operands)


def _distinct_operands(shapes):
    """Returns one text per row with its unusual properties. The triangle is added if its problem has both triangles
    (column `both`)."""
    return [
        ", ".join(
            words
            for words in (
                f"nrhs {row.nrhs}" if row.nrhs > 1 else "",
                f"batch {row.batch}" if row.batch > 1 else "",
                row.uplo if row.both else "",
                f"{row.m} × {row.k} × {row.n}" if row.m > 0 and row.k > 0 and not row.m == row.k == row.n else "",
                *(
                    f"{getattr(row, name)} {name.replace('_', ' ')}"
                    for name, usual in CONDITIONS.items()
                    if getattr(row, name) not in ("", usual)
                ),
            )
            if words
        )
        for row in shapes.itertuples()
    ]
