"""Reads restoration.h5 files (io/SCHEMA.md): images that `gaussweep restore` degraded and restored."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from .hdf5 import DAMAGED, check_claim, check_schema

PICTURES = ("original", "degraded", "restored")


@dataclass
class Restoration:
    """An image, its degraded and its restored version: grey levels from 0 to 255, neither rounded nor clipped."""

    path: Path
    facts: dict  # the attributes of the file, such as the noise and the method
    original: np.ndarray
    degraded: np.ndarray
    restored: np.ndarray

    @property
    def name(self):
        """The name of the case: that of the directory, or of the file if it was renamed."""
        return self.path.parent.name if self.path.name == "restoration.h5" else self.path.stem

    def number(self, fact):
        try:
            return float(self.facts.get(fact, np.nan))
        except (TypeError, ValueError):
            return np.nan

    def text(self, fact):
        return str(self.facts.get(fact, ""))


def is_restoration(path):
    """Returns whether a file is a restoration: by its attributes, or by its name if it cannot be opened."""
    try:
        with h5py.File(path, "r") as file:
            return _plain(file.attrs.get("gaussweep", "")) == "restoration"
    except DAMAGED:
        return Path(path).name == "restoration.h5"


def below(folder):
    """Returns the restoration files in a directory and below."""
    return [p for p in sorted(Path(folder).rglob("restoration.h5")) if is_restoration(p)]


def load_restorations(arguments, warnings):
    """Loads the restorations that the arguments name or contain; unreadable files become warnings."""
    paths = []
    for argument in map(Path, arguments):
        if argument.is_dir():
            paths += below(argument)
        elif argument.is_file() and is_restoration(argument):
            paths.append(argument)
    found = []
    for path in dict.fromkeys(p.resolve() for p in paths):
        try:
            found.append(_read(path))
        except DAMAGED as error:
            warnings.append(f"{path} was left out: {error}")
    return found


def _plain(value):
    """Converts an HDF5 attribute to a Python value."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.item() if isinstance(value, np.generic) else value


def _read(path):
    with h5py.File(path, "r") as file:
        check_schema(file)
        for name in PICTURES:
            check_claim(file[name])
        pictures = {name: np.asarray(file[name][:], dtype=float) for name in PICTURES}
        facts = {name: _plain(value) for name, value in file.attrs.items()}
    shapes = {picture.shape for picture in pictures.values()}
    if len(shapes) != 1 or len(shapes.pop()) != 2:
        raise ValueError("its pictures have different shapes")
    return Restoration(path=path, facts=facts, **pictures)
