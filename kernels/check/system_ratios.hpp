#pragma once
/// Verification of a batch (many small systems) on the device that holds the answers. One launch computes the
/// ratio of every system.

#include <optional>
#include <vector>

#include "kernels/check/systems.hpp"
#include "kernels/device/context.hpp"
#include "kernels/device/scratch.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep {

/// A summary of all ratios.
struct RatioSummary {
  /// The number of systems with a ratio above the tolerance, a nonzero info, or no ratio.
  std::int64_t not_passed = 0;
  std::int64_t worst = -1;  ///< the first system with the largest ratio among the systems that pass
  double forward_error;     ///< the largest forward error of systems with a ratio; NaN if unknown
  std::uint64_t digest;  ///< device_digest (device_reductions.hpp) of the inputs, computed after all ratios
  std::vector<double> sample;  ///< the ratios of `count` systems: those with index batch * k / count
};

/// The ratios in device memory. Their computation is asynchronous; `summary` and `all` wait for it.
class SystemRatios {
 public:
  template <class T>
  SystemRatios(Context& context, const BatchToVerify<T>& systems, const Buffer& inputs, std::int64_t count);
  RatioSummary summary() const;
  std::vector<double> all() const;  ///< returns the ratios of all systems

 private:
  Context& context_;
  std::int64_t batch_, count_;  ///< count_: the size of RatioSummary::sample
  Scratch::PooledBuffer ratios_, totals_;
};

/// Starts the computation of the ratio (check.hpp) of every system of the answer in working set `set`. The
/// error of a ratio is at most max(1, ratio) / 1000. A ratio is infinite if an element of an operand or of
/// the answer is not finite. It is NaN if the CPU has to verify the system, for one of these reasons:
/// - the answer has a flaw, e.g. a pivot that is no row index;
/// - the largest element of an operand is above 2^200 (float: 2^100) or below 2^-200;
/// - the error bound of the ratio is too large;
/// - the interval ratio ± error bound contains the tolerance or ten times the tolerance;
/// - the ratio of a product is above 0.99;
/// - the factors are so large that rounding to subnormal numbers may affect the ratio.
///
/// Returns nullopt if RatioKind lacks the problem's kind of ratio, or if the layout is row-major or
/// augmented.
/// @param solution_seed the seed of x_true, if generate_solution generated x_true of each system
/// @param count the number of ratios in RatioSummary::sample
/// @throws OutOfMemory, DeviceError
template <class T>
std::optional<SystemRatios> system_ratios(Context& context, const Method& method, Staging<T>& staging,
                                          int set, const Shape& shape, double tolerance,
                                          std::optional<std::uint64_t> solution_seed = {},
                                          std::int64_t count = 0);

}  // namespace gaussweep

#define GAUSSWEEP_DECLARE_SYSTEM_RATIOS(space)                                                         \
  namespace gaussweep::space {                                                                         \
  template <class T>                                                                                   \
  void start_ratios(Context& context, const BatchToVerify<T>& all, std::int64_t count, double* ratios, \
                    gaussweep::verification::RatioTotals* totals);                                     \
  }

GAUSSWEEP_DECLARE_SYSTEM_RATIOS(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_SYSTEM_RATIOS(cuda)
#endif
