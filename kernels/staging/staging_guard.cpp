// The guards of a working set.
#include <algorithm>

#include "kernels/staging/guard.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep {
namespace {

Region unreferenced_triangle(Counts counts, Uplo uplo) {
  if (counts == Counts::all) return Region::none;
  return uplo == Uplo::lower ? Region::above : Region::below;
}

Region referenced(Counts counts, Uplo uplo) {
  if (counts == Counts::all) return Region::all;
  return uplo == Uplo::lower ? Region::lower : Region::upper;
}

template <class T>
Destination<T> writable(const Strided<T>& matrix) {
  return {const_cast<T*>(matrix.data), matrix.down, matrix.across};
}

}  // namespace

template <class T>
Region Staging<T>::hidden_region() const {
  return unreferenced_triangle(method_.problem->counts_of_a, shape_.uplo);
}

template <class T>
Region Staging<T>::negated_of_answer() const {
  const ProblemRow& problem = method_.problem.row();
  if (problem.negated_of_b != Region::none) return problem.negated_of_b;
  if (!problem.has_pivots) return problem.negated;
  return method_.unit_diagonal == UnitDiagonal::lower ? Region::upper : Region::lower;
}

/// Returns A in a working set, without the right-hand sides of an augmented matrix.
template <class T>
Strided<T> Staging<T>::guarded_a(int copy) {
  const MatrixView<T> a = operands(copy).a;
  if (method_.layout == Layout::column_major) return {a.data, 1, a.ld};
  return {a.data, a.ld, 1};
}

/// Returns B in a working set.
template <class T>
Strided<T> Staging<T>::guarded_b(int copy) {
  const MatrixView<T> b = operands(copy).b;
  if (method_.layout == Layout::column_major) return {b.data, 1, b.ld};
  return {b.data, b.ld, 1};
}

template <class T>
void Staging<T>::guard(Context& context, int copy, bool negated) {
  if (copy == 0) device_.fill(workspace_.data(), 0xFF, layout_.workspace_bytes);
  const ProblemRow& problem = method_.problem.row();
  const OperandGuard guard{negated ? problem.negated : Region::none, hidden_region(), method_.vendor};
  if (guard.negated != Region::none || guard.hidden != Region::none) {
    guard_operand(context, writable(guarded_a(copy)), problem.a(shape_), guard);
  }
  if (!negated || problem.negated_of_b == Region::none) return;
  guard_operand(context, writable(guarded_b(copy)), problem.b(shape_),
                {problem.negated_of_b, Region::none, false});
}

template <class T>
void Staging<T>::settle(Context& context, int copy) {
  const OperandGuard signs{negated_of_answer(), Region::none, false};
  guard_operand(context, writable(answer(copy)), method_.problem->x(shape_), signs);
}

template <class T>
std::uint64_t Staging<T>::answer_digest(Context& context, int copy, bool negated) {
  const ProblemRow& problem = method_.problem.row();
  std::uint64_t digest =
      digest_elements(context, answer(copy), problem.x(shape_), referenced(problem.counts_of_x, shape_.uplo),
                      negated ? negated_of_answer() : Region::none);
  const Operands<T> op = operands(copy);
  std::vector<int> words(op.pivots != nullptr ? static_cast<std::size_t>(shape_.n * shape_.batch) : 0);
  if (!words.empty()) device_.to_host(words.data(), op.pivots, words.size() * sizeof(int));
  if (problem.has_pivots) {
    const std::vector<int> infos = download_infos(copy);
    words.insert(words.end(), infos.begin(), infos.end());
  }
  for (std::size_t i = 0; i < words.size(); ++i)
    digest += guard::mixed(static_cast<unsigned long long>(words[i]), ~static_cast<unsigned long long>(i));
  return digest;
}

template <class T>
std::uint64_t Staging<T>::input_digest(Context& context, int copy) {
  const ProblemRow& problem = method_.problem.row();
  std::uint64_t digest =
      digest_elements(context, guarded_a(copy), problem.a(shape_), Region::all, Region::none);
  if (problem.b == nullptr) return digest;
  return digest ^
         (31 * digest_elements(context, guarded_b(copy), problem.b(shape_), Region::all, Region::none));
}

template <class T>
std::string Staging<T>::forbidden_writes(Context& context, int copy, bool negated) {
  const Region hidden = hidden_region();
  if (hidden != Region::none && !method_.vendor) {
    const std::int64_t count =
        count_overwritten(context, guarded_a(copy), method_.problem->a(shape_), hidden);
    if (count > 0) {
      return "the method wrote " + std::to_string(count) + (count == 1 ? " element" : " elements") +
             " of the unreferenced triangle of A";
    }
  }
  if (method_.overwrites) return {};
  const std::uint64_t after = input_digest(context, copy);
  reset();
  guard(context, copy, negated);
  if (input_digest(context, copy) == after) return {};
  return "the method overwrote its inputs, which its registry row declares as preserved";
}

#define GAUSSWEEP_STAGING_GUARD(T)                                       \
  template void Staging<T>::guard(Context&, int, bool);                  \
  template void Staging<T>::settle(Context&, int);                       \
  template std::uint64_t Staging<T>::answer_digest(Context&, int, bool); \
  template std::string Staging<T>::forbidden_writes(Context&, int, bool);
GAUSSWEEP_STAGING_GUARD(float)
GAUSSWEEP_STAGING_GUARD(double)
#undef GAUSSWEEP_STAGING_GUARD

}  // namespace gaussweep
