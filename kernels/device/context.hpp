#pragma once
/// What a method is handed besides its operands.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Listens to the stages that a method names and to the kernels that it launches. Present only in the
/// separate pass that measures stages, so that the headline samples are undisturbed.
class StageSink {
 public:
  virtual ~StageSink() = default;
  /// The work from here to the next mark (or to the end of the run) belongs to `name`.
  virtual void mark(std::string_view name) = 0;
  /// A kernel was launched in the current stage with this theoretical occupancy (0 to 1; NaN if unknown).
  virtual void launched(double occupancy) = 0;
};

/// How the backend `emulated` runs threads.
struct Emulation {
  /// 0: threads run in order between barriers; otherwise their order is shuffled anew after every barrier.
  std::uint64_t shuffle_seed = 0;
  /// Runs every block, or cluster, three times from the same memory: threads in order, reversed and shuffled.
  /// A launch fails if the device's memory differs in a bit.
  bool compares_orders = false;
  /// Most shared memory of a block. What every GPU has, so that a portable kernel asks before it takes more.
  std::size_t shared_bytes = std::size_t{48} * 1024;
};

/// What iterative methods tell besides their answer. Reset before every run.
struct IterationReport {
  Convergence convergence = Convergence::none;
  std::int64_t iterations = 0;
  std::vector<double> history;  ///< the residual or largest change after each iteration
};

class Scratch;         // kernels/device/scratch.hpp
struct VendorHandles;  // cuBLAS and cuSOLVER handles bound to the device's stream: kernels/vendor/

/// One per worker; passed to every method.
struct Context {
  explicit Context(Device& d) : device(d) {}

  /// Names the stage that begins here, e.g. "eliminate". Free of cost unless stages are being measured.
  void stage(std::string_view name) {
    if (stages != nullptr) stages->mark(name);
  }

  Device& device;
  StageSink* stages = nullptr;
  Emulation emulation;
  IterationReport report;
  std::shared_ptr<VendorHandles> vendor;  ///< made on first use
  std::shared_ptr<Scratch> scratch;       ///< likewise
};

}  // namespace gaussweep
