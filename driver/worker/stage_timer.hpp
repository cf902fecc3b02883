#pragma once
/// Listens to the stages of one run and measures them, in a pass separate from the headline samples.

#include <memory>
#include <string>
#include <vector>

#include "io/records/record.hpp"
#include "kernels/core/context.hpp"

namespace gaussweep::driver {

/// Made just before the run; `finish` just after it.
class StageTimer : public StageSink {
 public:
  explicit StageTimer(Device& device);
  void mark(std::string_view name) override;
  void launched(double occupancy) override;
  /// Ends the last stage, waits for the device, and sums up by name, in order of first appearance.
  /// Empty where the method named no stage.
  std::vector<io::Stage> finish();

 private:
  struct Mark {
    std::string name;
    std::unique_ptr<Event> event;
    double occupancy = 0;
    int launches = 0;
  };
  Device& device_;
  std::vector<Mark> marks_;
};

}  // namespace gaussweep::driver
