"""Writes the HDF5 and MATLAB v7.3 files that matrix_import_test.cpp reads: matrix_files.py FOLDER; or, with
`check FILE`, reads a file of the matrix store as SCHEMA.md says it is read."""

import sys
import zlib

import h5py
import numpy as np

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def matlab(path, fill):
    """A MATLAB v7.3 file is an HDF5 file behind 512 bytes; its arrays lie column by column."""
    with h5py.File(path, "w", userblock_size=512) as file:
        fill(file)
    words = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 ."
    with open(path, "r+b") as file:
        file.write(words.ljust(116, b" ").ljust(124, b"\0") + b"\x00\x02IM")


def variable(file, name, data, matlab_class):
    data = np.asarray(data)
    dataset = file.create_dataset(name, data=data.T if data.ndim > 1 else data)
    dataset.attrs["MATLAB_class"] = np.bytes_(matlab_class)
    return dataset


def plain_files(folder):
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
    make("bool.h5", A=np.array([[True, False]]))
    make("empty.h5", A=np.ones((0, 3)))
    make("nothing.h5")
    make("group.h5", **{"A/x": A})
    for name, value in (("nan", np.nan), ("inf", -np.inf), ("beyond", np.longdouble("1e400"))):
        odd = A.astype("longdouble") if name == "beyond" else A.copy()
        odd[1, 2] = value
        make(f"{name}.h5", A=odd)
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
    matlab(f"{folder}/double.mat", lambda f: variable(f, "A", A, "double"))
    matlab(f"{folder}/single.mat", lambda f: variable(f, "H", A.astype("f4"), "single"))
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

    for name, fill in (
        ("two", two),
        ("complex", complex_one),
        ("empty", empty),
        ("sparse", sparse),
        ("struct", structure),
    ):
        matlab(f"{folder}/{name}.mat", fill)


def seal(path):
    """Puts the seal of the matrix store on a file that left 512 bytes for it."""
    with open(path, "r+b") as file:
        rest = file.read()[512:]
        file.seek(0)
        file.write(f"gaussweep matrix 1 crc32 {zlib.crc32(rest):08x} bytes {len(rest)}\n".encode().ljust(512, b"\0"))


def files_with_data_elsewhere(folder):
    """What is read of them is not in them; `make` is called once a file, and once more for a file of the store."""

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
        ("cube", np.zeros((2, 3, 4))),
        ("scalar", np.array(3.0)),
        ("empty", np.zeros((0, 3))),
        ("nan", np.where(A == 6, np.nan, A)),
        ("beyond", np.array([[1, 2**53 + 1]])),
    ):
        np.save(f"{folder}/{name}.npy", data)
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
        files_with_data_elsewhere(sys.argv[1])
