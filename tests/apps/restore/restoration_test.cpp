/// Tests image restoration: the choice of the inverting method, and the results.

#include "apps/restore/restoration.hpp"
#include "apps/restore/restore_output.hpp"
#include "driver/base/errors.hpp"
#include "driver/system/clock.hpp"
#include "io/files/errors.hpp"
#include "kernels/tables.hpp"
#include "tests/idle_method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

Registry example_registry() {
  const Problem poinv = Problem::named("poinv"), geinv = Problem::named("geinv");
  Method hopper = idle_method(poinv, "hopper", {Backend::cuda});
  hopper.capability = 90;
  Method float_only = idle_method(poinv, "float_only");
  float_only.host.float64 = nullptr;
  Method cholesky = idle_method(poinv, "library"), lu = idle_method(geinv, "library");
  cholesky.vendor = lu.vendor = true;
  return Registry({cholesky, idle_method(poinv, "blocks", {Backend::cuda, Backend::emulated}), hopper,
                   float_only, lu, idle_method(Problem::named("gesv"), "solver")});
}

struct Choice {
  std::string id;
  Backend backend;
};
Choice choice(Formula formula, const std::string& word, Backend requested = Backend::emulated) {
  const Registry registry = example_registry();
  const ChosenMethod found = choose_inverter(registry, formula, word, requested, Precision::float64, 70);
  return {found.method->id(), found.backend};
}
std::string failure(Formula formula, const std::string& word, Backend requested = Backend::emulated) {
  return message_of<UsageError>([&] { choice(formula, word, requested); });
}

/// Writes the results of a restoration of two pixels. Its input image no longer exists.
class RestoreOutput : public ::testing::Test {
 protected:
  void write(const std::filesystem::path& directory) const {
    write_restoration_directory(
        directory, {job_, "gone.png", "0123", image_, original_, restored_, "2026-03-01T00:00:00Z", ""});
  }
  const Method method_ = idle_method(Problem::named("poinv"), "library");
  RestoreJob job_ = [this] {
    RestoreJob job;
    job.blur.width = 2;
    job.blur.height = 1;
    job.inverter = {&method_, Backend::host};
    return job;
  }();
  io::GreyImage image_{2, 1, {0, 255}};
  std::vector<double> original_ = {0, 255};
  Restored restored_ = [] {
    Restored restored;
    restored.degraded = restored.restored = {1, 254};
    return restored;
  }();
  const TestFolder scratch_;
};

TEST_F(RestoreOutput, IsWrittenWithoutTheInputImage) {
  write(scratch_ / "out");
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "out" / "restoration.h5"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch_.folder()), {}), 1) << "no other file";
  std::filesystem::create_directory(scratch_ / "empty");
  write(scratch_ / "empty/");
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "empty" / "restored.png"));
}

TEST_F(RestoreOutput, LeavesNothingWhenItFails) {
  image_.width = 0;  // the image library refuses to write an image of width 0
  EXPECT_THROW(write(scratch_ / "out"), io::StorageError);
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.folder()));
}

TEST(Inverter, DefaultsToTheLibrary) {
  EXPECT_EQ(choice(Formula::regularised, "").id, "poinv/library");
  // Both library methods of example_registry() run only on the host.
  EXPECT_EQ(choice(Formula::regularised, "", Backend::cuda).id, "poinv/library");
  EXPECT_EQ(choice(Formula::regularised, "", Backend::cuda).backend, Backend::host);
  EXPECT_EQ(choice(Formula::inverse, "").id, "geinv/library");
  EXPECT_EQ(choice(Formula::paper, "blocks").id, "poinv/blocks");
  EXPECT_EQ(choice(Formula::paper, "poinv/blocks", Backend::cuda).backend, Backend::cuda);
  EXPECT_EQ(choice(Formula::paper, "geinv/library").id, "geinv/library");  // inverts any matrix
}

TEST(Inverter, RefusesAMethodThatDoesNotFitH) {
  EXPECT_THAT(failure(Formula::inverse, "poinv/library"),
              HasSubstr("allowed with --formula inverse: geinv/library"));
  EXPECT_THAT(failure(Formula::paper, "gesv/solver"), HasSubstr("does not invert a matrix"));
  EXPECT_THAT(failure(Formula::paper, "poinv/libary"), HasSubstr("nearest: poinv/library;"));
  EXPECT_THAT(failure(Formula::paper, "blocks", Backend::host),
              HasSubstr("does not run on the backend host"));
  EXPECT_THAT(failure(Formula::paper, "hopper", Backend::cuda), HasSubstr("needs compute capability 9.0"));
  EXPECT_THAT(failure(Formula::paper, "float_only"),
              HasSubstr("--precision double: poinv/float_only has no such version"));
}

class Restoration : public testing::Test {
 protected:
  static RestoreJob job(const Registry& registry, PointSpread psf, Formula formula) {
    RestoreJob job;
    job.blur.psf = psf;
    job.blur.width = 9;
    job.blur.height = 7;
    job.blur.length = 3;
    job.blur.lambda = 1e-3;
    job.formula = formula;
    job.inverter = choose_inverter(registry, formula, "", Backend::host, job.precision, 0);
    return job;
  }
  static std::vector<double> image() {
    std::vector<double> f(63);
    for (std::size_t p = 0; p < f.size(); ++p) f[p] = static_cast<double>(p * p * 7 % 256);
    return f;
  }
};

// H is the blur matrix, g the degraded image. The regularised solution f satisfies H'(g - H f) = lambda f;
// that of the formula `inverse` satisfies H f = g.
TEST_F(Restoration, SolvesTheFormulasEquation) {
  const Registry registry = builtin_registry();
  const auto device = make_host_device(Backend::host, now_seconds);
  for (const PointSpread psf : {PointSpread::gaussian, PointSpread::motion, PointSpread::sharpen}) {
    RestoreJob regularised = job(registry, psf, Formula::regularised);
    regularised.noise = {NoiseKind::gaussian, 4};
    const Restored done = restore(regularised, image(), *device);
    EXPECT_EQ(done.status, "pass");
    std::vector<double> residual = apply_blur(regularised.blur, done.restored, false);
    for (std::size_t p = 0; p < residual.size(); ++p)
      residual[p] = (done.degraded[p] - residual[p]) / regularised.blur.lambda;
    EXPECT_THAT(apply_blur(regularised.blur, residual, true), Pointwise(DoubleNear(1e-6), done.restored));
  }
  const RestoreJob exact = job(registry, PointSpread::motion, Formula::inverse);
  EXPECT_THAT(restore(exact, image(), *device).restored, Pointwise(DoubleNear(1e-8), image()));
}

// The paper exchanges two factors of the regularised formula. That changes nothing if H is symmetric
// (gaussian), but it does for a motion blur.
TEST_F(Restoration, PaperFormulaNeedsANormalH) {
  const Registry registry = builtin_registry();
  const auto device = make_host_device(Backend::host, now_seconds);
  for (const auto& [psf, same] : {std::pair{PointSpread::gaussian, true}, {PointSpread::motion, false}}) {
    const auto regularised = restore(job(registry, psf, Formula::regularised), image(), *device).restored;
    const auto paper = restore(job(registry, psf, Formula::paper), image(), *device).restored;
    const double difference = mean_square_error(regularised, paper);
    EXPECT_EQ(difference < 1e-12, same) << to_string(psf) << " " << difference;
    if (!same) {
      EXPECT_GT(difference, 1) << to_string(psf);
    }
  }
}

// Computes H H^T and the product of the inverse with H^T by a gemm method, as the thesis does.
TEST_F(Restoration, FullMatrixProductsGiveTheSameResult) {
  const Registry registry = builtin_registry();
  const auto device = make_host_device(Backend::host, now_seconds);
  for (const PointSpread psf : {PointSpread::gaussian, PointSpread::motion, PointSpread::sharpen}) {
    for (const Formula formula : {Formula::regularised, Formula::paper}) {
      RestoreJob one = job(registry, psf, formula);
      const Restored analytic = restore(one, image(), *device);
      EXPECT_EQ(analytic.product_seconds, 0);
      EXPECT_TRUE(std::isnan(analytic.product_ratio));
      one.products = Products::gemm;
      for (const char* word : {"", "serial", "gemm/shared"}) {
        one.multiplier = choose_multiplier(registry, word, Backend::emulated, one.precision, 0);
        const auto other = make_host_device(one.multiplier.backend, now_seconds);
        const Restored done = restore(one, image(), *device, other.get());
        EXPECT_EQ(done.status, io::Status::pass) << done.message;
        EXPECT_LT(done.product_ratio, 3);
        EXPECT_GT(done.product_seconds, 0);
        EXPECT_THAT(done.restored, Pointwise(DoubleNear(1e-7), analytic.restored))
            << to_string(psf) << " " << word;
      }
    }
  }
  RestoreJob inverse = job(registry, PointSpread::sharpen, Formula::inverse);
  inverse.products = Products::gemm;
  EXPECT_THROW(restore(inverse, image(), *device), UsageError);
}

// A wrong product fails the restoration even if the inverse is right.
TEST_F(Restoration, FailsWhenTheProductIsWrong) {
  const Registry registry = builtin_registry();
  const auto device = make_host_device(Backend::host, now_seconds);
  Method idle = idle_method(Problem::named("gemm"), "idle");  // writes no answer
  RestoreJob one = job(registry, PointSpread::sharpen, Formula::regularised);
  one.products = Products::gemm;
  one.multiplier = {&idle, Backend::host};
  const Restored done = restore(one, image(), *device);
  EXPECT_EQ(done.status, io::Status::failed);
  EXPECT_THAT(done.message, HasSubstr("gemm/idle"));
}

TEST(Multiplier, IsAGemmMethod) {
  const Registry registry = builtin_registry();
  const auto id = [&](const char* word) {
    return choose_multiplier(registry, word, Backend::emulated, Precision::float64, 0).method->id();
  };
  EXPECT_EQ(id(""), "gemm/openblas");
  EXPECT_EQ(id("direct"), "gemm/direct");
  for (const auto& [word, hint] : {std::pair{"poinv/lapack", "it does not multiply matrices; allowed: gemm/"},
                                   {"gemm/sharde", "nearest: gemm/shared;"}}) {
    EXPECT_THAT(message_of<UsageError>([&] { id(word); }), HasSubstr(hint));
  }
}

TEST_F(Restoration, SinglePrecisionIsCloseToDouble) {
  const Registry registry = builtin_registry();
  const auto device = make_host_device(Backend::host, now_seconds);
  RestoreJob one = job(registry, PointSpread::gaussian, Formula::regularised);
  const auto exact = restore(one, image(), *device).restored;
  one.precision = Precision::float32;
  const Restored single = restore(one, image(), *device);
  EXPECT_EQ(single.status, "pass");
  EXPECT_THAT(single.restored, Pointwise(DoubleNear(0.5), exact));
  EXPECT_NE(single.restored, exact);
}

TEST_F(Restoration, RefusesAnImageThatDoesNotFit) {
  const Registry registry = builtin_registry();
  const auto device = make_host_device(Backend::host, now_seconds);
  RestoreJob large = job(registry, PointSpread::sharpen, Formula::regularised);
  large.blur.width = large.blur.height = 1000;  // matrices of 10^6 x 10^6
  EXPECT_THROW(restore(large, std::vector<double>(1000000, 0.0), *device), UsageError);
}

TEST(RestorationErrors, ByHand) {
  EXPECT_EQ(mean_square_error({1, 2, 3, 4}, {1, 0, 3, 0}), 5);
  EXPECT_NEAR(peak_signal_to_noise(65.025), 30, 1e-12);
  EXPECT_TRUE(std::isinf(peak_signal_to_noise(0)));
}

}  // namespace
}  // namespace gaussweep::driver
