#pragma once
/// What makes every run's operands its own, and what its answer shows of it.
///
/// In every second run some signs of A differ. The right answer then has the same bits but for known signs:
/// an answer kept from the run before is wrong. What a method may not read holds NaN.

#include <cstdint>

#include "kernels/device/context.hpp"
#include "kernels/registry/guard_elements.hpp"
#include "kernels/registry/problem.hpp"
#include "kernels/staging/place.hpp"

namespace gaussweep {

/// What becomes of the elements of an operand.
struct OperandGuard {
  Region negated = Region::none;
  Region hidden = Region::none;  ///< set to NaN
  bool noise = false;            ///< to numbers instead: libraries may compute with them, if not use them
};

/// Guards a matrix where it lies on the context's device; not waited for. @throws DeviceError
template <class T>
void guard_operand(Context& context, const Destination<T>& matrix, const Extent& size,
                   const OperandGuard& guard);

/// A digest of the elements of `counted`, with the signs of `negated` changed. Another where a bit differs,
/// but for one case in 2^64. @throws DeviceError
template <class T>
std::uint64_t digest_elements(Context& context, const Strided<T>& matrix, const Extent& size, Region counted,
                              Region negated);

/// How many elements of `hidden` are NaN no more. @throws DeviceError
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
