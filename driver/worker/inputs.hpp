#pragma once
/// The operands of a trial (one method on one matrix) on the host. They are generated or read, written to the
/// run directory in the background, and reused while consecutive trials have the same matrix.

#include <functional>
#include <memory>
#include <string>

#include "driver/plan/trial.hpp"
#include "driver/worker/store_writer.hpp"
#include "kernels/device/context.hpp"

namespace gaussweep::driver {

/// The inputs of a trial, and the linear systems stored with its matrices.
template <class T>
struct Prepared {
  Inputs<T> inputs;
  std::string identity;  ///< a text that is equal for equal inputs
  /// Times to read and to generate the inputs; NaN if nothing was read or generated.
  double load_seconds, generate_seconds;
  std::string digest;       ///< hash of the whole matrix A; empty if inputs.a is only a triangle of it
  bool is_stored = false;   ///< true if inputs.a is in the run directory or queued to be written to it
  bool is_product = false;  ///< true for gemm, where inputs.b is also a matrix that the plan requests
  HostMatrix<T> rhs_of_a, solution_of_a;  ///< right-hand sides and known solutions, stored with A
  HostMatrix<T> rhs_of_b, solution_of_b;  ///< stored with gemm's B
};

/// Returns the inputs of a trial. Reuses the matrix in `held` if it is the trial's matrix, otherwise reads
/// the stored matrix. If the matrix is not stored or its file is damaged, makes the matrix and queues it to
/// be stored.
/// @param held the last trial's inputs, or null; they are reused or freed
/// @param begin_step called with "store" if the function has to wait until earlier matrices are stored, and
/// with "inputs" after this wait
/// @throws io::InputError for the file that the plan names, io::StorageError, OutOfMemory
template <class T>
std::shared_ptr<Prepared<T>> prepare_inputs(Context& context, StoreWriter& store, const Trial& trial,
                                            std::shared_ptr<Prepared<T>> held = {},
                                            const std::function<void(const std::string&)>& begin_step = {});

}  // namespace gaussweep::driver
