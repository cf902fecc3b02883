#pragma once
/// Decides if the operands of a trial (one method on one matrix) fit into memory, and where its pristine
/// inputs are kept. A method overwrites its operands (the working copies). Before every run, they are
/// restored from the pristine inputs, which are never modified.

#include <string>

#include "driver/plan/trial.hpp"
#include "io/files/memory.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::driver {

/// Device and host bytes that this process needs for a trial. On the CPU, `device_bytes` are host memory,
/// too.
struct Footprint {
  double device_bytes = 0, host_bytes = 0;
};
/// Returns the memory that a trial needs. @param pristine the location of its pristine inputs
Footprint footprint(const Method& method, const Trial& trial, Pristine pristine = Pristine::on_device);
/// Returns true if a trial can keep its pristine inputs on the host and upload them before every run. This is
/// impossible if several runs are timed as one sample and each of them overwrites its inputs.
bool can_upload_again(const Method& method, const Trial& trial);
/// Returns true if pristine inputs on the host reduce the trial's device memory by more than 10 %.
bool uploading_again_saves_memory(const Method& method, const Trial& trial);

/// Result of comparing the memory that a trial needs with the memory of the device or of the host.
enum class Fit {
  fits,     ///< enough memory is free
  not_now,  ///< enough memory would be free if other processes did not use it
  never     ///< the device or host has too little memory
};
/// Compares the needed bytes with the free bytes, and with 90 % of `total`, all bytes of the device or host.
/// The other 10 % are for the system itself.
Fit fit_of(double need, double free, double total);

/// Free and total memory of a trial's device and of the host.
struct FreeMemory {
  std::string device;  ///< the device's name
  double device_free = 0, device_total = 0;
  io::Memory host{};
};
/// The location of a trial's pristine inputs, and whether the trial fits into memory. `reason` explains why
/// it does not fit, or why its inputs are uploaded for every run; otherwise `reason` is empty.
struct Admission {
  Pristine pristine = Pristine::on_device;
  Fit fit = Fit::fits;
  std::string reason;
};
/// The value of `Admission::reason` if every run uploads the operands again. The device then has no room for
/// both the working copies and the pristine inputs.
inline constexpr const char* uploaded_again =
    "operands uploaded again for every run: the device has room for them once";
/// Appended to `uploaded_again` if the plan requests pinned host memory.
inline constexpr const char* not_pinned =
    "host memory is pageable, not pinned: operands are uploaded again for every run";
/// Decides if a trial fits into memory. The pristine inputs are on the device if they fit there in addition
/// to the working copies, otherwise on the host. A trial on the CPU makes no second copy of large inputs. The
/// inputs on the host are then the pristine inputs, unless the plan requests pinned memory.
Admission admit(const Method& method, const Trial& trial, const FreeMemory& memory);

}  // namespace gaussweep::driver
