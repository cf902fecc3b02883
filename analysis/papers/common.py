"""Functions that the plots share: choosing records, published tables, panels."""

from pathlib import Path

import pandas as pd

from ..frames import EMULATED

PUBLISHED = Path(__file__).parent.parent / "published"


def table_of(name):
    """Reads a published table; lines that begin with # name its source."""
    return pd.read_csv(PUBLISHED / name, comment="#")


def source_of(name):
    """Returns the source in the first line of a published table: "# source: …"."""
    with open(PUBLISHED / name, encoding="utf-8") as file:
        return file.readline().removeprefix("# source:").strip()


def described(name):
    """Returns a caption's sentence about a published table: its paper and table, the method, and the GPU."""
    with open(PUBLISHED / name, encoding="utf-8") as file:
        words = [line[1:].strip().removeprefix("source: ") for line in file if line.startswith("#")]
    return f"Published: {'; '.join(words)}."


def claims(experiment):
    """Returns the paper's statements about an experiment."""
    rows = table_of("claims.csv")
    return rows[rows["experiment"] == experiment]


def pick(rows, where):
    """Returns the records whose columns have the values in `where`; its entry `parameters` has values of single method
    parameters."""
    keep = pd.Series(True, index=rows.index)
    for name, value in where.items():
        if name != "parameters":
            keep &= rows[name] == value
    rows = rows[keep]
    wanted = where.get("parameters", {})
    if wanted:
        fits = {
            text: all(found.get(key) == value for key, value in wanted.items())
            for text, found in zip(rows["parameters"], rows["parameter"])
        }
        rows = rows[rows["parameters"].map(fits).astype(bool)]
    return rows


def heads(rows):
    """Returns the devices with a panel: GPUs and the emulation; the CPU only if there is no other."""
    devices = sorted(rows["device"].unique())
    return [d for d in devices if d != "CPU"] or devices


def called(device):
    """Returns the words for the device of a panel. A panel of emulated kernels also has the CPU's methods, so its name
    says which methods are emulated."""
    return f"{device.removeprefix(EMULATED)} (GPU methods emulated)" if device.startswith(EMULATED) else device


def on(rows, device):
    """Returns the records of a device's panel: its own and those of the CPU."""
    return rows[rows["device"].isin([device, "CPU"])]
