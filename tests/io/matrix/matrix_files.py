"""Writes the HDF5, NumPy and MATLAB files that matrix_import_test.cpp reads: matrix_files.py FOLDER; or, with
`check FILE`, reads a file of the matrix store as documented in SCHEMA.md."""

import struct
import sys
import zlib

import h5py
import numpy as np

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def matlab(path, fill):
    """Writes a MATLAB v7.3 file: an HDF5 file behind a header of 512 bytes, with column-major arrays."""
    with h5py.File(path, "w", userblock_size=512) as file:
        fill(file)
    words = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 ."
    with open(path, "r+b") as file:
        file.write(words.ljust(116, b" ").ljust(124, b"\0") + b"\x00\x02IM")


def variable(file, name, data, matlab_class):
    """Adds a variable as MATLAB v7.3 does: transposed, with its class as an attribute."""
    data = np.asarray(data)
    dataset = file.create_dataset(name, data=data.T if data.ndim > 1 else data)
    dataset.attrs["MATLAB_class"] = np.bytes_(matlab_class)
    return dataset


def plain_files(folder):
    """Writes HDF5 files of other programs than MATLAB."""

    def make(name, **datasets):
        with h5py.File(f"{folder}/{name}", "w") as file:
            for key, data in datasets.items():
                file[key] = data

    make("rows.h5", A=A)
    make("named.h5", **{"deep/er/matrix": A})
    make("float.h5", A=A.astype("f4"))
    make("big_endian.h5", A=A.astype(">f8"))
    make("int.h5", A=A.astype("i4"))
    make("beside.h5", A=A, B=2 * A)
    make("two.h5", B=A, C=A)
    make("vector.h5", A=np.ones(3))
    make("cube.h5", A=np.ones((2, 2, 2)))
    make("scalar.h5", A=3.0)
    make("complex.h5", A=A + 1j)
    make("text.h5", A=np.array([[b"a", b"b"]]))
    make("bool.h5", A=np.array([[True, False], [False, True]]))
    make("half.h5", A=A.astype("f2"))
    make("matrix_and_vector.h5", M=A, index=np.arange(3))
    with h5py.File(f"{folder}/bits.h5", "w") as file:  # PyTables and Julia store bool as bit fields
        bits = h5py.h5t.STD_B8LE
        dataset = h5py.h5d.create(file.id, b"A", bits, h5py.h5s.create_simple((2, 2)))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.eye(2, dtype="u1"), mtype=bits)
    make("empty.h5", A=np.ones((0, 3)))
    make("nothing.h5")
    make("group.h5", **{"A/x": A})
    make("problem.h5", **{"Problem/A": A, "Problem/b": A[:, :1], "Z": np.eye(4)})
    for name, value in (
        ("nan", np.nan),
        ("inf", -np.inf),
        ("beyond", np.longdouble("1e400")),
        ("third", np.longdouble(1) / 3),
    ):
        changed = A.astype(np.result_type(value))
        changed[1, 2] = value
        make(f"{name}.h5", A=changed)
    with h5py.File(f"{folder}/nan_columns.h5", "w") as file:
        file["A"] = np.where(A == 6, np.nan, A).T
        file["A"].attrs["column_major"] = 1
    for name, value, kind in (("exact", 2**53, "i8"), ("odd", -(2**53) - 1, "i8"), ("large", 2**63 + 1, "u8")):
        whole = A.astype(kind)
        whole[1, 2] = value
        make(f"{name}.h5", A=whole)
    for name, flag in (("columns", 1), ("not_columns", 0), ("bool_columns", True), ("bad_flag", "yes")):
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            file["A"] = A.T if flag in (1, True) else A
            file["A"].attrs["column_major"] = flag

    # Octave's save -hdf5 stores a variable as a group with reversed dimensions.
    def octave(file, **variables):
        for variable, data in variables.items():
            group = file.create_group(variable)
            group.attrs["OCTAVE_NEW_FORMAT"] = np.uint8(1)
            group["type"] = np.bytes_("scalar struct" if isinstance(data, dict) else "matrix")
            if isinstance(data, dict):
                octave(group.create_group("value"), **data)
            else:
                group["value"] = data.T

    for name, variables in (
        ("octave", {"A": A}),
        ("octave_both", {"A": A, "b": A[:, :1]}),
        ("octave_problem", {"Problem": {"A": A, "b": A[:, :1]}, "Z": np.eye(4)}),
        ("octave_struct", {"S": {"inner": {"M": A}}}),
    ):
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            octave(file, **variables)
    with h5py.File(f"{folder}/octave_empty.h5", "w") as file:
        group = file.create_group("A")
        group.attrs["OCTAVE_NEW_FORMAT"] = group.attrs["OCTAVE_EMPTY_MATRIX"] = np.uint8(1)
        group["type"], group["value"] = np.bytes_("matrix"), np.array([0, 3])
    with h5py.File(f"{folder}/octave_sparse.h5", "w") as file:
        file.create_group("A").attrs["OCTAVE_NEW_FORMAT"] = np.uint8(1)
        file["A/type"], file["A/value/data"] = np.bytes_("sparse matrix"), np.ones((3, 1))
    for name, words in (("enumeration", {"LOW": 3, "HIGH": 7}), ("not_bool", {"FALSE": 1, "TRUE": 0})):
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            file.create_dataset("A", data=np.ones((2, 2), "i1"), dtype=h5py.enum_dtype(words, basetype="i1"))
    for name in ("scale_factor", "add_offset"):
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            file["A"] = A.astype("i2")
            file["A"].attrs[name] = 0.5
    make("null.h5", A=h5py.Empty("f8"))
    make("link.h5", **{"g/M": A, "A": h5py.SoftLink("/g/M")})
    make("dangling.h5", A=h5py.SoftLink("/g/M"))
    make("complex_beside.h5", G=A, H=A * 1j)
    sparse = {"X/data": np.ones(2), "X/indices": np.arange(2), "X/indptr": np.arange(3)}
    make("sparse_group.h5", **sparse)
    make("sparse_beside.h5", **sparse, **{"obsm/X_pca": A})
    for name, text in (
        ("julia.jld2", b"HDF5-based Julia Data Format, version 0.1.1"),
        ("julia.jld", b"Julia data file (HDF5)"),
    ):
        with h5py.File(f"{folder}/{name}", "w", userblock_size=512) as file:
            file["M"], file["_types/count"] = A.T, np.eye(3)
        with open(f"{folder}/{name}", "r+b") as file:
            file.write(text)
    with h5py.File(f"{folder}/packed.h5", "w") as file:
        file.create_dataset("A", data=A, chunks=(1, 2), compression="gzip", shuffle=True, fletcher32=True)
    with h5py.File(f"{folder}/tall.h5", "w") as file:
        tall = file.create_dataset("A", shape=(3000, 2950), chunks=(7, 2950), dtype="i1")
        for place, value in (((0, 0), 1), ((0, 2), 2), ((2841, 1), 3), ((2842, 1), 4), ((2999, 2949), 5)):
            tall[place] = value
    with h5py.File(f"{folder}/huge.h5", "w") as file:
        file.create_dataset("A", shape=(2**40, 2**20), chunks=(64, 64), dtype="f8")
    with h5py.File(f"{folder}/checked.h5", "w", libver="latest") as file:
        file.create_dataset("A", data=np.arange(4096.0).reshape(64, 64), chunks=(64, 64), fletcher32=True)


def matlab_files(folder):
    """Writes MATLAB v7.3 files, which are HDF5 files."""
    matlab(f"{folder}/double.mat", lambda f: variable(f, "A", A, "double"))
    matlab(f"{folder}/single.mat", lambda f: variable(f, "H", A.astype("f4"), "single"))
    matlab(f"{folder}/logical.mat", lambda f: variable(f, "A", np.eye(2, dtype="u1"), "logical"))
    matlab(f"{folder}/int32.mat", lambda f: variable(f, "A", A.astype("i4"), "int32"))
    matlab(f"{folder}/char.mat", lambda f: variable(f, "A", np.array([[65, 66]], "u2"), "char"))
    matlab(f"{folder}/cube.mat", lambda f: variable(f, "A", np.ones((2, 3, 4)), "double"))

    def two(file):
        variable(file, "X", A, "double")
        variable(file, "Y", 2 * A, "double")

    def complex_one(file):
        pair = np.zeros(A.T.shape, dtype=[("real", "f8"), ("imag", "f8")])
        file.create_dataset("A", data=pair).attrs["MATLAB_class"] = np.bytes_("double")

    def empty(file):
        variable(file, "A", np.array([0, 0], "u8"), "double").attrs["MATLAB_empty"] = np.uint8(1)

    def sparse(file):
        group = file.create_group("A")
        group.attrs["MATLAB_class"] = np.bytes_("double")
        group.attrs["MATLAB_sparse"] = np.uint64(3)
        group["data"] = np.ones(3)
        group["ir"] = np.arange(3, dtype="u8")
        group["jc"] = np.arange(4, dtype="u8")

    def structure(file):
        file.create_group("A").attrs["MATLAB_class"] = np.bytes_("struct")
        variable(file["A"], "field", A, "double")

    def problem_struct(file):
        file.create_group("Problem").attrs["MATLAB_class"] = np.bytes_("struct")
        variable(file["Problem"], "A", A, "double")
        variable(file["Problem"], "b", A[:, :1], "double")
        variable(file, "Z", np.eye(4), "double")

    def function(file):
        structure(file)
        file["A"].attrs["MATLAB_class"] = np.bytes_("function_handle")

    for name, fill in (
        ("two", two),
        ("complex", complex_one),
        ("empty", empty),
        ("sparse", sparse),
        ("struct", structure),
        ("problem_struct", problem_struct),
        ("function", function),
    ):
        matlab(f"{folder}/{name}.mat", fill)


def element(kind, data, order="<", small=False):
    """Returns an element of a MATLAB 5 file: its type, and its bytes padded to a multiple of eight."""
    if small:
        return struct.pack(
            order + "HH" if order == ">" else "<HH", *((len(data), kind) if order == ">" else (kind, len(data)))
        ) + data.ljust(4, b"\0")
    return struct.pack(order + "II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


# NumPy types and their numbers in the MATLAB format: types of elements, classes of arrays.
KINDS = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 9, "i8": 12, "u8": 13}
CLASSES = {"f8": 6, "f4": 7, "i1": 8, "u1": 9, "i2": 10, "u2": 11, "i4": 12, "u4": 13, "i8": 14, "u8": 15}


def array(name, number, dims, parts, order="<", flags=0, kinds=(5, 1)):
    """Returns an array of class `number` from encoded elements. `kinds`: the types of dimensions and name."""
    head = element(6, struct.pack(order + "II", number | flags, 8), order)
    head += element(kinds[0], struct.pack(order + f"{len(dims)}i", *dims), order)
    return element(14, head + element(kinds[1], name.encode(), order, 0 < len(name) <= 4) + b"".join(parts), order)


def full(name, data, order="<", stored=None, dims=None, flags=0):
    """Returns a full matrix whose numbers have the type `stored`; MATLAB stores integers this way."""
    kind = data.dtype.str[1:]
    numbers = data.T.astype(order + (stored or kind)).tobytes()
    return array(
        name, CLASSES[kind], dims or data.shape, [element(KINDS[stored or kind], numbers, order)], order, flags
    )


def sparse_array(name, rows, starts, values, dims, order="<", kind="f8"):
    """Returns a sparse matrix in compressed columns: the row indices, the start of each column and the values."""
    parts = [np.array(rows, order + "i4"), np.array(starts, order + "i4"), np.array(values, order + kind)]
    return array(name, 5, dims, [element(k, p.tobytes(), order) for k, p in zip((5, 5, KINDS[kind]), parts)], order)


def string_object(name):
    """Returns a string array of newer MATLAB: class 17 without dimensions, then data of an undocumented format."""
    head = element(6, struct.pack("<II", 17, 0)) + element(1, name.encode(), small=True)
    return element(14, head + element(1, b"MCOS", small=True) + element(1, b"string") + full("", np.ones((1, 6))))


def problem(*fields):
    """Returns a struct as in SuiteSparse's collection."""
    names = b"".join(name.encode().ljust(32, b"\0") for name, _ in fields)
    parts = [element(5, struct.pack("<i", 32), small=True), element(1, names), *(data for _, data in fields)]
    return array("Problem", 2, (1, 1), parts)


def mat5(*arrays, order="<"):
    """Returns a file of version 5: the header of 128 bytes, which ends with the byte order, and the variables."""
    mark = b"\x00\x01IM" if order == "<" else b"\x01\x00MI"
    return b"MATLAB 5.0 MAT-file".ljust(124, b" ") + mark + b"".join(arrays)


def mat4(name, data, order="<", kind=0):
    """Returns a matrix of version 4, whose byte order, type and class are digits of one number."""
    head = struct.pack(order + "5i", (1000 if order == ">" else 0) + kind, *data.shape, 0, len(name) + 1)
    types = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}
    return head + name.encode() + b"\0" + data.T.astype(order + types[kind // 10]).tobytes()


def blocks_that_end_together():
    """Returns a compressed matrix in which a block of 16384 compressed bytes and one of its numbers end together."""
    data = full("ninebytes", np.arange(8192.0).reshape(64, 128))
    begin = 72  # of the numbers: 3 * 16384 = 2 (zlib's header) + 5 * 3262 (blocks' headers) + begin + 2 * 16384

    def block(part, last):
        return struct.pack("<BHH", last, len(part), len(part) ^ 0xFFFF) + part

    small = (16384 - 2 - begin) // 5 - 1
    parts = [block(data[i * 10 : i * 10 + 10], 0) for i in range(small)] + [block(data[small * 10 :], 1)]
    stream = b"\x78\x01" + b"".join(parts) + struct.pack(">I", zlib.adler32(data))
    return struct.pack("<II", 15, len(stream)) + stream


def older_matlab_files(folder):
    def make(name, data):
        with open(f"{folder}/{name}.mat", "wb") as file:
            file.write(data)

    def packed(data):
        return struct.pack("<II", 15, len(zlib.compress(data))) + zlib.compress(data)

    # [1 0 3; 4 5 0] in MATLAB's sparse format: row indices by column, column starts, values.
    s = ([0, 1, 1, 0], [0, 2, 3, 4], [1, 4, 5, 3], (2, 3))
    table = np.array([[1, 1, 1.0], [2, 1, 4], [2, 2, 5], [1, 3, 3], [2, 3, 0]])
    hb = problem(
        ("name", array("", 4, (1, 2), [element(4, b"H\0B\0")])), ("A", sparse_array("", *s)), ("b", full("", A))
    )
    for name, data in (
        ("v5", mat5(full("A", A))),
        ("v5_bytes", mat5(full("A", A, stored="u1"))),
        ("v5_single", mat5(full("A", A.astype("f4")))),
        ("v5_int16", mat5(full("A", A.astype("i2")))),
        ("v5_big_endian", mat5(full("A", A, ">"), order=">")),
        ("v5_packed", mat5(packed(full("A", A)))),
        ("v5_packed_together", mat5(blocks_that_end_together())),
        ("v5_beside", mat5(full("B", 2 * A), full("A", A))),
        ("v5_only", mat5(full("H", A), array("t", 4, (1, 2), [element(4, b"H\0B\0")]))),
        ("v5_utf8_name", mat5(array("Größe", 6, A.shape, [element(9, A.T.tobytes())], kinds=(5, 16)))),
        ("v5_unsigned_dims", mat5(array("A", 6, A.shape, [element(9, A.T.tobytes())], kinds=(6, 1)))),
        ("v5_beside_string", mat5(string_object("s"), full("A", A))),
        ("v5_unnamed", mat5(full("M", A), full("", np.ones((1, 8), "u1")))),
        ("v5_appended", mat5(full("A", A[:, :2]), full("A", A))),
        ("v5_logical", mat5(full("A", np.eye(2, dtype="u1"), flags=0x200))),
        ("v4", mat4("A", A)),
        ("v4_single", mat4("A", A, kind=10)),
        ("v4_int32", mat4("A", A, kind=20)),
        ("v4_big_endian", mat4("A", A, ">")),
        ("v5_sparse", mat5(sparse_array("A", *s))),
        ("v5_sparse_packed", mat5(packed(sparse_array("A", *s)))),
        ("v5_sparse_bytes", mat5(sparse_array("A", *s, kind="u1"))),
        ("v4_sparse", mat4("A", table, kind=2)),
        ("v4_twice", mat4("A", np.insert(table, 3, [2, 2, 0], 0), kind=2)),
        ("v4_sparse_big_endian", mat4("A", table, ">", kind=2)),
        ("problem", mat5(hb)),
        ("problem_packed", mat5(packed(hb))),
        ("v5_two", mat5(full("X", A), full("Y", A))),
        ("v5_complex", mat5(array("A", 6, (1, 1), [element(9, bytes(8))] * 2, flags=0x800))),
        ("v5_char", mat5(array("A", 4, (1, 2), [element(4, b"H\0B\0")]))),
        ("v5_cell", mat5(array("A", 1, (1, 1), [full("", A)]))),
        ("v5_cube", mat5(full("A", A, dims=(1, 2, 3)))),
        ("v5_empty", mat5(full("A", A[:0]))),
        ("v5_nan", mat5(full("A", np.where(A == 6, np.nan, A)))),
        ("v5_beyond", mat5(full("A", np.array([[1, 2**53 + 1]])))),
        ("v5_nothing", mat5()),
        ("v5_huge", mat5(full("A", A, dims=(2**31 - 1, 2**31 - 1)))),
        ("v5_more", mat5(full("A", A, dims=(4, 3)))),
        ("v5_fewer", mat5(full("A", A, dims=(1, 3)))),
        ("v5_negative", mat5(full("A", A, dims=(-2, -3)))),
        ("v5_row_outside", mat5(sparse_array("A", [0, 1, 2, 0], *s[1:]))),
        ("v5_falling", mat5(sparse_array("A", s[0], [0, 3, 2, 4], *s[2:]))),
        ("v5_starts_beyond", mat5(sparse_array("A", s[0], [0, 2, 3, 2**31 - 1], *s[2:]))),
        ("v5_wide_sparse", mat5(sparse_array("A", [], [0], [], (2**31 - 1, 2**31 - 1)))),
        ("v5_damaged", mat5(packed(full("A", A))[:-1] + b"!")),
        ("v4_huge", mat4("A", A)[:4] + struct.pack("<2i", 2**31 - 1, 2**31 - 1) + mat4("A", A)[12:]),
        ("v4_unsorted", mat4("A", table[[2, 0, 1, 3, 4]], kind=2)),
        ("v4_outside", mat4("A", table[[0, 1, 2, 3, 0]], kind=2)),
        ("v4_sparse_complex", mat4("A", np.column_stack([table, table[:, 2]]), kind=2)),
        ("v4_text", mat4("A", A, kind=1)),
    ):
        make(name, data)


def seal(path):
    """Writes the seal of the matrix store into the first 512 bytes of a file."""
    with open(path, "r+b") as file:
        rest = file.read()[512:]
        file.seek(0)
        file.write(f"gaussweep matrix 1 crc32 {zlib.crc32(rest):08x} bytes {len(rest)}\n".encode().ljust(512, b"\0"))


def files_with_data_elsewhere(folder):
    """Writes files whose dataset A has its data elsewhere: in other files, or behind a filter that is not installed."""

    def make(name, fill):
        with h5py.File(f"{folder}/{name}.h5", "w") as file:
            fill(file)
        with h5py.File(f"{folder}/sealed_{name}.h5", "w", userblock_size=512) as file:
            fill(file)
        seal(f"{folder}/sealed_{name}.h5")

    def external_link(file):
        file["A"] = h5py.ExternalLink("rows.h5", "/A")

    def soft_link(file):
        file["elsewhere"] = h5py.ExternalLink("rows.h5", "/")
        file["A"] = h5py.SoftLink("/elsewhere/A")

    def virtual(file):
        layout = h5py.VirtualLayout(shape=A.shape, dtype="f8")
        layout[:] = h5py.VirtualSource(f"{folder}/rows.h5", "A", shape=A.shape)
        file.create_virtual_dataset("A", layout)

    def stored_outside(file):
        with open(f"{folder}/secret", "wb") as secret:
            secret.write(A.tobytes())
        file.create_dataset("A", shape=A.shape, dtype="f8", external=[(f"{folder}/secret", 0, A.nbytes)])

    def filter_absent(file):
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk(A.shape)
        creation.set_filter(32099, h5py.h5z.FLAG_OPTIONAL, ())
        space = h5py.h5s.create_simple(A.shape)
        dataset = h5py.h5d.create(file.id, b"A", h5py.h5t.IEEE_F64LE, space, creation)
        dataset.write_direct_chunk((0, 0), A.tobytes())

    for fill in (external_link, soft_link, virtual, stored_outside, filter_absent):
        make(fill.__name__, fill)
    with h5py.File(f"{folder}/beside_a_virtual_one.h5", "w") as file:
        file["M"] = A
        virtual(file)
        file.move("A", "V")
    with h5py.File(f"{folder}/references.h5", "w") as file:
        file["M"] = A
        file.create_dataset("A", data=np.array([[file["M"].ref]]), dtype=h5py.ref_dtype)


def npy_files(folder):
    for name, data in (
        ("rows", A),
        ("columns", np.asfortranarray(A)),
        ("float", A.astype("f4")),
        ("big_endian", A.astype(">f8")),
        ("bytes", A.astype("u1")),
        ("long", np.asfortranarray(A.astype(">i8"))),
        ("vector", np.array([1.0, -2.0, 3.0])),
        ("bool", np.array([[True, False], [False, True]])),
        ("complex", A * 1j),
        ("half", A.astype("f2")),
        ("text", np.array([["a"]])),
        ("records", np.zeros((2, 2), dtype=[("a", "f8")])),
        ("times", np.zeros((2, 2), "M8[s]")),
        ("extended", np.zeros((2, 2), "longdouble")),
        ("objects", np.array([[1, None]])),
        ("raw", np.zeros((2, 2), "V2")),
        ("cube", np.zeros((2, 3, 4))),
        ("scalar", np.array(3.0)),
        ("empty", np.zeros((0, 3))),
        ("nan", np.where(A == 6, np.nan, A)),
        ("beyond", np.array([[1, 2**53 + 1]])),
    ):
        np.save(f"{folder}/{name}.npy", data)
    for name, header in (
        ("long_sizes", "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }"),
        ("double_quotes", '{"shape": (2,3), "fortran_order": False, "descr": "<f8"}'),
        ("type_name", "{'descr': u'float64', 'fortran_order': False, 'shape': (2, 3)}\n"),
        ("short_type", "{'descr':'=d','fortran_order':False,'shape':(2,3,)}"),
    ):
        with open(f"{folder}/{name}.npy", "wb") as file:
            file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + A.tobytes())
    whole = open(f"{folder}/rows.npy", "rb").read()
    open(f"{folder}/cut.npy", "wb").write(whole[:-1])
    open(f"{folder}/cut_header.npy", "wb").write(whole[:40])


def check_npy(path):
    assert np.array_equal(np.load(path), A), np.load(path)


def check(path):
    with h5py.File(path, "r") as file:
        assert file.attrs["gaussweep"] == "matrix", dict(file.attrs)
        assert file.attrs["kind"] == "uniform"
        assert file["A"].attrs["column_major"] == 1
        assert file["A"].chunks is None and file["A"].id.get_offset() % 4 == 0
        assert file["A"].shape == (3, 2), file["A"].shape
        assert np.array_equal(file["A"][:].T, A), file["A"][:]
        assert np.array_equal(file["b"][:].T, [[7.0], [8.0]])
        assert "x_true" not in file


if __name__ == "__main__":
    if sys.argv[1] == "check_npy":
        check_npy(sys.argv[2])
    elif sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        plain_files(sys.argv[1])
        npy_files(sys.argv[1])
        matlab_files(sys.argv[1])
        older_matlab_files(sys.argv[1])
        files_with_data_elsewhere(sys.argv[1])
