#pragma once
/// How long a trial will take: rough before anything was measured, then by what this run directory has seen.

#include <map>
#include <string>

#include "driver/trial.hpp"
#include "io/record.hpp"

namespace gaussweep::driver {

class CostModel {
 public:
  explicit CostModel(const Registry& registry) : registry_(registry) {}
  /// Learns from a finished trial (a record without a time teaches nothing).
  void learn(const io::Record& record);
  /// Seconds that the whole trial takes: inputs, warm-up, samples, stage pass, verification, reference.
  double estimate(const Trial& trial) const;
  /// Seconds of one run of the method.
  double run_seconds(const Trial& trial) const;

 private:
  const Registry& registry_;
  /// By problem/method/precision/backend: ln n → the slowest rate seen there, in flop/s.
  std::map<std::string, std::map<double, double>> seen_;
};

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
/// b and x_true where it is square (driver/inputs.cpp).
double stored_bytes(const MatrixRequest& request, const Trial& trial);

/// Whether a trial's memory is there, would be on a device of its own, or never is.
enum class Fit { fits, not_now, never };
/// @param total what the device has in all, of which a tenth is left to what it needs itself
Fit fit_of(double need, double free, double total);

}  // namespace gaussweep::driver
