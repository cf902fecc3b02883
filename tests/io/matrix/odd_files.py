#!/usr/bin/env python3
"""Compares `gaussweep matrix export` with the library that wrote a file: odd_files.py PROGRAM [--files N] [--seed N].

numpy, scipy, h5py and Octave write random files with unusual layouts. Some headers and numbers are then rewritten as
other writers spell them. The elements must be those that the library reads back. If scipy or Octave is absent, its
files are left out. A long run by hand: --files 300 --verbose."""

import argparse
import collections
import importlib
import importlib.util
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import h5py
import numpy as np

scipy = None
if importlib.util.find_spec("scipy"):
    for part in ("scipy.io", "scipy.sparse"):
        importlib.import_module(part)
    scipy = sys.modules["scipy"]

# NumPy's names of the number types that the program must read.
KINDS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]

# A file: its path, the options of `matrix export`, and what that must do: an array of elements, or a Refused.
Case = collections.namedtuple("Case", "path options expected")


class Refused:
    """An error message that must match `pattern`."""

    def __init__(self, pattern):
        self.pattern = pattern


def expected_of(array):
    """Returns what `matrix export` must do with the array: return its elements as double, or refuse it."""
    array = np.asarray(array)
    if array.dtype.kind not in "biuf":
        return Refused({"c": "complex"}.get(array.dtype.kind, r"holds|class"))
    if array.size == 0:
        return Refused("is empty")
    if array.ndim > 2:
        return Refused(r"dimensions")
    matrix = array.reshape(-1, 1) if array.ndim < 2 else array
    double = matrix.astype("f8")
    is_exact = np.isfinite(double)
    if array.dtype.kind in "iu":
        is_exact = np.array([int(x) == int(y) for x, y in zip(matrix.ravel(), double.ravel())]).reshape(matrix.shape)
    if is_exact.all():
        return double
    elements = "|".join(rf"\({i + 1}, {j + 1}\)" for i, j in np.argwhere(~is_exact))
    return Refused(rf"element ({elements}) is (nan|-?inf|-?\d+)")


def numbers(r, kind, shape):
    """Returns numbers of a type, sometimes with one that a double cannot represent."""
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return np.array([r.random() < 0.5 for _ in range(int(np.prod(shape)))], "?").reshape(shape)
    count = int(np.prod(shape))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        largest = min(limits.max, 2**53) if r.random() < 0.9 else limits.max
        values = [r.choice([0, 1, largest, max(limits.min, -largest), r.randrange(100)]) for _ in range(count)]
    else:
        values = [r.choice([0.0, -0.0, 1.5, r.gauss(0, 1), r.gauss(0, 1e4)]) for _ in range(count)]
        if count and dtype.itemsize == 8 and r.random() < 0.3:
            values[r.randrange(count)] = r.choice([1e300, 5e-324, -1e-310])
        if count and r.random() < 0.06:
            values[r.randrange(count)] = r.choice([np.nan, np.inf, -np.inf])
    return np.array(values, dtype).reshape(shape)


def shape_for(r, max_dimensions=3):
    """Returns a random shape: usually of a matrix, vector or scalar, sometimes empty or with three dimensions."""
    shapes = [(1, 1), (3, 1), (1, 4), (2, 3), (5, 5), (7, 2), (83, 89), (4,), (1,), ()]
    return r.choice(
        shapes if r.random() < 0.9 else [shape for shape in [(0, 3), (2, 2, 2)] if len(shape) <= max_dimensions]
    )


def complex_of(r, array):
    """Returns the array, or sometimes a complex one, which the program must refuse."""
    return array.astype("f8") + 1j if r.random() < 0.06 else array


# --- NumPy


def npy_header(r, array, fortran):
    """Returns a header that numpy accepts, spelled as older versions and other languages write it."""
    quote = r.choice(["'", '"'])
    kind = array.dtype.str
    if array.dtype.kind != "c" and array.dtype.byteorder != ">":
        kind = r.choice([kind, kind.lstrip("<|"), kind.replace("<", "="), array.dtype.name, array.dtype.char])
    if r.random() < 0.2:
        quote, kind = "'", kind
    long = r.choice(["", "", "L"])
    shape = ", ".join(f"{size}{long}" for size in array.shape) + ("," if len(array.shape) == 1 else "")
    blank = r.choice(["", " ", "  "])
    parts = [
        f"{quote}descr{quote}:{blank}{r.choice(['', 'u']) if quote == chr(39) else ''}{quote}{kind}{quote}",
        f"{quote}fortran_order{quote}:{blank}{fortran}",
        f"{quote}shape{quote}:{blank}({shape})",
    ]
    r.shuffle(parts)
    text = "{" + f",{blank}".join(parts) + r.choice(["", ", ", ","]) + "}"
    return (text + " " * r.randrange(40) + r.choice(["\n", ""])).encode()


def npy_file(r, folder):
    """Writes a random .npy file and returns its Case."""
    kind = r.choice(KINDS)
    array = complex_of(r, numbers(r, kind, shape_for(r)))
    if array.dtype.itemsize > 1 and r.random() < 0.3:
        array = array.astype(array.dtype.newbyteorder(">"))
    fortran = array.ndim == 2 and r.random() < 0.5
    path = folder / "x.npy"
    header = npy_header(r, array, fortran)
    version = r.choice([1, 2, 3])
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    data = (array.T if fortran else array).tobytes()
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + header + data)
    if re.search(rb"\dL", header) and version == 3:
        return Case(path, [], expected_of(array))  # numpy accepts the L of Python 2 only in versions 1 and 2
    return Case(path, [], expected_of(np.load(path)))


# --- Matrix Market


def fortran_number(match, letter):
    """Returns a matched number with another exponent letter, such as D as in Fortran."""
    return f"{float(match.group()):.16e}".replace("e", letter)


def change_text(r, text):
    """Returns the text as other writers format it: line ends, blanks, signs, exponents, a byte order mark."""
    head, rest = text.split("\n", 1)
    lines = rest.split("\n")
    is_real = " real " in head
    letter = r.choice(["E", "D", "d"])
    changes = r.sample(
        ["crlf", "plus", "blanks", "tabs", "empty", "exponent", "mark", "before", "case"], r.randrange(4)
    )
    if "exponent" in changes and is_real:
        coordinate = "coordinate" in head
        first = next(i for i, line in enumerate(lines) if line and not line.startswith("%"))
        for i in range(first + 1, len(lines)):
            words = lines[i].split()
            if len(words) == (3 if coordinate else 1):
                words[-1] = re.sub(".+", lambda match: fortran_number(match, letter), words[-1])
                lines[i] = " ".join(words)
    if "plus" in changes:
        lines = [re.sub(r"(^|\s)(\d)", r"\1+\2", line) if not line.startswith("%") else line for line in lines]
    if "blanks" in changes:
        lines = ["  " + line.replace(" ", "   ") + " " if line else line for line in lines]
    if "tabs" in changes:
        lines = [line.replace(" ", "\t") if not line.startswith("%") else line for line in lines]
    if "empty" in changes:
        lines = [part for line in lines for part in (line, r.choice(["", "% text", line])[: 0 if line else None])]
    if "case" in changes:
        head = head.split(" ", 1)[0] + " " + head.split(" ", 1)[1].title()
    text = "\n".join([head] + lines)
    if "before" in changes:
        text = r.choice(["\n", "  ", "\n \n"]) + text
    if "mark" in changes:
        text = "\ufeff" + text
    if "crlf" in changes:
        text = text.replace("\n", "\r\n")
    return text


def symmetric_text(r, text):
    """Returns a symmetric file with the other triangle, or as `hermitian`, at random."""
    if " symmetric" in text.split("\n")[0] and r.random() < 0.3:
        text = text.replace(" symmetric", " hermitian", 1)
    head = text.split("\n")[0]
    if "coordinate" in head and "general" not in head and r.random() < 0.5:
        skew = "skew" in head
        lines = text.split("\n")
        first = next(i for i, line in enumerate(lines) if line and not line.startswith("%"))
        for i in range(first + 1, len(lines)):
            words = lines[i].split()
            if len(words) == 3:
                value = words[2]
                if skew:
                    value = value[1:] if value.startswith("-") else "-" + value
                lines[i] = f"{words[1]} {words[0]} {value}"
            elif len(words) == 2:
                lines[i] = f"{words[1]} {words[0]}"
        text = "\n".join(lines)
    return text


def mtx_file(r, folder):
    """Writes a random Matrix Market file and returns its Case; None if scipy itself cannot read the file."""
    kind = r.choice([kind for kind in KINDS if kind not in ("?", "f2")])
    shape = r.choice([(1, 1), (3, 1), (2, 3), (4, 4), (5, 5)])
    array = complex_of(r, numbers(r, kind, shape))
    options = {}
    if shape[0] == shape[1] and r.random() < 0.6 and array.dtype.kind != "u":
        skew = r.random() < 0.4
        lower = np.tril(array, -1)
        array = lower - lower.T if skew else lower + lower.T + np.diag(np.diag(array))
    options["symmetry"] = r.choice([None, None, "general"])
    if array.dtype.kind == "f" and r.random() < 0.3:
        options["precision"] = r.choice([3, 17])
    source = array if r.random() < 0.4 else r.choice([scipy.sparse.coo_matrix, scipy.sparse.csr_matrix])(array)
    if scipy.sparse.issparse(source) and r.random() < 0.2 and array.dtype.kind != "c":
        options["field"] = "pattern"
    path = folder / "x.mtx"
    scipy.io.mmwrite(path, source, comment=r.choice(["", "a comment\nof lines"]), **options)
    try:
        read = scipy.io.mmread(path)
    except (ValueError, OverflowError):
        return None  # scipy does not read this one itself
    if scipy.sparse.issparse(read):
        read = read.toarray()
    text = path.read_text()
    if array.dtype.kind != "c":
        text = symmetric_text(r, text)
    path.write_text(change_text(r, text), newline="")
    expected = expected_of(read)
    if isinstance(expected, Refused) and array.dtype.kind != "c":
        expected = Refused(r"value: '.+; allowed: ")  # the line is named, not the element
    return Case(path, [], expected)


# --- MATLAB 4 and 5 by scipy


def sparse_for(r, array):
    """Returns the array as a sparse matrix of a random format, sometimes with every entry stored twice."""
    make = r.choice(["csr_matrix", "csc_matrix", "coo_matrix", "bsr_matrix", "dia_matrix"])
    sparse = getattr(scipy.sparse, make)(array)
    if make == "csc_matrix" and sparse.nnz > 0 and r.random() < 0.3:  # entries that come twice
        twice = scipy.sparse.csc_matrix((sparse.shape), dtype=sparse.dtype)
        twice.indptr = sparse.indptr * 2
        twice.indices = np.repeat(sparse.indices, 2)
        twice.data = np.repeat(sparse.data, 2)
        return twice
    return sparse


def mat_file(r, folder):
    """Lets scipy write a random MATLAB 4 or 5 file with several variables, and returns its Case."""
    version = r.choice(["4", "5", "5"])
    kinds = ["f8", "f4", "i4", "i2", "u2", "u1"] if version == "4" else [kind for kind in KINDS if kind != "f2"]
    array = complex_of(r, numbers(r, r.choice(kinds), shape_for(r, 2 if version == "4" else 3)))
    name = r.choice(["A", "M", "matrix_with_a_longer_name"])
    is_sparse = array.ndim == 2 and array.size > 0 and r.random() < 0.4
    if is_sparse:
        array = array.astype("?" if array.dtype.kind == "b" else "c16" if array.dtype.kind == "c" else "f8")
    variables = {name: sparse_for(r, array) if is_sparse else array}
    others = {"text": "some words", "s": np.array([[3.0]])}
    if version == "5":
        others["opts"] = {"tol": 1e-6, "name": "x"}
        others["c"] = np.array([[1, "two"]], dtype=object)
        others["nothing"] = np.zeros((0, 0))
    for other in r.sample(sorted(others), r.randrange(3)):
        variables = {other: others[other], **variables} if r.random() < 0.5 else {**variables, other: others[other]}
    if version == "5" and r.random() < 0.2:
        variables = {"Problem": {"title": "t", **variables}}
        name = "Problem." + name
    path = folder / "x.mat"
    more = {"do_compression": r.random() < 0.5} if version == "5" else {}
    scipy.io.savemat(path, variables, format=version, oned_as=r.choice(["row", "column"]), **more)
    read = scipy.io.loadmat(path)
    for part in name.split("."):
        read = read[part] if isinstance(read, dict) else read[part][0, 0]
    if scipy.sparse.issparse(read):
        read = read.toarray()
    return Case(path, ["--dataset", name], expected_of(read))


def element(order, kind, data, small):
    """Returns a tagged element of a MATLAB 5 file. `small` puts up to four bytes into the tag."""
    if small and 0 < len(data) <= 4:
        return struct.pack(order + "I", len(data) << 16 | kind) + data.ljust(4, b"\0")
    return struct.pack(order + "II", kind, len(data)) + data + bytes(-len(data) % 8)


def mat_bytes(r, folder):
    """Writes a MATLAB 4 or 5 file by hand: both byte orders, numbers stored in a narrower type than their class."""
    path, order, small = folder / "x.mat", r.choice("<>"), r.random() < 0.5
    rows, cols = r.choice([(1, 1), (1, 3), (2, 2), (3, 2)])
    dense = np.array([r.randrange(1, 100) for _ in range(rows * cols)]).reshape(rows, cols)
    is_sparse = r.random() < 0.4
    if r.random() < 0.4:
        digit, kind = r.choice([(0, "f8"), (10, "f4"), (20, "i4"), (30, "i2"), (40, "u2"), (50, "u1")])
        table = dense.T.ravel()
        if is_sparse:
            entries = [(i + 1, j + 1, dense[i, j]) for j in range(cols) for i in range(rows)] + [(rows, cols, 0)]
            digit, table = digit + 2, np.array(entries).T.ravel()
        sizes = (len(table) // 3, 3) if is_sparse else (rows, cols)
        head = struct.pack(order + "5i", digit + (1000 if order == ">" else 0), *sizes, 0, 2) + b"A\0"
        path.write_bytes(head + table.astype(order + kind).tobytes())
    else:
        code, kind = r.choice([(1, "i1"), (2, "u1"), (3, "i2"), (4, "u2"), (5, "i4"), (6, "u4"), (7, "f4"), (9, "f8")])
        array_class = 5 if is_sparse else r.choice([6, 7, 8, 9, 12, 14])
        whole = lambda values: struct.pack(f"{order}{len(values)}i", *values)  # noqa: E731
        body = element(order, 6, struct.pack(order + "2I", array_class, 0), False)
        body += element(order, 5, whole([rows, cols]), False) + element(order, 1, b"A", small)
        if is_sparse:
            body += element(order, 5, whole(list(range(rows)) * cols), small)
            body += element(order, 5, whole([rows * j for j in range(cols + 1)]), small)
        body += element(order, code, dense.T.astype(order + kind).tobytes(), small)
        array = struct.pack(order + "II", 14, len(body)) + body
        if r.random() < 0.5:
            packed = zlib.compress(array)
            array = struct.pack(order + "II", 15, len(packed)) + packed
        mark = b"\1\0MI" if order == ">" else b"\0\1IM"
        path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124, b"\0") + mark + array)
    read = scipy.io.loadmat(path)["A"]
    return Case(path, [], expected_of(read.toarray() if scipy.sparse.issparse(read) else read))


# --- HDF5 and MATLAB 7.3 by h5py


def h5_file(r, folder):
    """Lets h5py write a random HDF5 file, and returns its Case."""
    kind = r.choice(KINDS)
    array = complex_of(r, numbers(r, kind, shape_for(r)))
    stored = array.astype(array.dtype.newbyteorder(">")) if r.random() < 0.3 and array.dtype.itemsize > 1 else array
    path = folder / "x.h5"
    name = r.choice(["A", "M", "deep/er/matrix", "Matriz_ñ"])
    options = {}
    if array.ndim > 0 and array.size > 0 and r.random() < 0.5:
        options = r.choice(
            [
                {"compression": "gzip", "shuffle": True},
                {"chunks": tuple(max(1, size // 2) for size in array.shape)},
                {"maxshape": (None,) * array.ndim},
                {"fletcher32": True},
            ]
        )
    columns = array.ndim == 2 and r.random() < 0.2
    with h5py.File(path, "w", libver=r.choice(["earliest", "latest"])) as file:
        dataset = file.create_dataset(name, data=stored.T if columns else stored, **options)
        if columns:
            dataset.attrs["column_major"] = r.choice([True, 1, np.uint8(1)])
        if r.random() < 0.3:
            file["title"] = "some words"
        if r.random() < 0.3 and min(array.shape, default=0) > 1 and array.ndim == 2:
            file["index"] = np.arange(3)
    return Case(path, r.choice([[], ["--dataset", name]]), expected_of(array))


def mat73_file(r, folder):
    """Writes a random file in the layout of MATLAB 7.3, and returns its Case."""
    classes = {"?": "logical", "f4": "single", "f8": "double"}
    kind = r.choice([kind for kind in KINDS if kind != "f2"])
    array = numbers(r, kind, r.choice([(1, 1), (3, 1), (1, 4), (2, 3), (5, 5), (0, 3), (2, 2, 2)]))
    path = folder / "x.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        stored = np.array(array.shape, "u8") if array.size == 0 else array.T
        dataset = file.create_dataset("A", data=stored.astype("u1") if kind == "?" else stored)
        name = classes.get(kind) or f"{'u' if kind[0] == 'u' else ''}int{8 * int(kind[1])}"
        dataset.attrs["MATLAB_class"] = np.bytes_(name)
        if array.size == 0:
            dataset.attrs["MATLAB_empty"] = np.uint8(1)
        if kind == "?":
            dataset.attrs["MATLAB_int_decode"] = np.int32(1)
        text = file.create_dataset("t", data=np.array([[104, 105]], "u2"))
        text.attrs["MATLAB_class"] = np.bytes_("char")
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116, b" ").ljust(124, b"\0") + b"\x00\x02IM")
    return Case(path, [], expected_of(array))


# --- Octave: one process writes all its files

OCTAVE = [  # an expression, and the pattern of its refusal; None: the elements are read
    ("[1 2 3; 4 5 6]", None),
    ("[1; 2; 3]", None),
    ("[1 2 3]", None),
    ("3.25", None),
    ("single([1.5 2; 3 4])", None),
    ("1:4", None),
    ("0:0.5:2", None),
    ("eye(3)", None),
    ("eye(3)(:, [2 1 3])", None),
    ("diag([1 2 3])", None),
    ("[true false; false true]", None),
    ("true", None),
    ("sparse([1 0 2; 0 0 3])", None),
    ("sparse([true false; false true])", None),
    ("sparse(3, 3)", None),
    ("sparse([1 2i; 3 4])", "complex|sparse"),
    ("[1+2i 3; 4 5]", "complex"),
    ("1i", "complex"),
    ("zeros(0, 3)", "empty"),
    ("[]", "empty"),
    ("zeros(2, 2, 2)", "dimensions"),
    ("'text'", "is a text|'sq_string'"),
    ("{1, 2}", "holds no numbers|'cell'"),
    ("struct('a', {1, 2})", "no single struct|'struct'"),
    ("[1 NaN]", r"element \(1, 2\) is nan"),
    ("int64(9007199254740993)", r"element \(1, 1\) is 9007199254740993"),
    ("uint64([18446744073709551615 1])", r"element \(1, 1\) is 18446744073709551615"),
] + [(f"{kind}([1 2; 3 100])", None) for kind in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()]
V4_VALUES = r"(?!zeros\(2, 2, 2|\{|.*(int\d|struct|true))"
OCTAVE_FORMATS = {"-v4": "mat", "-v6": "mat", "-v7": "mat", "-hdf5": "h5", "-text": "txt", "-binary": "bin"}


def octave_files(folder):
    """Writes all files of Octave; returns a list of `Case`."""
    if shutil.which("octave-cli") is None:
        return []
    script, files = [f"cd('{folder}');"], []
    for i, (value, refusal) in enumerate(OCTAVE):
        script.append(f"A = {value}; try, f = fopen('{i}.raw', 'w'); fwrite(f, full(double(A)), 'double'); fclose(f);")
        script.append(f"f = fopen('{i}.size', 'w'); fprintf(f, '%d ', size(A)); fclose(f); end")
        for option, ending in OCTAVE_FORMATS.items():
            if option == "-v4" and not re.match(V4_VALUES, value):
                continue  # Octave would write an incomplete file
            if option in ("-text", "-binary") and i > 0:
                continue  # one file is enough, because the format is refused whatever the file contains
            name = f"o{i}{option}.{ending}"
            script.append(f"try, save('{option}', '{name}', 'A'); catch, unlink('{name}'); end")
            files.append((i, option, folder / name, refusal))
    (folder / "make.m").write_text("warning('off', 'all');\n" + "\n".join(script))
    subprocess.run(["octave-cli", "--no-init-file", "make.m"], cwd=folder, check=True, capture_output=True)
    cases = []
    for i, option, path, refusal in files:
        if not path.exists() or path.stat().st_size == 0:
            continue
        if option in ("-text", "-binary"):
            expected = Refused("Octave's (text|binary) format.*save -v7")
        elif refusal is not None:
            expected = Refused(refusal)
        else:
            size = [int(word) for word in (folder / f"{i}.size").read_text().split()]
            expected = np.fromfile(folder / f"{i}.raw").reshape(size, order="F")
            if option == "-hdf5" and ("sparse" in OCTAVE[i][0] or re.fullmatch(r"[\d.:]+:\d", OCTAVE[i][0])):
                expected = Refused("is Octave's '.*(sparse|range).*full\\(\\)")
            if option in ("-v6", "-v7") and "sparse([true" in OCTAVE[i][0]:
                expected = Refused("elements than its dimensions")  # Octave says that it is full; scipy refuses it too
        cases.append(Case(path, [], expected))
    return cases


# --- the comparison


def difference(program, case, folder):
    """Compares the program with the writer of a file; returns the outcome ("agreed", "differs", …) and details."""
    out = folder / "out.npy"
    out.unlink(missing_ok=True)
    command = [program, "matrix", "export", str(case.path), "-o", str(out), *case.options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    message = (done.stdout + done.stderr).strip()
    if done.returncode < 0:
        return "crashed", message
    if isinstance(case.expected, Refused):
        if done.returncode == 0:
            return "read", f"expected a refusal: {case.expected.pattern}"
        return ("refused" if re.search(case.expected.pattern, message) else "other refusal"), message
    if done.returncode != 0:
        return "not read", message
    found = np.load(out)
    if found.shape != case.expected.shape or not np.array_equal(found, case.expected):
        return "differs", f"expected {case.expected.tolist()}, found {found.tolist()}"
    return "agreed", ""


def makers():
    """Returns the functions that write files; a function that occurs more often writes more of them."""
    writers = [npy_file] * 5 + [h5_file] * 5 + [mat73_file] * 2
    return writers + ([mtx_file] * 6 + [mat_file] * 6 + [mat_bytes] * 3 if scipy else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument(
        "--files", type=int, default=60, help="without Octave's files, of which at most as many are tested"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "octave").mkdir()

        def all_files():
            r = random.Random(options.seed)
            octave = octave_files(folder / "octave")
            yield from r.sample(octave, min(len(octave), options.files))
            for i in range(options.files):
                r = random.Random(f"{options.seed} {i}")
                case = r.choice(makers())(r, folder)
                if case is not None:
                    yield case

        for case in all_files():
            result, message = difference(options.program, case, folder)
            counts[result] += 1
            if result not in ("agreed", "refused"):
                copy = Path(tempfile.mkdtemp()) / case.path.name
                shutil.copy(case.path, copy)
                print(f"{result}: {copy} {' '.join(case.options)}\n  {message}")
            elif options.verbose and message:
                print(message.replace(str(folder) + "/", ""))
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
    if scipy is None or shutil.which("octave-cli") is None:
        print("left out: " + ("scipy " if scipy is None else "") + ("" if shutil.which("octave-cli") else "Octave"))
    sys.exit(0 if set(counts) <= {"agreed", "refused"} else 1)


if __name__ == "__main__":
    main()
