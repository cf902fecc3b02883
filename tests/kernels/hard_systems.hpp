#pragma once
/// Searches for systems that a method solves less accurately than LAPACK. It changes random systems step by
/// step and keeps a change if the ratio (error / bound, check.hpp) grows.

#include "kernels/check/check.hpp"
#include "kernels/staging/method_run.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

/// Returns the number in an environment variable; without it `default_value`.
inline int number_from(const char* variable, int default_value) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : default_value;
}
/// Returns the number of random systems from which a test starts its search.
inline int starts(int default_value) {
  return number_from("GAUSSWEEP_STARTS", default_value);
}

/// Runs a method with its default parameters and returns the residual ratio of its answer.
template <class T>
double ratio_of(Context& context, const Method& method, const Inputs<T>& inputs) {
  MethodRun<T> run(context, method, context.device.backend(), defaults(method), inputs.shape);
  run.upload(inputs);
  run.warm_up();
  return check(method, inputs, run.download()).ratio;
}

/// The system with the largest loss of accuracy that a search found.
struct Hardest {
  double loss = 0;  ///< ratio / max(1, 3 x LAPACK's ratio); above 1 the method is too inaccurate
  double ratio = 0, lapack_ratio = 0;
  std::int64_t n = 0;
};

template <class T>
class HardSystems {
 public:
  HardSystems(Context& context, const std::string& problem, const std::string& variant)
      : context_(context),
        host_(cpu(Backend::host)),
        on_host_(*host_),
        method_(*registry().find(Problem::named(problem), variant)),
        lapack_(*registry().reference(Problem::named(problem), Backend::host)) {}

  /// Searches systems of order 2 to 130, small ones more often. @param count random systems to start from
  /// @param steps random changes per start
  Hardest search(int count, int steps) {
    Hardest hardest;
    for (int start = 0; start < count; ++start) {
      Inputs<T> inputs = draw();
      double worst = ratio_of(context_, method_, inputs);
      for (int step = 0; step < steps && std::isfinite(worst); ++step) {
        Inputs<T> next = inputs;
        disturb(next);
        const double ratio = ratio_of(context_, method_, next);
        if (!(ratio > worst)) continue;
        worst = ratio;
        inputs = std::move(next);
      }
      const double lapack_ratio = ratio_of(on_host_, lapack_, inputs);
      // Does not count a system that LAPACK cannot solve for 16 b: it nearly overflows.
      for (T& value : inputs.b.data) value *= 16;
      if (!std::isfinite(ratio_of(on_host_, lapack_, inputs))) continue;
      const double loss = std::isfinite(worst) ? worst / std::max(1.0, 3 * lapack_ratio) : HUGE_VAL;
      if (loss > hardest.loss) hardest = {loss, worst, lapack_ratio, inputs.shape.n};
    }
    return hardest;
  }

 private:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  /// Returns a random element with a magnitude from 2^-spread to 2^spread.
  T element(double spread) {
    return static_cast<T>(std::copysign(std::exp2(uniform(-spread, spread)), uniform(-1, 1)));
  }

  /// Returns a random system whose order has a uniform logarithm.
  Inputs<T> draw() {
    constexpr double largest = 130;
    Inputs<T> inputs;
    const auto n = static_cast<std::int64_t>(2 * std::pow(largest / 2, uniform(0, 1)));
    inputs.shape = {n, n, n, 1, uniform(0, 1) < 0.5 ? Uplo::lower : Uplo::upper};
    inputs.a = HostMatrix<T>(n, n);
    inputs.b = HostMatrix<T>(n, 1);
    const double spread = uniform(0, n < 20 ? 8 : 3);
    const bool triangle = method_.problem->used_of_a == UsedElements::triangle;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        const bool is_used = inputs.shape.uplo == Uplo::lower ? i >= j : i <= j;
        if (is_used || !triangle) inputs.a(i, j) = element(spread);
      }
    }
    inputs.x_true = HostMatrix<T>(n, 1);
    for (T& value : inputs.x_true.data) value = element(spread);
    multiply(inputs);
    return inputs;
  }
  /// Sets b = A x, in which terms may cancel; a method that multiplies by an inverse loses these digits.
  static void multiply(Inputs<T>& inputs) {
    for (std::int64_t i = 0; i < inputs.shape.n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < inputs.shape.n; ++j)
        sum += static_cast<double>(inputs.a(i, j)) * static_cast<double>(inputs.x_true(j, 0));
      inputs.b(i, 0) = static_cast<T>(sum);
    }
  }
  /// Changes some random elements of A and x by factors of 1/8 to 8, sometimes with another sign.
  void disturb(Inputs<T>& inputs) {
    const std::int64_t n = inputs.shape.n;
    const auto random_index = [&] {
      return std::min<std::int64_t>(n - 1, static_cast<std::int64_t>(uniform(0, 1) * static_cast<double>(n)));
    };
    for (int change = 0; change < 1 + n / 8; ++change) {
      T& value =
          uniform(0, 1) < 0.3 ? inputs.x_true(random_index(), 0) : inputs.a(random_index(), random_index());
      const double sign = uniform(0, 1) < 0.2 ? -1 : 1;
      if (value != T(0))
        value = static_cast<T>(static_cast<double>(value) * std::exp2(uniform(-3, 3)) * sign);
    }
    multiply(inputs);
  }

  Context& context_;
  std::unique_ptr<Device> host_;
  Context on_host_;
  const Method& method_;
  const Method& lapack_;
  std::mt19937_64 random_{static_cast<std::mt19937_64::result_type>(number_from("GAUSSWEEP_SEED", 20261124))};
};

/// Searches hard systems and expects that the row is as accurate as LAPACK.
template <class T>
void expect_as_good_as_lapack(Context& context, const char* problem, const char* variant, int count,
                              int steps) {
  const Hardest found = HardSystems<T>(context, problem, variant).search(count, steps);
  EXPECT_LE(found.loss, 1) << problem << " n " << found.n << ": ratio " << found.ratio << ", LAPACK's "
                           << found.lapack_ratio;
}

/// Tries systems whose elements span the exponent range and come near its ends, up to the growth of
/// elimination. @return the number of systems that a row fails (ratio above its tolerance) and LAPACK solves
template <class T>
int range_failures(Context& context, const std::string& problem, const std::string& variant, int count,
                   std::string& which) {
  using Limits = std::numeric_limits<T>;
  const Method& method = *registry().find(Problem::named(problem), variant);
  const Method& lapack = *registry().reference(Problem::named(problem), Backend::host);
  CpuContext on_host(Backend::host);
  std::mt19937_64 random(7);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int failures = 0;
  for (int k = 0; k < count; ++k) {
    const auto n = k % 4 == 0 ? 100 : static_cast<std::int64_t>(uniform(2, 130));
    const double low = k % 2 == 0 ? 0 : -1, spread = k % 3 == 0 ? uniform(0, Limits::max_exponent / 2) : 0;
    const double top = k % 5 == 0   ? Limits::min_exponent + uniform(-20, 4)
                       : k % 5 == 1 ? std::log2(Limits::max()) - 5
                                    : Limits::max_exponent - uniform(5, 14);
    Inputs<T> inputs = inputs_of<T>({n, n, n, 1, Uplo::lower}, HostMatrix<T>(n, n));
    inputs.b = HostMatrix<T>(method.problem->b != nullptr ? n : 0, method.problem->b != nullptr ? 1 : 0);
    for (T& value : inputs.a.data)
      value = static_cast<T>(std::ldexp(uniform(low, 1), static_cast<int>(top)) *
                             std::exp2(-spread * uniform(0, 1)));
    for (T& value : inputs.b.data) value = static_cast<T>(std::ldexp(uniform(low, 1), static_cast<int>(top)));
    const double limit = default_tolerance(method.problem);
    if (!(ratio_of(on_host, lapack, inputs) <= limit)) continue;
    const double method_ratio = ratio_of(context, method, inputs);
    if (method_ratio <= limit) continue;
    ++failures;
    which = "n " + std::to_string(n) + ", elements up to 2^" + std::to_string(top) + " spread over " +
            std::to_string(spread) + " binades: ratio " + std::to_string(method_ratio);
  }
  return failures;
}

}  // namespace gaussweep::testing_help
