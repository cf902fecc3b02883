#pragma once
/// Listens to the stages of one run and measures them, in a pass separate from the headline samples.

#include <memory>
#include <string>
#include <vector>

#include "io/records/record.hpp"
#include "kernels/device/context.hpp"

namespace gaussweep::driver {

/// Made just before the run; `finish` just after it.
class StageTimer : public StageSink {
 public:
  /// @param apart every call of a stage for itself, in the order of the run; otherwise summed up by name
  explicit StageTimer(Device& device, bool apart = false);
  void mark(std::string_view name) override;
  void launched(double occupancy) override;
  /// Ends the last stage and waits for the device. Sums are in the order of their first call. Empty where the
  /// method named no stage.
  std::vector<io::Stage> finish();
  /// Kernels that the run launched itself.
  std::int64_t launches() const;

 private:
  struct Mark {
    std::string name;
    std::unique_ptr<Event> event;
    double occupancy = 0;
    int launches = 0;
  };
  Device& device_;
  bool apart_;
  std::vector<Mark> marks_;
};

}  // namespace gaussweep::driver
