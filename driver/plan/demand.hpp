#pragma once
/// What a trial asks for: operations and traffic of a run, memory, room on the disk.

#include <string>

#include "driver/plan/trial.hpp"
#include "io/files/memory.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::driver {

/// Operations of one run, by the method's row or the problem's usual count.
double trial_flops(const Method& method, const Shape& shape, const Parameters& parameters);
/// Least traffic of one run in bytes, likewise.
double trial_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                   Precision precision);
/// Device and host bytes that a trial needs beside what the process holds anyway. On the CPU both come from
/// the host.
struct Footprint {
  double device_bytes = 0, host_bytes = 0;
};
/// @param pristine where the inputs lie that every run gets a fresh copy of
Footprint footprint(const Method& method, const Trial& trial, Pristine pristine = Pristine::on_device);
/// Whether a trial can be run with its pristine inputs on the host: not where several runs between two events
/// overwrite theirs.
bool can_upload_again(const Method& method, const Trial& trial);
/// Whether it takes a tenth less of the device, or better, for that. Not where the judge needs as much.
bool is_smaller_uploaded_again(const Method& method, const Trial& trial);

/// Bytes of the file that a trial's matrix becomes in the run directory, a little more rather than less. The
/// file has b and x_true too where the matrix is square (driver/worker/inputs.cpp).
double stored_bytes(const MatrixRequest& request, const Trial& trial);

/// Whether a trial's memory is there, would be on a device of its own, or never is.
enum class Fit { fits, not_now, never };
/// @param total what the device has in all, of which a tenth is left to what it needs itself
Fit fit_of(double need, double free, double total);

/// Memory of a trial's device and of the host.
struct Room {
  std::string device;  ///< its name
  double device_free = 0, device_total = 0;
  io::Memory host{};
};
/// How a trial fits; in words, why it does not, with numbers, or what is unusual about how it does.
struct Placement {
  Pristine pristine = Pristine::on_device;
  Fit fit = Fit::fits;
  std::string reason;
};
/// What is unusual where the device holds the operands once.
inline constexpr const char* uploaded_again =
    "operands uploaded again for every run: the device has room for them once";
/// What is unusual too where that trial asks for pinned host memory.
inline constexpr const char* not_pinned =
    "host memory is pageable, not pinned: operands are uploaded again for every run";
/// Pristine inputs on the device where they fit there beside the working ones, else on the host. On the CPU,
/// where they are on the host already, large ones are not held once more, but for trials with pinned memory.
Placement find_placement(const Method& method, const Trial& trial, const Room& room);

}  // namespace gaussweep::driver
