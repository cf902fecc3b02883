// Tests the names and parameters of matrices in records.

#include "driver/plan/matrix_request.hpp"
#include "driver/plan/trial.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

std::string matrix_parameters_text(const Trial& trial) {
  return driver::matrix_parameters_text(trial.matrix, trial.matrix_b);
}

Trial of_kind(MatrixKind kind) {
  Trial trial;
  trial.problem = Problem::named("gesv");
  trial.matrix.kind = to_string(kind);
  trial.matrix.spec.kind = kind;
  return trial;
}

TEST(MatrixWords, KindListsItsParameters) {
  Trial trial = of_kind(MatrixKind::condition);
  trial.matrix.spec.condition = 1e12;
  EXPECT_EQ(matrix_label(trial.matrix), "condition");
  EXPECT_EQ(matrix_parameters_text(trial), R"({"condition":1000000000000.0,"mode":3})");
  EXPECT_EQ(matrix_parameters_text(of_kind(MatrixKind::uniform)), R"({"high":1.0,"low":0.0})");
  EXPECT_EQ(matrix_parameters_text(of_kind(MatrixKind::ones)), R"({"value":1.0})");
  EXPECT_EQ(matrix_parameters_text(of_kind(MatrixKind::cauchy)), "{}");
}

TEST(MatrixWords, BlurListsOnlyItsParameters) {
  Trial trial = of_kind(MatrixKind::blur);
  BlurSpec& blur = trial.matrix.spec.blur;
  blur.width = blur.height = 8;
  EXPECT_EQ(matrix_parameters_text(trial),
            R"({"lambda":0.01,"psf":"gaussian","radius":3,"sigma":1.5,"what":"system"})");
  blur.psf = PointSpread::motion;
  blur.what = BlurMatrix::h;
  blur.height = 4;
  EXPECT_EQ(matrix_parameters_text(trial),
            R"({"angle":0.0,"height":4,"length":7.0,"psf":"motion","what":"h","width":8})");
  blur.psf = PointSpread::file;
  blur.weights = HostMatrix<double>(1, 1);
  const std::string one = matrix_parameters_text(trial);
  blur.weights.data[0] = 2;
  EXPECT_NE(matrix_parameters_text(trial), one) << "two files of weights";
}

TEST(MatrixWords, FileHasItsNameAndDigest) {
  Trial trial;
  trial.problem = Problem::named("gesv");
  trial.matrix.kind = "file";
  trial.matrix.file = "/data/2026/bus.h5";
  trial.matrix.file_sha256 = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(matrix_label(trial.matrix), "bus.h5");
  EXPECT_EQ(matrix_parameters_text(trial), R"({"sha256":"0123456789ab"})");
  trial.matrix.dataset = "A";
  EXPECT_EQ(matrix_parameters_text(trial), R"({"dataset":"A","sha256":"0123456789ab"})");
}

TEST(MatrixWords, NamesBOfAProductUnlessItIsTheDefault) {
  Trial trial = of_kind(MatrixKind::uniform);
  trial.problem = Problem::named("gemm");
  trial.matrix_b = trial.matrix;
  trial.matrix_b->spec.seed = next_seed(trial.matrix.spec.seed);
  EXPECT_EQ(matrix_parameters_text(trial), R"({"high":1.0,"low":0.0})");
  trial.matrix_b->spec.seed = 7;
  EXPECT_EQ(matrix_parameters_text(trial),
            R"({"b":"uniform","b_high":1.0,"b_low":0.0,"b_seed":7,"high":1.0,"low":0.0})");
  trial.matrix_b = of_kind(MatrixKind::ones).matrix;
  trial.matrix_b->spec.value = 3;
  EXPECT_EQ(matrix_parameters_text(trial), R"({"b":"ones","b_seed":1,"b_value":3.0,"high":1.0,"low":0.0})");
}

TEST(MatrixWords, DescribeTrials) {
  Trial trial = of_kind(MatrixKind::condition);
  trial.method = "lapack";
  trial.shape = {8, 8, 8, 3, Uplo::upper};
  trial.matrix.spec.seed = 5;
  EXPECT_EQ(describe(trial),
            "gesv/lapack double n=8 uplo=upper nrhs=3 on condition condition=10000 mode=3 seed=5 (host)");
}

}  // namespace
}  // namespace gaussweep::driver
