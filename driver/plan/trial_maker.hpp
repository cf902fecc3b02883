#pragma once
/// Makes the trials of an entry, i.e. an element of a plan's list `sweep`. Each combination of values, one
/// per axis of the entry, gives one trial. An axis is a size, an option or a method parameter (axes.hpp).

#include <optional>

#include "driver/plan/axes.hpp"
#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

/// The matrices that a `matrix:` block of a plan's entry requests.
struct RequestedMatrices {
  MatrixRequest a;
  std::optional<MatrixRequest> b;            ///< only if there is a `matrix_b`
  bool b_has_seed = false;                   ///< true if the plan gives B a seed, or if B is a file
  std::optional<InspectedMatrix> inspected;  ///< properties of A, only if it is a file
};
/// Reads the entry's matrix block and its `matrix_b`.
RequestedMatrices request_matrices(const io::Entry& entry, const io::MatrixBlock& block,
                                   const FileLookup& lookup);

/// Returns the statuses that the entry's `expect` lists for the method; empty if it lists none.
std::vector<std::string> expected_statuses(const io::Entry& entry, const Method& method);

/// The common properties of all trials of one entry, method and matrix.
struct TrialMaker {
  const io::Entry& entry;
  const Method& method;
  std::optional<Backend> backend;  ///< the method's backend; nothing: its trials are skipped
  Backend requested;               ///< by the user
  int capability;                  ///< compute capability of the GPUs; 0: unknown or no GPU
  const RequestedMatrices& matrices;
  const io::Location& location;              ///< of the matrix block
  const std::vector<std::string>& expected;  ///< see expected_statuses

  /// Makes a trial. @param round number of the repetition, from 1 @throws io::InputError with the location of
  /// the mistake
  Trial make(const Assignment& chosen, std::int64_t round = 1) const;

 private:
  /// Sets the sizes and matrices of a problem with a square A.
  void set_square(Trial& t, const Assignment& chosen) const;
  /// Sets the sizes and matrices of gemm.
  void set_product(Trial& t, const Assignment& chosen) const;
};

}  // namespace gaussweep::driver
