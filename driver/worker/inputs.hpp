#pragma once
/// The operands of a trial on the host: generated or read, stored once a run directory behind the trial, held
/// while trials share their matrix.

#include <functional>
#include <memory>
#include <string>

#include "driver/plan/trial.hpp"
#include "driver/worker/store_writer.hpp"
#include "kernels/device/context.hpp"

namespace gaussweep::driver {

/// Inputs with what it took to get them (NaN: not done), and the system that their matrix was stored with.
template <class T>
struct Prepared {
  Inputs<T> inputs;
  std::string identity;  ///< equal for equal inputs
  double load_seconds, generate_seconds;
  std::string digest;    ///< of inputs.a as it is; empty where that is a triangle of the matrix
  bool kept = false;     ///< inputs.a is stored, or on its way
  bool product = false;  ///< of gemm: inputs.b is a matrix of the store too
  HostMatrix<T> b, x_true;
  HostMatrix<T> b_of_b, x_of_b;  ///< of gemm's B
};

/// The inputs of a trial: those of `held` where it has the matrix already, else read, else made, and then
/// stored behind the trial. Where a stored file is damaged it is made anew.
/// @param held what was held last, or nothing: it is used up
/// @param at called with "store" and then "inputs" where it waits until earlier ones are stored
/// @throws io::InputError (the file that the plan names), io::StorageError, OutOfMemory
template <class T>
std::shared_ptr<Prepared<T>> prepare_inputs(Context& context, StoreWriter& store, const Trial& trial,
                                            std::shared_ptr<Prepared<T>> held = {},
                                            const std::function<void(const std::string&)>& at = {});

}  // namespace gaussweep::driver
