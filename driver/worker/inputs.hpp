#pragma once
/// The operands of a trial on the host: generated or read, stored once a run directory, held while trials
/// share them.

#include <string>

#include "driver/plan/trial.hpp"
#include "io/matrix/matrix_file.hpp"
#include "kernels/core/context.hpp"

namespace gaussweep::driver {

/// Inputs with what it took to get them (NaN: not done).
template <class T>
struct Prepared {
  Inputs<T> inputs;
  std::string identity;  ///< equal for equal inputs
  double load_seconds, generate_seconds;
};

/// What decides the inputs of a trial: matrices, precision, problem (trsv sees one triangle), shape.
std::string inputs_identity(const Trial& trial);

/// Makes or reads the inputs of a trial. Where a stored file is damaged it is made anew.
/// @throws io::InputError (the file that the plan names), io::StorageError, OutOfMemory
template <class T>
Prepared<T> prepare_inputs(Context& context, io::MatrixStore& store, const Trial& trial);

}  // namespace gaussweep::driver
