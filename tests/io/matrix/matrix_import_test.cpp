// Tests the import of matrices from HDF5, NumPy and MATLAB files, which matrix_files.py writes.
#include "io/matrix/matrix_file.hpp"
#include "io/matrix/npy.hpp"
#include "tests/io/matrix/matrix_samples.hpp"
#include "tests/python.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

/// The matrix [1 2 3; 4 5 6], column-major; most sample files contain it.
const std::vector<double> by_columns = {1, 4, 2, 5, 3, 6};

class MatrixImport : public MatrixFolder {
 protected:
  /// Writes the files with tests/io/matrix/matrix_files.py, once.
  void SetUp() override {
    static const TestFolder written_files;
    static const std::string failed =
        run_python("tests/io/matrix/matrix_files.py", {written_files.folder().string()});
    ASSERT_EQ(failed, "");
    std::filesystem::copy(written_files.folder(), folder(), std::filesystem::copy_options::recursive);
  }
  void expect_matrix(const std::string& name, const std::string& dataset = {}) {
    const Dense<double> a = import_matrix(folder() / name, dataset);
    EXPECT_EQ(a.rows, 2) << name;
    EXPECT_EQ(a.cols, 3) << name;
    EXPECT_EQ(a.data, by_columns) << name;
    const MatrixInfo info = matrix_info(folder() / name, dataset);
    EXPECT_EQ(info.rows, 2) << name;
    EXPECT_EQ(info.cols, 3) << name;
  }
  /// Returns the error of reading a file. It must name the file, and `matrix info` must fail alike.
  std::string failure(const std::string& name, const std::string& dataset = {}) {
    const std::filesystem::path path = folder() / name;
    const std::string message = failure_of([&] { import_matrix(path, dataset); });
    EXPECT_THAT(message, StartsWith(path.string() + ": "));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
};

TEST_F(MatrixImport, Hdf5IsRowMajorUnlessFlagged) {
  for (const char* name : {"rows.h5", "not_columns.h5", "columns.h5", "bool_columns.h5"}) expect_matrix(name);
  EXPECT_THAT(failure("bad_flag.h5"), HasSubstr("column_major is no single integer; allowed: 0 or 1"));
}

TEST_F(MatrixImport, OctavesHdf5IsColumnMajor) {
  expect_matrix("octave.h5");
  expect_matrix("octave.h5", "/A");
  expect_matrix("octave.h5", "/A/value");
  expect_matrix("octave_both.h5");
  EXPECT_THAT(import_matrix(folder() / "octave_both.h5", "b").data, ElementsAre(1, 4));
}

TEST_F(MatrixImport, JuliasHdf5IsColumnMajor) {
  for (const char* name : {"julia.jld2", "julia.jld"}) expect_matrix(name);
}

TEST_F(MatrixImport, UnreadableMatrixCountsInTheSearch) {
  EXPECT_THAT(failure("complex_beside.h5"), HasSubstr("several matrices (/G; /H is complex"));
  EXPECT_THAT(failure("sparse_beside.h5"), HasSubstr("several matrices (/obsm/X_pca; /X is sparse"));
  expect_matrix("complex_beside.h5", "G");
  expect_matrix("sparse_beside.h5", "obsm/X_pca");
}

TEST_F(MatrixImport, ReadsNumpyFilesInEitherOrderAndOfAnyRealType) {
  for (const char* name : {"rows", "columns", "float", "half", "big_endian", "bytes", "long"})
    expect_matrix(std::string(name) + ".npy");
  const Dense<double> vector = import_matrix(folder() / "vector.npy");
  EXPECT_EQ(vector.cols, 1);
  EXPECT_THAT(vector.data, ElementsAre(1, -2, 3));
  EXPECT_EQ(matrix_info(folder() / "long.npy").field, "integer");
  EXPECT_EQ(matrix_info(folder() / "rows.npy").format, "npy");
  std::string sha256;
  import_matrix(folder() / "rows.npy", "", &sha256);
  EXPECT_EQ(sha256, sha256_file(folder() / "rows.npy"));
}

TEST_F(MatrixImport, RefusesNumpyFilesWithoutARealMatrix) {
  for (const auto& [name, message] : std::vector<std::pair<std::string, std::string>>{
           {"complex", "holds '<c16' (complex); allowed: bool"},
           {"text", "holds '<U1'; allowed: bool"},
           {"records", "holds records or objects"},
           {"objects", "holds '|O'"},
           {"times", "holds '<M8"},
           {"extended", "holds '<f16'"},
           {"raw", "holds '|V2'"},
           {"cube", "has the shape (2, 3, 4); allowed: 2 dimensions, or 1 (a column)"},
           {"empty", "is empty"},
           {"nan", "element (2, 3) is nan; allowed: finite numbers"},
           {"beyond", "element (1, 2) is 9007199254740993, which is not exact as a double"},
           {"cut", "the file ends before its elements do"},
           {"cut_header", "the file ends before"}}) {
    EXPECT_THAT(failure(name + ".npy"), HasSubstr(message)) << name;
  }
  EXPECT_THAT(failure("rows.npy", "/A"), HasSubstr("has no datasets"));
}

TEST_F(MatrixImport, NumpyReadsExportedFiles) {
  export_npy(folder() / "out.npy", import_matrix(folder() / "rows.npy"));
  expect_matrix("out.npy");
  EXPECT_EQ(run_python("tests/io/matrix/matrix_files.py", {"check_npy", (folder() / "out.npy").string()}),
            "");
}

TEST_F(MatrixImport, NamesAMistakeInTheFirstLineOfMatrixMarket) {
  for (const char* line :
       {"%MatrixMarket matrix coordinate real general", "%%matrixmarket matrix array real general"}) {
    const std::string message =
        failure_of([&] { import_matrix(put("first.mtx", std::string(line) + "\n1 1\n1\n")); });
    EXPECT_THAT(message, HasSubstr("first.mtx:1: '" + std::string(line).substr(0, 40)));
    EXPECT_THAT(message, HasSubstr("allowed: %%MatrixMarket matrix"));
  }
  EXPECT_THAT(
      failure_of([&] { import_matrix(put("cr.mtx", "%%MatrixMarket matrix array real general\r1 1\r2\r")); }),
      HasSubstr("cr.mtx:1: the lines end with CR alone"));
}

// Data in another file may change while the digest stays. The author of a file could also choose which of the
// user's files is read.
TEST_F(MatrixImport, RefusesDataOutsideTheFile) {
  const auto all = [&](const std::string& name) {
    const std::string message = failure(name + ".h5");
    EXPECT_EQ(failure(name + ".h5", "/A"), message);
    EXPECT_EQ(failure_of([&] { matrix_info(folder() / (name + ".h5")); }), message);
    const std::string sealed =
        failure_of([&] { read_matrix<double>(folder() / ("sealed_" + name + ".h5")); });
    EXPECT_THAT(sealed, HasSubstr(message.substr(message.find("/A"))));
    return message;
  };
  EXPECT_THAT(all("external_link"), HasSubstr("/A is an external link, into the file 'rows.h5'"));
  EXPECT_THAT(all("soft_link"), HasSubstr("/A is an external link, into the file 'rows.h5'"));
  EXPECT_THAT(all("virtual"), HasSubstr("/A is a virtual dataset"));
  EXPECT_THAT(all("stored_outside"), HasSubstr("/A keeps its data in another file (external storage)"));
  EXPECT_THAT(failure("soft_link.h5", "/elsewhere/A"), HasSubstr("is an external link"));
  expect_matrix("beside_a_virtual_one.h5");
  EXPECT_THAT(failure("beside_a_virtual_one.h5", "/V"), HasSubstr("/V is a virtual dataset"));
  EXPECT_THAT(failure("references.h5"), HasSubstr("holds no numbers"));
}

TEST_F(MatrixImport, NamesAMissingFilterBeforeReading) {
  EXPECT_THAT(failure("filter_absent.h5"), HasSubstr("/A is packed with the filter 32099"));
  EXPECT_THAT(failure_of([&] { matrix_info(folder() / "filter_absent.h5"); }),
              HasSubstr("not installed here"));
}

TEST_F(MatrixImport, RefusesNamesWithANulByte) {
  const std::string path = (folder() / "rows.h5").string();
  for (const std::string& suffix : {std::string("\0", 1), std::string("\0.h5", 4)}) {
    EXPECT_THAT(failure_of([&] { import_matrix(path + suffix); }), HasSubstr("rows.h5\\0"));
    EXPECT_THAT(failure_of([&] { matrix_info(path + suffix); }), HasSubstr("a NUL byte in the name"));
  }
  EXPECT_NE(failure_of([&] { import_matrix(path, std::string("A\0B", 3)); }), "");
}

TEST_F(MatrixImport, OpensOnlyRegularFiles) {
  ASSERT_EQ(mkfifo((folder() / "fifo.mtx").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder() / "zero.h5");
  EXPECT_THAT(failure("fifo.mtx"), HasSubstr("is no file (it is a FIFO"));
  EXPECT_THAT(failure("zero.h5"), HasSubstr("is no file (it is a device"));
  EXPECT_THAT(failure_of([&] { sha256_file(folder() / "fifo.mtx"); }), HasSubstr("it is a FIFO"));
}

TEST_F(MatrixImport, ReadsLargeMatricesInPanels) {
  const Dense<double> a = import_matrix(folder() / "tall.h5");  // two blocks: 64 MiB hold 2842 rows
  ASSERT_EQ(a.rows, 3000);
  ASSERT_EQ(a.cols, 2950);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return a.data[static_cast<std::size_t>(i + j * 3000)];
  };
  EXPECT_EQ((std::vector<double>{at(0, 0), at(0, 2), at(2841, 1), at(2842, 1), at(2999, 2949)}),
            (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(std::accumulate(a.data.begin(), a.data.end(), 0.0), 15) << "all others are 0";
}

TEST_F(MatrixImport, ReadsHdf5NumbersOfAllTypes) {
  for (const char* name : {"float.h5", "big_endian.h5", "int.h5", "packed.h5"}) expect_matrix(name);
  EXPECT_EQ(matrix_info(folder() / "int.h5").field, "integer");
  EXPECT_EQ(matrix_info(folder() / "rows.h5").field, "real");
  EXPECT_EQ(matrix_info(folder() / "rows.h5").format, "hdf5");
}

TEST_F(MatrixImport, FindsTheDataset) {
  expect_matrix("named.h5");
  expect_matrix("link.h5");
  expect_matrix("named.h5", "deep/er/matrix");
  expect_matrix("named.h5", "/deep/er/matrix");
  expect_matrix("beside.h5");
  EXPECT_EQ(import_matrix(folder() / "beside.h5", "B").data[0], 2);
  EXPECT_EQ(matrix_info(folder() / "named.h5").dataset, "/deep/er/matrix");
  EXPECT_THAT(failure("two.h5"), HasSubstr("several matrices (/B, /C); name one with dataset (--dataset)"));
  EXPECT_THAT(failure("two.h5", "D"), HasSubstr("no dataset 'D'; it has: /B, /C"));
  EXPECT_THAT(failure("named.h5", "deep"), HasSubstr("is a group"));
  EXPECT_THAT(failure("named.h5", "deep/x/y/z"), HasSubstr("no dataset 'deep/x/y/z'"));
  EXPECT_THAT(failure("two.h5", "."), HasSubstr("."));
  EXPECT_THAT(failure("nothing.h5"), HasSubstr("holds no matrix"));
}

TEST_F(MatrixImport, FindsFieldsOfStructsInHdf5) {
  for (const char* name : {"problem.h5", "problem_struct.mat", "octave_problem.h5"}) {
    for (const char* dataset : {"", "Problem.A", "Problem/A", "/Problem/A"}) expect_matrix(name, dataset);
    expect_matrix(name, matrix_info(folder() / name).dataset);
    const DatasetChoice right{"", Operand::right_hand_sides_in_same_file};
    EXPECT_THAT(import_matrix(folder() / name, right).data, ElementsAre(1, 4)) << name;
    EXPECT_EQ(matrix_info(folder() / name, "Z").rows, 4) << name;
    EXPECT_THAT(failure(name, "Problem"), HasSubstr("Problem is a group"));
  }
  expect_matrix("octave_struct.h5");
  expect_matrix("octave_struct.h5", "S.inner.M");
  expect_matrix("struct.mat");
}

TEST_F(MatrixImport, VectorsAreColumnsInEveryFormat) {
  for (const char* name : {"vector.npy", "vector.h5"}) {
    const Dense<double> vector = import_matrix(folder() / name);
    EXPECT_EQ(vector.rows, 3) << name;
    EXPECT_EQ(vector.cols, 1) << name;
  }
  for (const char* name : {"scalar.npy", "scalar.h5"})
    EXPECT_THAT(import_matrix(folder() / name).data, ElementsAre(3)) << name;
  EXPECT_EQ(matrix_info(folder() / "matrix_and_vector.h5").dataset, "/M")
      << "the only one with rows and columns";
}

TEST_F(MatrixImport, BoolAndSmallTypesAreNumbers) {
  for (const char* name : {"bool.npy", "bool.h5", "bits.h5", "logical.mat", "v5_logical.mat"})
    EXPECT_THAT(import_matrix(folder() / name).data, ElementsAre(1, 0, 0, 1)) << name;
  expect_matrix("half.h5");
}

TEST_F(MatrixImport, RightHandSidesHaveTheirOwnUsualName) {
  const DatasetChoice right{"", Operand::right_hand_sides};
  const DatasetChoice same_file{"", Operand::right_hand_sides_in_same_file};
  for (const DatasetChoice& choice : {right, same_file}) {
    EXPECT_THAT(import_matrix(folder() / "octave_both.h5", choice).data, ElementsAre(1, 4));
    EXPECT_EQ(matrix_info(folder() / "problem.mat", choice).dataset, "Problem.b");
  }
  EXPECT_EQ(matrix_info(folder() / "rows.h5", right).dataset, "/A") << "the only matrix of another file";
  EXPECT_THAT(failure_of([&] { import_matrix(folder() / "rows.h5", same_file); }),
              HasSubstr("no right-hand sides 'b'"));
  EXPECT_THAT(failure_of([&] { import_matrix(folder() / "rows.npy", same_file); }),
              HasSubstr("holds one matrix"));
  EXPECT_THAT(failure_of([&] {
                import_matrix(folder() / "rows.npy", {"b", Operand::right_hand_sides});
              }),
              HasSubstr("has no datasets; leave out --rhs-dataset"));
  EXPECT_THAT(failure_of([&] { import_matrix(folder() / "beside.h5", right); }),
              HasSubstr("holds several matrices (/A, /B); name one with --rhs-dataset"));
  EXPECT_THAT(failure_of([&] { import_matrix(folder() / "v5_beside.mat", right); }),
              HasSubstr("holds several matrices (B, A)"));
}

TEST_F(MatrixImport, ReadsVariantsOfTheFormatsFromOtherWriters) {
  for (const char* name :
       {"v5_utf8_name", "v5_unsigned_dims", "v5_beside_string", "v5_unnamed", "v5_appended"})
    expect_matrix(std::string(name) + ".mat");
  for (const char* name : {"long_sizes", "double_quotes", "type_name", "short_type"})
    expect_matrix(std::string(name) + ".npy");
  EXPECT_THAT(failure("octave_empty.h5"), HasSubstr("/A is empty"));
  EXPECT_THAT(failure("octave_sparse.h5"), HasSubstr("/A is Octave's 'sparse matrix'"));
}

TEST_F(MatrixImport, RefusesHdf5WithoutAMatrix) {
  EXPECT_THAT(failure("cube.h5"), HasSubstr("/A has 3 dimensions; allowed: 2, or 1 (a column)"));
  EXPECT_THAT(failure("complex.h5"), HasSubstr("/A is complex"));
  EXPECT_THAT(failure("text.h5"), HasSubstr("/A holds no numbers"));
  EXPECT_THAT(failure("enumeration.h5"), HasSubstr("/A holds no numbers"));
  EXPECT_THAT(failure("not_bool.h5"), HasSubstr("/A holds no numbers"));
  for (const std::string name : {"scale_factor", "add_offset"})
    EXPECT_THAT(failure(name + ".h5"), HasSubstr("/A is packed (netCDF's " + name + ")"));
  EXPECT_THAT(failure("null.h5"), HasSubstr("/A is empty"));
  EXPECT_THAT(failure("dangling.h5"), HasSubstr("could not open /A"));
  EXPECT_THAT(failure("sparse_group.h5"), HasSubstr("/X is sparse"));
  EXPECT_THAT(failure("sparse_group.h5", "X"), HasSubstr("X is sparse"));
  EXPECT_THAT(failure("empty.h5"), HasSubstr("/A is empty"));
  EXPECT_THAT(failure("huge.h5"),
              HasSubstr("a dense 1099511627776 x 1048576 matrix is too large; allowed: "));
}

TEST_F(MatrixImport, NamesTheElementThatADoubleCannotHold) {
  EXPECT_THAT(failure("nan.h5"), HasSubstr("/A: element (2, 3) is nan; allowed: finite numbers"));
  EXPECT_THAT(failure("inf.h5"), HasSubstr("/A: element (2, 3) is -inf; allowed: finite numbers"));
  EXPECT_THAT(failure("beyond.h5"), HasSubstr("e+400; allowed: finite numbers"));
  EXPECT_THAT(failure("third.h5"), testing::AllOf(HasSubstr("(2, 3) is 0.333333333333333333"),
                                                  HasSubstr("which is not exact as a double")));
  EXPECT_THAT(failure("nan_columns.h5"), HasSubstr("/A: element (2, 3) is nan"));
  EXPECT_EQ(import_matrix(folder() / "exact.h5").data.back(), 9007199254740992.0);
  EXPECT_THAT(failure("odd.h5"), HasSubstr("element (2, 3) is -9007199254740993, which is not exact"));
  EXPECT_THAT(failure("large.h5"), HasSubstr("element (2, 3) is 9223372036854775809, which is not exact"));
}

TEST_F(MatrixImport, MatlabIsColumnMajor) {
  expect_matrix("double.mat");
  expect_matrix("single.mat");
  expect_matrix("single.mat", "H");
  expect_matrix("int32.mat");
  expect_matrix("two.mat", "X");
  EXPECT_EQ(matrix_info(folder() / "double.mat").format, "matlab");
  EXPECT_EQ(matrix_info(folder() / "single.mat").dataset, "/H");
}

TEST_F(MatrixImport, RefusesMatlabWithoutAFullRealMatrix) {
  EXPECT_THAT(failure("sparse.mat"), HasSubstr("/A is sparse; allowed: full matrices"));
  EXPECT_THAT(failure("sparse.mat", "A"), HasSubstr("is sparse"));
  EXPECT_THAT(failure("complex.mat"), HasSubstr("complex"));
  EXPECT_THAT(failure("function.mat"), HasSubstr("/A is of MATLAB class 'function_handle'"));
  EXPECT_THAT(failure("empty.mat"), HasSubstr("/A is empty"));
  EXPECT_THAT(failure("char.mat"), HasSubstr("MATLAB class 'char'"));
  EXPECT_THAT(failure("cube.mat"), HasSubstr("3 dimensions"));
  EXPECT_THAT(failure("two.mat"), HasSubstr("several matrices (/X, /Y)"));
}

TEST_F(MatrixImport, ReadsOlderMatlabFilesFullAndSparse) {
  for (const char* name : {"v5", "v5_bytes", "v5_single", "v5_int16", "v5_big_endian", "v5_packed",
                           "v5_beside", "v5_only", "v4", "v4_single", "v4_int32", "v4_big_endian"}) {
    expect_matrix(std::string(name) + ".mat");
  }
  for (const char* name : {"v5_sparse", "v5_sparse_packed", "v5_sparse_bytes", "v4_sparse",
                           "v4_sparse_big_endian", "v4_unsorted", "v4_twice", "problem", "problem_packed"}) {
    const std::filesystem::path path = folder() / (std::string(name) + ".mat");
    EXPECT_THAT(import_matrix(path).data, ElementsAre(1, 4, 0, 5, 3, 0)) << name;
    EXPECT_EQ(matrix_info(path).stored_entries, std::string(name) == "v4_twice" ? 5 : 4) << name;
  }
  EXPECT_EQ(matrix_info(folder() / "v5_only.mat").dataset, "H");
  EXPECT_EQ(matrix_info(folder() / "v5_int16.mat").field, "integer");
  EXPECT_EQ(matrix_info(folder() / "problem.mat").dataset, "Problem.A");
  expect_matrix("problem.mat", "/Problem/b");
  expect_matrix("v5_two.mat", "Y");
  EXPECT_EQ(import_matrix_in_child(folder() / "v5.mat").data, by_columns);
  std::string sha256;
  import_matrix(folder() / "v5.mat", "", &sha256);
  EXPECT_EQ(sha256, sha256_file(folder() / "v5.mat"));
}

TEST_F(MatrixImport, ReadsCompressedNumbersThatEndAtABlockBoundary) {
  const Dense<double> a = import_matrix(folder() / "v5_packed_together.mat");
  ASSERT_EQ(a.data.size(), 8192u);
  EXPECT_EQ(a.data[8191], 8191);
  EXPECT_EQ(a.data[1], 128);
}

TEST_F(MatrixImport, RefusesOlderMatlabFilesWithoutARealMatrix) {
  for (const auto& [name, message] : std::vector<std::pair<std::string, std::string>>{
           {"v5_two", "holds several matrices (X, Y); name one with dataset (--dataset)"},
           {"v5_complex", "A is complex; allowed: real numbers"},
           {"v5_char", "A is a text"},
           {"v5_cell", "A holds no numbers"},
           {"v4_text", "A is a text"},
           {"v5_cube", "A has 3 dimensions; allowed: 2, or 1 (a column)"},
           {"v5_empty", "A is empty"},
           {"v5_nothing", "holds no matrix"},
           {"v5_nan", "A: element (2, 3) is nan"},
           {"v5_beyond", "A: element (1, 2) is 9007199254740993, which is not exact"},
           {"v5_wide_sparse", "A: a dense 2147483647 x 2147483647 matrix is too large"},
           // Damage that no checksum shows.
           {"v5_huge", "fewer or more elements than its dimensions say"},
           {"v5_more", "fewer or more elements than its dimensions say"},
           {"v5_fewer", "fewer or more elements than its dimensions say"},
           {"v5_negative", "fewer or more elements than its dimensions say"},
           {"v5_row_outside", "an entry is outside of its sparse matrix"},
           {"v5_falling", "the columns of a sparse matrix do not fit its entries"},
           {"v5_starts_beyond", "the columns of a sparse matrix do not fit its entries"},
           {"v5_damaged", "its compressed data are damaged"},
           {"v4_huge", "it is cut off, or damaged"},
           {"v4_outside", "an entry is outside of its sparse matrix"},
           {"v4_sparse_complex", "A is sparse and complex"}}) {
    EXPECT_THAT(failure(name + ".mat"), HasSubstr(message)) << name;
  }
  EXPECT_THAT(failure("problem.mat", "Problem.x"),
              HasSubstr("has no dataset 'Problem.x'; it has: Problem.A, Problem.b"));
}

TEST_F(MatrixImport, RefusesOlderMatlabFilesCutOffAnywhere) {
  for (const char* name : {"v4", "v4_sparse", "v5", "v5_packed", "v5_sparse", "problem_packed"}) {
    const std::string whole = file_text(folder() / (std::string(name) + ".mat"));
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      put("cut.mat", whole.substr(0, bytes));
      EXPECT_THROW(import_matrix(folder() / "cut.mat"), InputError) << name << ", " << bytes << " bytes";
    }
  }
}

TEST_F(MatrixImport, RefusesFilesOfOtherKinds) {
  put("old.mat", "MATLAB 5.0 MAT-file, Platform: GLNXA64" + std::string(600, 'x'));
  EXPECT_THAT(failure("old.mat"), HasSubstr("neither"));
  using namespace std::string_literals;
  for (const auto& [name, start, message] : std::vector<std::array<std::string, 3>>{
           {"a.bz2", "BZh91AY", "compressed by bzip2; unpack it first (bunzip2 -k)"},
           {"a.tar.xz",
            "\xfd"
            "7zXZ\0"s,
            "compressed by xz; unpack it first (tar -xJf)"},
           {"a.zip", "PK\3\4", "is a zip archive; open it first (unzip)"},
           {"a.npz", "PK\3\4", "is an archive of NumPy arrays (.npz); open it first (unzip)"},
           {"b.zip", "PK\3\4" + std::string(26, 'x') + "A.npy", "scipy.io.mmwrite"},
           {"b.nc", "CDF\2", "is a netCDF file of the classic format"},
           {"c.nc", "CDF\5", "is a netCDF file of the classic format"},
           {"a.mtx", "\xff\xfe%\0"s, "is a text in UTF-16"},
           {"a.nc", "CDF\1", "is a netCDF file of the classic format"},
           {"a.txt", "# Created by Octave 7.3",
            "is in Octave's text format; save it again with: save -v7"}}) {
    put(name, start);
    EXPECT_THAT(failure(name), HasSubstr(message)) << name;
  }
  put("a.tar.gz", "\x1f\x8b\x08");
  EXPECT_THAT(failure("a.tar.gz"), testing::AllOf(HasSubstr("gzip"), HasSubstr("(tar -xzf)")));
  put("a.mtx.gz", "\x1f\x8b\x08");
  EXPECT_THAT(failure("a.mtx.gz"), HasSubstr("(gunzip -k)"));
  put("x.txt", "1 2 3\n");
  EXPECT_THAT(failure("x.txt"), HasSubstr("neither Matrix Market nor NumPy's .npy nor MATLAB's nor HDF5"));
  put("x.mtx", "1 2 3\n");
  std::string digest = "not computed";
  EXPECT_THROW(import_matrix(folder() / "x.mtx", "", &digest), InputError);
  EXPECT_THROW(matrix_info(folder() / "x.mtx", "", &digest), InputError);
  EXPECT_EQ(digest, "not computed") << "a file of an unknown format must be refused before it is read";
  put("nil.mtx", "");
  EXPECT_THAT(failure("nil.mtx"), HasSubstr("is empty"));
  put("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n");
  EXPECT_THAT(failure("a.mtx", "A"), HasSubstr("has no datasets"));
  EXPECT_THAT(failure("absent.h5"), HasSubstr("there is no such file"));
  EXPECT_THAT(failure("."), HasSubstr("is no file"));
  if (geteuid() != 0) {
    chmod((folder() / "rows.h5").c_str(), 0);
    EXPECT_THAT(failure("rows.h5"), HasSubstr("Permission denied"));
  }
}

TEST_F(MatrixImport, DetectsDamageByHdf5ChecksumFilter) {
  const std::string whole = file_text(folder() / "checked.h5");
  ASSERT_EQ(import_matrix(folder() / "checked.h5").data[1], 64);
  std::string damaged = whole;
  const double number = 1234;
  const std::size_t index = damaged.find(std::string(reinterpret_cast<const char*>(&number), sizeof number));
  ASSERT_NE(index, std::string::npos);
  damaged[index + 6] ^= 1;
  put("damaged.h5", damaged);
  EXPECT_THAT(failure("damaged.h5"), HasSubstr("/A"));
}

TEST_F(MatrixImport, RefusesDamagedFilesOfGaussweep) {
  StoredMatrix<double> whole;
  whole.a = {2, 3, by_columns};
  write_matrix(folder() / "ours.h5", whole);
  expect_matrix("ours.h5");
  std::string text = file_text(folder() / "ours.h5");
  const double four = 4;
  const auto index = text.find(std::string(reinterpret_cast<const char*>(&four), sizeof four));
  ASSERT_NE(index, std::string::npos);
  text[index] = 1;  // the last bit of an element
  put("ours.h5", text);
  EXPECT_THAT(failure("ours.h5"), HasSubstr("its checksum does not match its contents"));
}

TEST_F(MatrixImport, DamagedFilesNeverCrash) {
  // Runs in a child process, because HDF5 leaks memory of files that it failed to read and complains at exit.
  const pid_t child = start([&] {
    int unnoticed = 0;
    for (const char* name : {"checked.h5", "double.mat", "rows.h5"}) {
      const std::string whole = file_text(folder() / name);
      const std::filesystem::path path = folder() / "damaged.h5";
      std::mt19937 random(3);
      for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40) {
        put("damaged.h5", whole.substr(0, length));
        unnoticed += failure_of([&] { import_matrix(path); }).empty();
      }
      for (int round = 0; round < 60; ++round) {
        std::string damaged = whole;
        const std::size_t index = random() % std::min<std::size_t>(damaged.size(), 2048);
        damaged[index] = static_cast<char>(damaged[index] ^ (1 << random() % 8));
        put("damaged.h5", damaged);
        // Some bits are unused and some only change numbers; any outcome except a crash is right.
        failure_of([&] { import_matrix(path); });
        failure_of([&] { matrix_info(path); });
      }
    }
    return unnoticed == 0 ? 0 : 1;
  });
  EXPECT_EQ(status_of(child), 0) << "1: a truncated file was read; 9: another exception";
}

}  // namespace
}  // namespace gaussweep::io
