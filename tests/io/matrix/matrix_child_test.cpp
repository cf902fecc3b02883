/// Tests matrices of HDF5 files that a child process reads.

#include "io/matrix/matrix_file.hpp"
#include "tests/io/matrix/matrix_samples.hpp"
#include "tests/python.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

class MatrixInChild : public MatrixFolder {
 protected:
  /// Returns a file of the fuzzers' corpus.
  static std::filesystem::path corpus(const std::string& name) {
    return source_folder() / "tests/fuzz/corpus/hdf5_matrix" / name;
  }
};

TEST_F(MatrixInChild, ChildReadsTheSame) {
  StoredMatrix<double> stored;
  stored.a = {1500, 1501, std::vector<double>(1500 * 1501)};  // several pieces, the last one short
  std::iota(stored.a.data.begin(), stored.a.data.end(), 0.5);
  stored.attributes = {{"kind", "file"}, {"precision", "double"}};
  write_matrix(folder() / "m.h5", stored);
  const Dense<double> read = import_matrix_in_child(folder() / "m.h5");
  EXPECT_EQ(std::tuple(read.rows, read.cols, read.data), std::tuple(1500, 1501, stored.a.data));
  std::string digest, expected_digest;
  const MatrixInfo info = matrix_info_in_child(folder() / "m.h5", "/A", &digest);
  const MatrixInfo expected = matrix_info(folder() / "m.h5", "/A", &expected_digest);
  EXPECT_EQ(digest, expected_digest);
  EXPECT_EQ(info.attributes, expected.attributes);
  EXPECT_EQ(info.attributes.at("kind"), "file");
  const auto texts = [](const MatrixInfo& of) {
    return of.format + " " + of.dataset + " " + of.field + " " + of.symmetry;
  };
  EXPECT_EQ(texts(info), texts(expected));
  EXPECT_EQ(info.stored_entries, expected.stored_entries);
  put("a.mtx", "%%MatrixMarket matrix array real general\n2 1\n3\n4\n");
  EXPECT_EQ(import_matrix_in_child(folder() / "a.mtx").data, (std::vector<double>{3, 4}));
  EXPECT_EQ(matrix_info_in_child(folder() / "a.mtx").rows, 2);
}

TEST_F(MatrixInChild, RefusalHasTheSameMessage) {
  put("text.h5", "no");
  for (const auto& path : {folder() / "none.h5", folder() / "text.h5", corpus("two.h5")}) {
    const std::string message = failure_of([&] { import_matrix(path); });
    EXPECT_THAT(message, StartsWith(path.string()));
    EXPECT_EQ(failure_of([&] { import_matrix_in_child(path); }), message);
    EXPECT_EQ(failure_of([&] { matrix_info_in_child(path); }), message);
  }
}

// Depending on its memory layout, libhdf5 crashes on the first file or reads it. Other versions may refuse
// both files with a reason.
TEST_F(MatrixInChild, SurvivesFilesThatCrashOrHangTheLibrary) {
  for (const char* name : {"crash_of_the_library.h5", "hang_of_the_library.h5"}) {
    for (const bool elements : {false, true}) {
      const std::string message = failure_of([&] {
        elements ? void(import_matrix_in_child(corpus(name), "", 1))
                 : void(matrix_info_in_child(corpus(name), "", nullptr, 1));
      });
      const bool may_be_read = name == std::string("crash_of_the_library.h5");
      if (may_be_read && message.empty()) continue;
      EXPECT_THAT(message, StartsWith(corpus(name).string() + ": "));
      std::printf("%s\n", message.c_str());
    }
  }
}

}  // namespace
}  // namespace gaussweep::io
