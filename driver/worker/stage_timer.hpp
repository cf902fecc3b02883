#pragma once
/// Measures the stages of one run, i.e. the parts that the method marks, with events of the device's stream.
/// This run is not one of the samples, because the events between stages add time.

#include <memory>
#include <string>
#include <vector>

#include "io/records/record.hpp"
#include "kernels/device/context.hpp"

namespace gaussweep::driver {

/// Records an event at the start of each stage. Construct it immediately before the run, and call `finish`
/// immediately after the run.
class StageTimer : public StageSink {
 public:
  /// @param per_call true: one entry per call of a stage, in run order; false: one sum per stage name
  explicit StageTimer(Device& device, bool per_call = false);
  /// Ends the current stage and begins another.
  void mark(std::string_view name) override;
  /// Notes a kernel launch of the current stage. @param occupancy the kernel's theoretical occupancy, from 0
  /// to 1
  void launched(double occupancy) override;
  /// Ends the last stage, waits for the device and returns the stages, ordered by their first call. The list
  /// is empty if the method marked no stage.
  std::vector<io::Stage> finish();
  /// Returns the number of kernels that the method launched itself.
  std::int64_t launches() const;

 private:
  /// The start of a stage, with the sum of its kernels' occupancies and their number.
  struct Mark {
    std::string name;
    std::unique_ptr<Event> event;
    double occupancy = 0;
    int launches = 0;
  };
  Device& device_;
  bool per_call_;
  std::vector<Mark> marks_;
};

}  // namespace gaussweep::driver
