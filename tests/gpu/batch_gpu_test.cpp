// Batches on a GPU: every method that takes them, every order at which its shape changes, planted faults.

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/check/check.hpp"
#include "kernels/registry/batch.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

class BatchOnGpu : public OnGpu {
 protected:
  template <class Visit>
  void for_methods(Visit&& visit) {
    for (const Method& method : registry.all()) {
      const bool runs = method.runs_on(Backend::cuda) && method.capability <= device->info().capability;
      if (method.max_batch > 1 && runs) visit(method);
    }
  }
};

Shape shape_of(std::int64_t n, std::int64_t nrhs, std::int64_t batch) {
  Shape shape{n, n, n, nrhs, Uplo::lower};
  shape.batch = batch;
  return shape;
}

TEST_F(BatchOnGpu, HasTheBitsOfTheCpu) {
  MatrixSpec spec;
  spec.rows = spec.cols = 13;
  spec.batch = 1001;
  for (const MatrixKind kind : {MatrixKind::uniform, MatrixKind::spd, MatrixKind::diagonally_dominant}) {
    spec.kind = kind;
    EXPECT_TRUE(generate<double>(spec).data == generate_on<double>(*context, spec).data) << to_string(kind);
  }
}

TEST_F(BatchOnGpu, EverySystemIsRight) {
  for_methods([&](const Method& method) {
    for (const std::int64_t n : {1, 2, 8, 9, 16, 17, 32, 33, 48, 49, 64, 65, 96, 97, 128, 150}) {
      const Shape shape = shape_of(n, n % 2 == 0 ? 1 : 3, 200);
      if (method.accepts != nullptr && !method.accepts(shape, defaults(method))) continue;
      const MatrixKind kind = kind_for(method.problem);
      const Inputs<double> inputs = make_inputs<double>(method.problem, shape, kind, 3, 0);
      const Answer<double> answer = run_method(*context, method, inputs, defaults(method));
      const double tolerance = default_tolerance(method.problem);
      const std::vector<Findings> found = check_systems(method, inputs, answer, tolerance);
      for (std::size_t s = 0; s < found.size(); ++s) {
        EXPECT_LE(found[s].ratio, tolerance) << method.id() << ", n " << n << ", system " << s;
        EXPECT_EQ(answer.infos[s], 0) << method.id() << ", n " << n << ", system " << s;
      }
    }
  });
}

TEST_F(BatchOnGpu, FaultsAreFoundAndSpoilNoOtherSystem) {
  for_methods([&](const Method& method) {
    if (method.problem != Problem::named("gesv")) return;
    const Shape shape = shape_of(16, 1, 100000);
    Inputs<double> inputs = make_inputs<double>(method.problem, shape, MatrixKind::uniform, 5, 0);
    const auto is_singular = [](std::int64_t s) { return s % 2000 == 17; };
    const auto has_nan = [](std::int64_t s) { return s % 2000 == 1203; };
    const auto is_off = [](std::int64_t s) { return s % 2500 == 99; };
    for (std::int64_t s = 0; s < shape.batch; ++s) {
      if (has_nan(s)) inputs.a(4, s * 16 + 6) = std::nan("");
      for (std::int64_t i = 0; is_singular(s) && i < 16; ++i) inputs.a(i, s * 16 + 2) = 0;
    }
    Answer<double> answer = run_method(*context, method, inputs, defaults(method));
    for (std::int64_t s = 0; s < shape.batch; ++s) {
      if (is_off(s)) answer.x(5, s) *= 1 + 1e-8;
    }
    const std::vector<Findings> found = check_systems(method, inputs, answer, 16);
    for (std::int64_t s = 0; s < shape.batch; ++s) {
      const auto at = static_cast<std::size_t>(s);
      EXPECT_EQ(answer.infos[at] == 3, is_singular(s)) << method.id() << ", system " << s;
      EXPECT_EQ(found[at].ratio <= 16, !is_singular(s) && !has_nan(s) && !is_off(s))
          << method.id() << ", system " << s;
    }
  });
}

}  // namespace
}  // namespace gaussweep
