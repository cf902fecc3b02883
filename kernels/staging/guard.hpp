#pragma once
/// Guards that make each run's operands different, and digests of its answer.
///
/// Every second run negates part of A. The correct answer then has the same bits except for known signs, so
/// that an answer kept from the previous run is wrong. Elements that a method must not read hold NaN.

#include <cstdint>

#include "kernels/device/context.hpp"
#include "kernels/registry/guard_elements.hpp"
#include "kernels/registry/problem.hpp"
#include "kernels/staging/convert_layout.hpp"

namespace gaussweep {

/// The regions of an operand that are changed.
struct OperandGuard {
  Region negated = Region::none;
  Region hidden = Region::none;  ///< the elements are set to NaN
  bool noise = false;  ///< set hidden elements to numbers instead: libraries may compute with them without
                       ///< using the results
};

/// Guards a matrix on the context's device. Asynchronous. @throws DeviceError
template <class T>
void guard_operand(Context& context, const Destination<T>& matrix, const Extent& size,
                   const OperandGuard& guard);

/// Returns a digest of the elements of `counted`, with the signs of `negated` flipped. Different bits give
/// different digests, except for one case in 2^64. @throws DeviceError
template <class T>
std::uint64_t digest_elements(Context& context, const Strided<T>& matrix, const Extent& size, Region counted,
                              Region negated);

/// Returns how many elements of `hidden` are no longer NaN. @throws DeviceError
template <class T>
std::int64_t count_overwritten(Context& context, const Strided<T>& matrix, const Extent& size, Region hidden);

}  // namespace gaussweep

#ifdef GAUSSWEEP_HAS_CUDA
namespace gaussweep::cuda {
template <class T>
void guard_operand(Context&, const Destination<T>&, const Extent&, const OperandGuard&);
template <class T>
std::uint64_t digest_elements(Context&, const Strided<T>&, const Extent&, Region counted, Region negated);
template <class T>
std::int64_t count_overwritten(Context&, const Strided<T>&, const Extent&, Region hidden);
}  // namespace gaussweep::cuda
#endif
