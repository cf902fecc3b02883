#pragma once
/// The judge of a batch on a device: the ratio of every system in one launch, where the answers lie.

#include <optional>
#include <vector>

#include "kernels/device/context.hpp"
#include "kernels/device/scratch.hpp"
#include "kernels/residual_device/systems.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep {

/// What all ratios together say.
struct RatioSummary {
  std::int64_t others = 0;     ///< systems that do not pass by tolerance and info, or are left open
  std::int64_t worst = -1;     ///< of those that pass the first with the largest ratio
  double forward_error;        ///< the largest, of finite answers that are not left open; NaN where unknown
  std::uint64_t digest;        ///< of the inputs on the device, after all ratios (device_digest)
  std::vector<double> sample;  ///< ratios of the systems batch k / count
};

/// Where the ratios are; they are being computed until somebody asks.
class SystemRatios {
 public:
  template <class T>
  SystemRatios(Context& context, const Systems<T>& systems, const Buffer& inputs, std::int64_t count);
  RatioSummary summary() const;
  std::vector<double> all() const;

 private:
  Context& context_;
  std::int64_t batch_, count_;
  Scratch::Piece ratios_, totals_;
};

/// The judged ratio (check.hpp) of every system of the answer in working set `copy`; infinity where what
/// counts is not finite. NaN where the CPU has to decide: an answer with a flaw of its own, or elements
/// beyond 2^200 or below 2^-200. NaN also for a ratio whose error leaves a verdict open, or a product whose
/// ratio is above 1. NaN also for factors so large that their rounding to the smallest numbers shows. Else it
/// is right to a thousandth of max(1, ratio). Nothing where the problem's judge is no Quotient.
/// @param solution_seed of x_true, where that is generate_solution's of each system
/// @param count of the sample in the summary @throws OutOfMemory, DeviceError
template <class T>
std::optional<SystemRatios> system_ratios(Context& context, const Method& method, Staging<T>& staging,
                                          int copy, const Shape& shape, double tolerance,
                                          std::optional<std::uint64_t> solution_seed = {},
                                          std::int64_t count = 0);

}  // namespace gaussweep

#define GAUSSWEEP_DECLARE_SYSTEM_RATIOS(space)                                                   \
  namespace gaussweep::space {                                                                   \
  template <class T>                                                                             \
  void start_ratios(Context& context, const Systems<T>& all, std::int64_t count, double* ratios, \
                    gaussweep::judge::Totals* totals);                                           \
  }

GAUSSWEEP_DECLARE_SYSTEM_RATIOS(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_SYSTEM_RATIOS(cuda)
#endif
