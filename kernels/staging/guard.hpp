#pragma once
/// Guards, which reveal methods that do not compute their whole answer in every run, and digests, which
/// compare answers without downloading them.
///
/// In every second run, all elements of A change sign. If A is positive definite, only elements with odd i +
/// j do, because D A D with D = diag(1, -1, 1, ...) is still definite (ProblemRow::negated). Negation does
/// not affect rounding, so the correct answer has the same bits except for the signs of known elements. An
/// answer left from the previous run is therefore wrong.
///
/// Elements that a method must not read are set to NaN.

#include <cstdint>

#include "kernels/device/context.hpp"
#include "kernels/registry/guard_elements.hpp"
#include "kernels/registry/problem.hpp"
#include "kernels/staging/convert_layout.hpp"

namespace gaussweep {

/// The regions of an operand that a guard changes.
struct OperandGuard {
  Region negated = Region::none;
  Region hidden = Region::none;  ///< elements that the method must not read; set to NaN
  bool noise = false;  ///< sets hidden elements to numbers instead, because vendor libraries may compute with
                       ///< them and discard the results
};

/// Applies `guard` to a matrix on the context's device. Asynchronous. @throws DeviceError
template <class T>
void guard_operand(Context& context, const WritableStridedView<T>& matrix, const Extent& size,
                   const OperandGuard& guard);

/// Returns a digest, the sum of a hash per element, of the elements in the region `counted`. Elements in the
/// region `negated` enter it with flipped signs. Matrices with different bits have equal digests with
/// probability 2^-64. @throws DeviceError
template <class T>
std::uint64_t digest_elements(Context& context, const StridedView<T>& matrix, const Extent& size,
                              Region counted, Region negated);

/// Returns the number of elements in the region `hidden` that are no longer NaN. @throws DeviceError
template <class T>
std::int64_t count_overwritten(Context& context, const StridedView<T>& matrix, const Extent& size,
                               Region hidden);

}  // namespace gaussweep

#ifdef GAUSSWEEP_HAS_CUDA
namespace gaussweep::cuda {
template <class T>
void guard_operand(Context&, const WritableStridedView<T>&, const Extent&, const OperandGuard&);
template <class T>
std::uint64_t digest_elements(Context&, const StridedView<T>&, const Extent&, Region counted, Region negated);
template <class T>
std::int64_t count_overwritten(Context&, const StridedView<T>&, const Extent&, Region hidden);
}  // namespace gaussweep::cuda
#endif
