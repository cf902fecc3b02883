#pragma once
/// Runs registry rows under the guard (kernels/staging/guard.hpp).

#include "kernels/check/check.hpp"
#include "kernels/staging/method_run.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

/// Runs a row several times; the guard negates part of A in every second run. Expects accurate answers, the
/// same bits in every run, and no writes outside the operands.
template <class T>
void expect_honest(Context& context, const Method& method, const Shape& shape, const Parameters& parameters) {
  const Backend backend = context.device.backend();
  const Inputs<T> inputs = make_inputs<T>(method.problem, shape, fit_kinds(method, parameters).front());
  MethodRun<T> run(context, method, backend, parameters, shape, method.overwrites ? 2 : 1);
  run.upload(inputs);
  run.timed_run();
  const std::vector<std::uint64_t> first = run.answer_digests();
  for (int sample = 0; sample < 2; ++sample) {
    run.timed_run();
    EXPECT_EQ(run.answer_digests(), first);
  }
  EXPECT_EQ(std::set<std::uint64_t>(first.begin(), first.end()).size(), 1u);
  for (int set = 0; set <= run.last_set(); ++set) {
    const Answer<T> answer = run.download(set, nullptr);
    const Findings found = check(method, inputs, answer);
    EXPECT_LE(found.ratio, default_tolerance(method.problem)) << found.flaw;
    EXPECT_EQ(run.answer_digests(), first) << "after a download";
  }
  run.timed_run();
  EXPECT_EQ(run.forbidden_writes(), "");
}

}  // namespace gaussweep::testing_help
