#pragma once
/// The fixture of tests of a mixed_gmres method. The method factors in float and refines the answer by GMRES;
/// if that fails, it falls back to a direct solve. The tests check which systems it refines.

#include "kernels/check/check.hpp"
#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

class RefinedOnGpu : public OnGpu {
 protected:
  explicit RefinedOnGpu(std::string problem) : problem_(std::move(problem)) {}
  void SetUp() override { require(/*needed=*/90); }

  const Method& row(const char* name) const { return row_of(problem_ + "/" + name); }
  using OnGpu::run;
  template <class T>
  Answer<T> run(const Inputs<T>& inputs) {
    return run(mixed, inputs);
  }
  template <class T>
  double ratio(const Method& method, const Inputs<T>& inputs) {
    return check(method, inputs, run(method, inputs)).ratio;
  }
  /// Runs twice and expects equal bits, and equal residuals in every iteration.
  template <class T>
  void expect_equal_runs(const Inputs<T>& inputs) {
    const Answer<T> first = run(inputs);
    const std::vector<double> history = context->report.history;
    EXPECT_TRUE(same_values(first, run(inputs)));
    EXPECT_EQ(context->report.history, history);
  }

  /// Expects a refined answer that is as accurate as the vendor's; the vendor's is not computed for large
  /// matrices.
  /// @return the number of iterations
  template <class T>
  std::int64_t expect_refined(const Inputs<T>& inputs) {
    const Answer<T> ours = run(inputs);
    const IterationReport report = context->report;
    EXPECT_EQ(report.convergence, Convergence::converged);
    EXPECT_GT(report.iterations, 0);
    EXPECT_EQ(static_cast<std::size_t>(report.iterations), report.history.size());
    EXPECT_EQ(ours.info, 0);
    const Method& vendor = row("cusolver");
    const std::int64_t n = inputs.shape.n;
    const double vendor_ratio = n > 3000 ? 0 : ratio(vendor, inputs);
    EXPECT_LE(check(mixed, inputs, ours).ratio, std::max(3 * vendor_ratio, 8.0 / static_cast<double>(n)));
    return report.iterations;
  }
  /// Expects the fallback: the bits of the direct solve (the method `recursive`), and a report without
  /// convergence.
  /// @return the number of wasted iterations
  template <class T>
  std::int64_t expect_direct(const Inputs<T>& inputs) {
    const Answer<T> ours = run(inputs);
    EXPECT_EQ(context->report.convergence, Convergence::none);
    const std::int64_t wasted_iterations = context->report.iterations;
    EXPECT_EQ(static_cast<std::size_t>(wasted_iterations), context->report.history.size());
    const Answer<T> direct = run(row("recursive"), inputs);
    EXPECT_EQ(ours.info, direct.info);
    EXPECT_TRUE(direct.info != 0 || same_values(ours, direct));
    return wasted_iterations;
  }

 private:
  std::string problem_;

 protected:
  /// The mixed_gmres method. Its parameter `float_from` is the smallest order for which factors in float are
  /// tried; with 1 they are tried at every order, so that small matrices test the refinement.
  const Method mixed = [this] {
    Method method = row("mixed_gmres");
    for (Parameter& parameter : method.parameters) {
      if (parameter.name == "float_from") parameter.default_value = std::int64_t{1};
    }
    return method;
  }();
};

}  // namespace gaussweep::testing_help
