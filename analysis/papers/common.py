"""Functions that several drawings use: they select records, read published tables and choose the devices to draw."""

from pathlib import Path

import pandas as pd

from ..captions import EMULATED

PUBLISHED = Path(__file__).parent.parent / "published"


def table_of(name):
    """Reads a table of published/. Lines that begin with # describe its source."""
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
    """Returns the records whose columns equal the values in `where`, a dict of column -> value. Its entry `parameters`
    is a dict of method parameter -> value."""
    is_match = pd.Series(True, index=rows.index)
    for name, value in where.items():
        if name != "parameters":
            is_match &= rows[name] == value
    rows = rows[is_match]
    wanted = where.get("parameters", {})
    if wanted:
        fits = {
            text: all(found.get(key) == value for key, value in wanted.items())
            for text, found in zip(rows["parameters"], rows["parameter"])
        }
        rows = rows[rows["parameters"].map(fits).astype(bool)]
    return rows


def panel_devices(rows):
    """Returns the devices that get figures of their own: GPUs, and the device of emulated kernels (GPU kernels that run
    on the CPU); the CPU only if there is no other. Next to a GPU, the CPU's methods are drawn in the GPU's figures."""
    devices = sorted(rows["device"].unique())
    return [d for d in devices if d != "CPU"] or devices


def device_title(device):
    """Returns a device's name for titles. Figures of emulated kernels also have CPU methods, which are not emulated, so
    their title names the methods that are."""
    return f"{device.removeprefix(EMULATED)} (GPU methods emulated)" if device.startswith(EMULATED) else device


def panel_rows(rows, device):
    """Returns the records of a device's figures: its own and those of the CPU."""
    return rows[rows["device"].isin([device, "CPU"])]
