#pragma once
/// The two inner loops of the methods that run on one CPU core. They use one fma per element, so that results
/// have the same bits as those of the GPU kernels.

#include <cmath>
#include <cstdint>

namespace gaussweep::host {

/// Computes target[j] -= factor * row[j] with one fma each, for j from 0 to count - 1.
template <class T>
using SubtractMultiple = void (*)(T* target, const T* row, T factor, std::int64_t count);
/// Returns start - x[0] y[0] - x[1] y[1] - … in this order, with one fma each.
template <class T>
using SubtractProducts = T (*)(T start, const T* x, const T* y, std::int64_t count);

/// The two loops, compiled for one instruction set.
template <class T>
struct FmaLoops {
  SubtractMultiple<T> subtract_multiple;
  SubtractProducts<T> subtract_products;
};

namespace fma_loops_detail {

template <class T>
void multiple_generic(T* target, const T* row, T factor, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) target[j] = std::fma(-factor, row[j], target[j]);
}
template <class T>
T products_generic(T sum, const T* x, const T* y, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) sum = std::fma(-x[j], y[j], sum);
  return sum;
}

// Without the FMA instruction every std::fma is a library call, which gives the same bits ten times slower.
#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
__attribute__((target("avx2,fma"))) void multiple_avx2(T* target, const T* row, T factor,
                                                       std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) target[j] = std::fma(-factor, row[j], target[j]);
}
template <class T>
__attribute__((target("avx2,fma"))) T products_avx2(T sum, const T* x, const T* y, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) sum = std::fma(-x[j], y[j], sum);
  return sum;
}
#endif

}  // namespace fma_loops_detail

/// Returns the loops for the instruction set of the processor on which the program runs.
template <class T>
FmaLoops<T> fma_loops() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {fma_loops_detail::multiple_avx2<T>, fma_loops_detail::products_avx2<T>};
  }
#endif
  return {fma_loops_detail::multiple_generic<T>, fma_loops_detail::products_generic<T>};
}

}  // namespace gaussweep::host
