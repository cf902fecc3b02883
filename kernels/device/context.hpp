#pragma once
/// The execution context of methods: the device, options, and objects that are kept between runs.

#include <cstdint>
#include <memory>
#include <string_view>

#include "kernels/core/matrix.hpp"
#include "kernels/device/device.hpp"

namespace gaussweep {

/// Receives the stages that a method marks (e.g. "factor", "solve") and the kernels that it launches. It
/// exists only during a separate run that measures stages, because marks would slow down the timed runs.
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
  /// The seed of a random order of the threads, which changes at every barrier. 0 means that threads run in
  /// index order.
  std::uint64_t shuffle_seed = 0;
  /// If true, every block or cluster runs three times on the same memory contents: with its threads in index
  /// order, in reverse order and shuffled. The launch fails if the results differ in any bit.
  bool compares_orders = false;
  /// The maximum shared memory of a block. Every GPU has at least the default; kernels that use more must
  /// query simt::max_shared_bytes.
  std::size_t shared_bytes = std::size_t{48} * 1024;
};

class DeviceGroup;     // kernels/device/device_group.hpp
class Scratch;         // kernels/device/scratch.hpp
struct VendorHandles;  // cuBLAS and cuSOLVER handles bound to the device's stream: kernels/vendor/

/// The context in which a method runs.
struct Context {
  explicit Context(Device& d) : device(d) {}

  /// Starts a stage, e.g. "eliminate". Does nothing in runs that do not measure stages.
  void stage(std::string_view name) {
    if (stages != nullptr) stages->mark(name);
  }

  Device& device;
  DeviceGroup* group = nullptr;  ///< the devices of a method that uses several GPUs; null: `device` alone
  StageSink* stages = nullptr;
  Emulation emulation;
  IterationReport report;                 ///< reset before every run
  std::shared_ptr<VendorHandles> vendor;  ///< created on first use
  std::shared_ptr<Scratch> scratch;       ///< created on first use
};

}  // namespace gaussweep
