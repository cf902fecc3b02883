#pragma once
/// Runs one row of the registry (a method) on one matrix, for tests of single problems.

#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

template <class T>
struct Outcome {
  Answer<T> answer;
  IterationReport report;
};

/// Parameters that differ from their defaults.
using ParameterChanges = std::vector<std::pair<std::string, ParameterValue>>;

/// Counts how often each stage began, and the launches of each stage, in order of appearance.
struct Stages : StageSink {
  void mark(std::string_view name) override {
    calls[std::string(name)] += 1;
    launches.emplace_back(name, 0);
  }
  void launched(double) override {
    if (!launches.empty()) ++launches.back().second;
  }
  std::map<std::string, int> calls;
  std::vector<std::pair<std::string, int>> launches;
};

/// Runs a row on the CPU. Parameters that the row does not have are ignored, so that one list serves several
/// rows.
template <class T>
Outcome<T> try_method(Problem problem, const std::string& variant, const Inputs<T>& inputs,
                      const ParameterChanges& changes = {}, std::uint64_t shuffle_seed = 5,
                      StageSink* stages = nullptr) {
  const Method& method = row_of(problem->name + "/" + variant);
  const auto device = cpu(method.runs_on(Backend::host) ? Backend::host : Backend::emulated);
  Context context(*device);
  context.emulation.shuffle_seed = shuffle_seed;
  context.stages = stages;
  Parameters parameters = defaults(method);
  for (const auto& [name, value] : changes) {
    if (has_parameter(method, name)) parameters.set(name, value);
  }
  Outcome<T> run;
  run.answer = run_method(context, method, inputs, parameters);
  run.report = context.report;
  return run;
}

/// Returns a square matrix from its columns.
template <class T>
Inputs<T> square(std::int64_t n, std::vector<T> columns, Uplo uplo = Uplo::lower) {
  Inputs<T> inputs = inputs_of<T>({n, n, n, 1, uplo}, HostMatrix<T>(n, n));
  inputs.a.data = std::move(columns);
  return inputs;
}

/// Returns a system from its equations: a row of A, then the row of B.
template <class T>
Inputs<T> equations(std::int64_t n, std::int64_t nrhs, std::initializer_list<double> rows) {
  Inputs<T> inputs = inputs_of<T>({n, n, n, nrhs, Uplo::lower}, HostMatrix<T>(n, n), HostMatrix<T>(n, nrhs));
  auto value = rows.begin();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) inputs.a(i, j) = static_cast<T>(*value++);
    for (std::int64_t r = 0; r < nrhs; ++r) inputs.b(i, r) = static_cast<T>(*value++);
  }
  return inputs;
}

template <class T>
bool same_bits(const Answer<T>& one, const Answer<T>& other) {
  return std::memcmp(one.x.data.data(), other.x.data.data(), one.x.data.size() * sizeof(T)) == 0;
}

}  // namespace gaussweep::testing_help
