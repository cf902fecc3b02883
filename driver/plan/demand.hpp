#pragma once
/// The resources that a trial needs: operations, memory traffic, disk space.

#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

/// Returns the operations of one run, from the method's row or the problem's usual count.
double trial_flops(const Method& method, const Shape& shape, const Parameters& parameters);
/// Returns the minimum memory traffic of one run in bytes, from the same sources.
double trial_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                   Precision precision);
/// Returns the estimated bytes, rather too high, of the file for a trial's matrix in the run directory. The
/// file includes b and x_true if the matrix is square (driver/worker/inputs.cpp).
double stored_bytes(const MatrixRequest& request, const Trial& trial);

}  // namespace gaussweep::driver
