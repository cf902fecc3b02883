#pragma once
/// What a trial asks for: operations and traffic of a run, memory, room on the disk.

#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

/// Operations of one run, by the method's row or the problem's usual count.
double trial_flops(const Method& method, const Shape& shape, const Parameters& parameters);
/// Least traffic of one run in bytes, likewise.
double trial_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                   Precision precision);
/// Device and host bytes that a trial needs beside what the process holds anyway.
struct Footprint {
  double device_bytes = 0, host_bytes = 0;
};
Footprint footprint(const Method& method, const Trial& trial);

/// Bytes of the file that a trial's matrix becomes in the run directory, a little more rather than less: with
/// b and x_true where it is square (driver/worker/inputs.cpp).
double stored_bytes(const MatrixRequest& request, const Trial& trial);

/// Whether a trial's memory is there, would be on a device of its own, or never is.
enum class Fit { fits, not_now, never };
/// @param total what the device has in all, of which a tenth is left to what it needs itself
Fit fit_of(double need, double free, double total);

}  // namespace gaussweep::driver
