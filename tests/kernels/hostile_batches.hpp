#pragma once
/// Random systems with Inf, NaN, overflow and singular parts, and properties that every method must keep.

#include "kernels/registry/batch.hpp"
#include "tests/kernels/method_cases.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

/// Returns the rows that run emulated and satisfy `wanted`, by name.
template <class Wanted>
std::vector<std::string> emulated_methods(Wanted wanted) {
  std::vector<std::string> ids;
  for (const Method& method : registry().all()) {
    if (method.runs_on(Backend::emulated) && wanted(method)) ids.push_back(method.id());
  }
  return ids;
}

inline bool takes_batches(const Method& method) {
  return method.max_batch > 1;
}
/// Returns true for methods that solve any regular system, which is possible only with row exchanges.
inline bool exchanges_rows(const Method& method) {
  const ProblemRow& problem = method.problem.row();
  return method.needs == problem.needs && problem.needs.empty() && problem.name != "gemm";
}

/// Returns a random number in [0, below).
inline std::int64_t below(std::mt19937_64& random, std::int64_t below) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
}
/// Returns a random element of a vector.
template <class Values>
auto one_of(std::mt19937_64& random, const Values& values) {
  return values[static_cast<std::size_t>(below(random, static_cast<std::int64_t>(values.size())))];
}

/// Overwrites one system of a batch, the columns [first, first + n) of `a`, with a permutation.
template <class T>
void make_permutation(std::mt19937_64& random, HostMatrix<T>& a, std::int64_t first) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(a.rows));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  std::shuffle(rows.begin(), rows.end(), random);
  for (std::int64_t j = 0; j < a.rows; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      a(i, first + j) = rows[static_cast<std::size_t>(j)] == i ? 1 : 0;
  }
}
/// Sets the leading block of a system to 0; the block has half the system's order.
template <class T>
void clear_leading_block(HostMatrix<T>& a, std::int64_t first) {
  for (std::int64_t j = 0; j < a.rows / 2; ++j) {
    for (std::int64_t i = 0; i < a.rows / 2; ++i) a(i, first + j) = 0;
  }
}

/// Makes a system hostile: non-finite or nearly overflowing values at random places, a system that overflows
/// during elimination or is singular, or a permutation.
template <class T>
void make_hostile(std::mt19937_64& random, HostMatrix<T>& a, std::int64_t first) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> values{Limits::infinity(),   -Limits::infinity(),   Limits::quiet_NaN(),
                              Limits::max(),        -Limits::max(),        Limits::max() / 3,
                              Limits::denorm_min(), -Limits::denorm_min(), T(0)};
  const std::int64_t n = a.rows;
  const auto for_all = [&](auto change) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) change(i, j, a(i, first + j));
    }
  };
  switch (below(random, 8)) {
    case 0:
      return for_all([](std::int64_t, std::int64_t, T& one) { one *= Limits::max() / 2; });
    case 1:
      return make_permutation(random, a, first);
    case 2:
      return clear_leading_block(a, first);
    case 3: {
      const std::int64_t zero = below(random, n);
      return for_all([&](std::int64_t, std::int64_t j, T& one) { one = j == zero ? T(0) : one; });
    }
    case 4: {
      const T value = one_of(random, values);
      return for_all([&](std::int64_t, std::int64_t, T& one) { one = value; });
    }
    default:
      for (std::int64_t count = 1 + below(random, 4); count > 0; --count)
        a(below(random, n), first + below(random, n)) = one_of(random, values);
  }
}

/// Returns a batch in which about half of the systems are hostile.
template <class T>
Inputs<T> hostile_batch(std::mt19937_64& random, Problem problem, const Shape& shape) {
  Inputs<T> inputs = make_inputs<T>(problem, shape, kind_for(problem), random() % 1000);
  for (std::int64_t s = 0; s < shape.batch; ++s) {
    if (random() % 2 == 0) make_hostile(random, inputs.a, s * shape.n);
    if (has_right_hand_sides(problem) && random() % 8 == 0)
      inputs.b(below(random, shape.n), s * shape.nrhs) = std::numeric_limits<T>::infinity();
  }
  return inputs;
}

/// Returns the batch with its systems in reverse order.
template <class T>
Inputs<T> reversed(const Inputs<T>& inputs) {
  Inputs<T> all = inputs;
  const std::int64_t batch = inputs.shape.batch;
  for (std::int64_t s = 0; s < batch; ++s) {
    put_system(system_of(inputs.a, batch, s), batch - 1 - s, all.a);
    if (!inputs.b.empty()) put_system(system_of(inputs.b, batch, s), batch - 1 - s, all.b);
  }
  return all;
}

/// Expects info and pivots to be valid row numbers of the system.
template <class T>
void expect_valid_indices(const Answer<T>& answer, std::int64_t n, const std::string& description) {
  EXPECT_GE(answer.info, 0) << description;
  EXPECT_LE(answer.info, n) << description;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(answer.pivots.size()); ++i) {
    const int pivot = answer.pivots[static_cast<std::size_t>(i)];
    EXPECT_TRUE(pivot >= i && pivot < n) << description << ", pivot " << i << " is " << pivot;
  }
}

/// Draws `batches` batches of one shape, up to order 40. Runs all of their systems in one call, and again in
/// reverse order. A system's answer must not depend on its position and its neighbours.
template <class T>
void expect_confined(std::mt19937_64& random, Context& context, const Method& method, std::int64_t batches) {
  const Problem problem = method.problem;
  const std::int64_t n = 1 + below(random, 40);
  Shape shape{n, n, n, 1, random() % 2 == 0 ? Uplo::lower : Uplo::upper};
  if (!problem->has_axis("uplo")) shape.uplo = Uplo::lower;
  if (has_right_hand_sides(problem))
    shape.nrhs = 1 + below(random, std::min<std::int64_t>(method.max_nrhs, 6));
  shape.batch = batches * (2 + below(random, n <= 16 ? 16 : 4));  // up to order 16 a warp has several systems
  const Parameters parameters = one_of(random, parameter_grid(method, {}));
  if (method.accepts != nullptr && !method.accepts(shape, parameters)) return;
  const Inputs<T> inputs = hostile_batch<T>(random, problem, shape);
  const std::string description = describe_run<T>(context, method, shape, parameters, "hostile");
  Staging<T> staging(context.device, method, parameters, shape, 1);
  Answer<T> in_order, in_reverse;
  ASSERT_NO_THROW(in_order = run_staged(context, method, inputs, parameters, staging)) << description;
  ASSERT_NO_THROW(in_reverse = run_staged(context, method, reversed(inputs), parameters, staging))
      << description;
  for (Answer<T>* const answer : {&in_order, &in_reverse}) {
    if (!problem->has_pivots || !answer->pivots.empty()) continue;
    for (std::int64_t i = 0; i < shape.n * shape.batch; ++i)
      answer->pivots.push_back(static_cast<int>(i % shape.n));  // no pivots mean that no rows were exchanged
  }
  for (std::int64_t s = 0; s < shape.batch; ++s) {
    const Answer<T> first = system_of(in_order, shape, s),
                    second = system_of(in_reverse, shape, shape.batch - 1 - s);
    expect_valid_indices(first, shape.n, description);
    EXPECT_TRUE(same_values(first, second)) << description << ", system " << s << " of " << shape.batch;
  }
}
inline void expect_confined_batches(std::mt19937_64& random, Context& context, const Method& method,
                                    std::int64_t batches) {
  random() % 2 == 0 ? expect_confined<float>(random, context, method, batches)
                    : expect_confined<double>(random, context, method, batches);
}

}  // namespace gaussweep::testing_help
