#pragma once
/// The execution context that is passed to methods in addition to their operands.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/device/device.hpp"

namespace gaussweep {

/// Receives the stages that a method names and the kernels that it launches. Present only in the separate
/// pass that measures stages, so that normal samples are not disturbed.
class StageSink {
 public:
  virtual ~StageSink() = default;
  /// Starts stage `name`, which lasts until the next mark or the end of the run.
  virtual void mark(std::string_view name) = 0;
  /// Reports a kernel launch in the current stage with its theoretical occupancy (0 to 1; NaN if unknown).
  virtual void launched(double occupancy) = 0;
};

/// Options of the backend `emulated`.
struct Emulation {
  /// 0: threads run in order between barriers; otherwise the seed of a new random order after every barrier.
  std::uint64_t shuffle_seed = 0;
  /// Runs every block or cluster three times from the same memory: threads in order, reversed and shuffled. A
  /// launch fails if any bit of the device's memory differs.
  bool compares_orders = false;
  /// The largest shared memory of a block. The default is what every GPU has, so that portable kernels must
  /// query before they use more.
  std::size_t shared_bytes = std::size_t{48} * 1024;
};

/// Report of an iterative method. Reset before every run.
struct IterationReport {
  Convergence convergence = Convergence::none;
  std::int64_t iterations = 0;
  std::vector<double> history;  ///< the residual or largest change after each iteration
};

class Scratch;         // kernels/device/scratch.hpp
struct VendorHandles;  // cuBLAS and cuSOLVER handles bound to the device's stream: kernels/vendor/

/// The context of one worker, passed to every method.
struct Context {
  explicit Context(Device& d) : device(d) {}

  /// Starts a stage, e.g. "eliminate". Costs nothing unless stages are measured.
  void stage(std::string_view name) {
    if (stages != nullptr) stages->mark(name);
  }

  Device& device;
  StageSink* stages = nullptr;
  Emulation emulation;
  IterationReport report;
  std::shared_ptr<VendorHandles> vendor;  ///< created on first use
  std::shared_ptr<Scratch> scratch;       ///< created on first use
};

}  // namespace gaussweep
