// Tests the command `matrix`: generating, importing, exporting and describing matrix files.

#include "driver/command/matrix_files.hpp"
#include "driver/base/errors.hpp"
#include "driver/command/options.hpp"
#include "io/files/errors.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

namespace fs = std::filesystem;

class MatrixFiles : public ::testing::Test {
 protected:
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  TestFolder scratch_;
  const fs::path& folder_ = scratch_.folder();
};

MatrixSpec square(MatrixKind kind, std::int64_t n) {
  MatrixSpec spec;
  spec.kind = kind;
  spec.rows = spec.cols = n;
  return spec;
}

TEST_F(MatrixFiles, GeneratesASystemWithItsSolution) {
  const fs::path file = folder_ / "a.h5";
  generate_to_file(square(MatrixKind::diagonally_dominant, 9), Precision::float64, 2, file);
  const auto stored = io::read_matrix<double>(file);
  ASSERT_EQ(stored.a.rows, 9);
  ASSERT_EQ(stored.b.cols, 2);
  for (std::int64_t j = 0; j < 2; ++j) {
    for (std::int64_t i = 0; i < 9; ++i) {
      double sum = 0, size = 0;
      for (std::int64_t k = 0; k < 9; ++k) {
        const double term = stored.a.data[static_cast<std::size_t>(i + 9 * k)] *
                            stored.x_true.data[static_cast<std::size_t>(k + 9 * j)];
        sum += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(stored.b.data[static_cast<std::size_t>(i + 9 * j)], sum, 1e-14 * size);
    }
  }
  EXPECT_EQ(stored.attributes.at("kind"), "diagonally_dominant");
  EXPECT_EQ(files(), 1U) << "no temporary file is left";
}

TEST_F(MatrixFiles, RoundTripKeepsEveryBit) {
  const fs::path first = folder_ / "a.h5", text = folder_ / "a.mtx", second = folder_ / "b.h5";
  MatrixSpec spec = square(MatrixKind::uniform, 7);
  spec.cols = 5;
  spec.low = -3;
  generate_to_file(spec, Precision::float64, 0, first);
  export_to_file(first, "", text);
  import_to_file(text, "", Precision::float64, second);
  EXPECT_EQ(io::import_matrix(first).data, io::import_matrix(second).data);
  EXPECT_EQ(io::import_matrix(second).cols, 5);
  for (const char* direct : {"direct.mtx", "direct.npy"}) {
    generate_to_file(spec, Precision::float64, 0, folder_ / direct);
    EXPECT_EQ(io::import_matrix(folder_ / direct).data, io::import_matrix(first).data) << direct;
    EXPECT_THROW(import_to_file(first, "", Precision::float64, folder_ / direct), UsageError);
  }
}

TEST_F(MatrixFiles, FloatIsRoundedOnceAndOverflowIsRefused) {
  const fs::path text = folder_ / "a.mtx";
  std::ofstream(text) << "%%MatrixMarket matrix array real general\n1 2\n0.1\n1e300\n";
  EXPECT_THROW(import_to_file(text, "", Precision::float32, folder_ / "a.h5"), io::InputError);
  EXPECT_EQ(files(), 1U) << "no partial file";
  import_to_file(text, "", Precision::float64, folder_ / "a.h5");
  std::ofstream(text) << "%%MatrixMarket matrix array real general\n1 2\n0.1\n2\n";
  import_to_file(text, "", Precision::float32, folder_ / "b.h5");
  EXPECT_EQ(io::read_matrix<float>(folder_ / "b.h5").a.data, (std::vector<float>{0.1F, 2.0F}));
}

TEST_F(MatrixFiles, RefusesToOverwriteUnlessForced) {
  const fs::path file = folder_ / "a.h5";
  EXPECT_NO_THROW(check_output(file, /*force=*/false));
  std::ofstream(file) << "precious";
  EXPECT_THROW(check_output(file, /*force=*/false), UsageError);
  EXPECT_NO_THROW(check_output(file, /*force=*/true));
  EXPECT_THROW(check_output(folder_, /*force=*/true), UsageError) << "a directory";
  EXPECT_THROW(check_output(folder_ / "no" / "such" / "a.h5", /*force=*/false), UsageError);
  EXPECT_NO_THROW(check_output("a_name_without_a_folder.h5", /*force=*/false));
}

TEST_F(MatrixFiles, RefusesInvalidOptions) {
  const fs::path h5 = folder_ / "a.h5", mtx = folder_ / "a.mtx";
  EXPECT_THROW(is_hdf5_ending("a.txt"), UsageError);
  EXPECT_THROW(parse_kind("uniformm"), UsageError);
  EXPECT_THROW(parse_precision("half"), UsageError);
  EXPECT_THROW(generate_to_file(square(MatrixKind::uniform, 0), Precision::float64, 0, h5), UsageError);
  EXPECT_THROW(generate_to_file(square(MatrixKind::uniform, 4), Precision::float64, 1, mtx), UsageError);
  EXPECT_THROW(generate_to_file(square(MatrixKind::uniform, 4), Precision::float64, -1, h5), UsageError);
  EXPECT_THROW(generate_to_file(square(MatrixKind::uniform, 1 << 30), Precision::float64, 0, h5), UsageError);
  MatrixSpec wide = square(MatrixKind::identity, 4);
  wide.cols = 5;
  EXPECT_THROW(generate_to_file(wide, Precision::float64, 0, h5), UsageError) << "identity must be square";
  EXPECT_THROW(import_to_file(folder_ / "absent.mtx", "", Precision::float64, h5), io::InputError);
  EXPECT_THROW(import_to_file(h5, "", Precision::float64, mtx), UsageError);
  EXPECT_THROW(export_to_file(mtx, "", h5), UsageError);
  EXPECT_EQ(files(), 0U);
}

TEST_F(MatrixFiles, InfoDescribesTheFile) {
  const fs::path file = folder_ / "a.h5";
  generate_to_file(square(MatrixKind::hilbert, 3), Precision::float32, 0, file);
  const auto json = info_json(io::matrix_info(file));
  EXPECT_EQ(json["format"], "gaussweep");
  EXPECT_EQ(json["rows"], 3);
  EXPECT_EQ(json["attributes"]["kind"], "hilbert");
  EXPECT_NE(info_text(io::matrix_info(file)).find("3 x 3"), std::string::npos);
}

TEST(MatrixProperties, ShowTheLimitsOfDoubleAndFloat) {
  const auto text_of = [](std::vector<double> elements) {
    return properties_text(inspect(io::Dense<double>{2, 2, std::move(elements)}, /*factors=*/true));
  };
  EXPECT_THAT(text_of({2, 1, 1, 2}), HasSubstr("in double, 6 in float"));
  for (const double beyond_float : {1e200, 1e-200})
    EXPECT_THAT(text_of({beyond_float, 0, 0, beyond_float}), HasSubstr("float cannot hold the matrix"));
  EXPECT_THAT(text_of({1.5e308, 1e308, 1e308, 1.5e308}), HasSubstr("1-norm above 1.797e+308"));
  io::Dense<double> large{2, 2, {1.5e308, 1e308, 1e308, 1.5e308}};
  EXPECT_EQ(properties_json(inspect(std::move(large), /*factors=*/true))["norm_1"], "inf");
  EXPECT_THAT(text_of({1, 0, 0, 1e-16}), Not(HasSubstr("definite"))) << "rounding errors may decide";
}

}  // namespace
}  // namespace gaussweep::driver
