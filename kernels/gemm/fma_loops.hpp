#pragma once
/// The two inner loops of the serial methods, one fma an element: the same bits as the kernels on a GPU.

#include <cmath>
#include <cstdint>

namespace gaussweep::host {

/// target[j] -= factor * row[j] as one fma each, for j from 0 to count - 1.
template <class T>
using SubtractMultiple = void (*)(T* target, const T* row, T factor, std::int64_t count);
/// start - x[0] y[0] - x[1] y[1] - …, in this order, one fma each.
template <class T>
using SubtractProducts = T (*)(T start, const T* x, const T* y, std::int64_t count);

/// Chosen once for this processor.
template <class T>
struct FmaLoops {
  SubtractMultiple<T> subtract_multiple;
  SubtractProducts<T> subtract_products;
};

namespace fma_loops_detail {

template <class T>
void multiple_anywhere(T* target, const T* row, T factor, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) target[j] = std::fma(-factor, row[j], target[j]);
}
template <class T>
T products_anywhere(T rest, const T* x, const T* y, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) rest = std::fma(-x[j], y[j], rest);
  return rest;
}

// Without the processor's own instruction every fma is a call: the same bits, ten times slower.
#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
__attribute__((target("avx2,fma"))) void multiple_avx2(T* target, const T* row, T factor,
                                                       std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) target[j] = std::fma(-factor, row[j], target[j]);
}
template <class T>
__attribute__((target("avx2,fma"))) T products_avx2(T rest, const T* x, const T* y, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) rest = std::fma(-x[j], y[j], rest);
  return rest;
}
#endif

}  // namespace fma_loops_detail

template <class T>
FmaLoops<T> fma_loops() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {fma_loops_detail::multiple_avx2<T>, fma_loops_detail::products_avx2<T>};
  }
#endif
  return {fma_loops_detail::multiple_anywhere<T>, fma_loops_detail::products_anywhere<T>};
}

}  // namespace gaussweep::host
