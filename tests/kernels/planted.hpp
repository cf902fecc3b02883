#pragma once
/// Deliberately damaged answers, and comparisons of the verification on a device with the CPU's.

#include "kernels/check/check.hpp"
#include "kernels/check/device_reductions.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

/// A way to damage an answer: its name and the function. The first one leaves the answer right.
template <class T>
using Damage = std::pair<const char*, std::function<void(HostMatrix<T>&)>>;

template <class T>
std::vector<Damage<T>> damages() {
  const auto last = [](HostMatrix<T>& x) -> T& { return x(x.rows - 1, x.cols - 1); };
  const auto exchange = [](HostMatrix<T>& x) {
    for (std::int64_t i = 0; i < x.rows; ++i) std::swap(x(i, 0), x(i, x.cols - 1));
  };
  const auto mirror = [](HostMatrix<T>& x) {
    for (std::int64_t j = 0; j < std::min(x.rows, x.cols); ++j) {
      for (std::int64_t i = 0; i < j; ++i) std::swap(x(i, j), x(j, i));
    }
  };
  return {{"as it was", [](HostMatrix<T>&) {}},
          {"one element off by 1e-3", [=](HostMatrix<T>& x) { last(x) *= static_cast<T>(1 + 1e-3); }},
          {"one element off by 1e-8", [=](HostMatrix<T>& x) { last(x) *= static_cast<T>(1 + 1e-8); }},
          {"two columns exchanged", exchange},
          {"zeros", [](HostMatrix<T>& x) { std::fill(x.data.begin(), x.data.end(), T(0)); }},
          {"NaN in a corner", [=](HostMatrix<T>& x) { last(x) = std::numeric_limits<T>::quiet_NaN(); }},
          {"Inf at the start", [=](HostMatrix<T>& x) { x(0, 0) = std::numeric_limits<T>::infinity(); }},
          {"the wrong triangle", mirror}};
}

/// Returns true for equal bits, or NaN in both.
inline bool same_number(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

inline void expect_same(const Findings& found, const Findings& expected, const std::string& what) {
  const auto expect = [&](double a, double b, const char* name) {
    EXPECT_TRUE(same_number(a, b)) << what << ": " << name << " " << a << " on the device, " << b
                                   << " on the CPU";
  };
  expect(found.ratio, expected.ratio, "ratio");
  expect(found.ratio_bound, expected.ratio_bound, "ratio_bound");
  expect(found.backward_error, expected.backward_error, "backward_error");
  expect(found.forward_error, expected.forward_error, "forward_error");
  expect(found.pivot_growth, expected.pivot_growth, "pivot_growth");
  expect(found.first_row_percent, expected.first_row_percent, "first_row_percent");
  EXPECT_EQ(found.flaw, expected.flaw) << what;
}

/// Verifies an answer on the context's device and on the CPU and expects equal findings.
template <class T>
Findings expect_one_verdict(Context& context, const Method& method, const Inputs<T>& inputs,
                            const Answer<T>& answer, const std::string& what,
                            std::vector<DeviceCopy<T>> copies = {},
                            std::size_t workspace = std::size_t{64} << 20) {
  const double tolerance = default_tolerance(method.problem);
  const auto on_device = device_reductions<T>(context, std::move(copies), workspace);
  const Findings found = check(method, inputs, answer, tolerance, *on_device);
  expect_same(found, check(method, inputs, answer, tolerance), what);
  return found;
}

}  // namespace gaussweep::testing_help
