#pragma once
/// From one choice on every axis to a trial.

#include <optional>

#include "driver/plan/axes.hpp"
#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

/// The matrices that a block of an entry asks for.
struct RequestedMatrices {
  MatrixRequest a;
  std::optional<MatrixRequest> b;  ///< only where there is a `matrix_b`
  bool b_has_seed = false;         ///< or is a file, which has none
};
RequestedMatrices request_matrices(const io::Entry& entry, const io::MatrixBlock& block,
                                   const FileLookup& lookup);

/// The statuses that `expect` of the entry allows for the method; empty if it names none.
std::vector<std::string> expected_statuses(const io::Entry& entry, const Method& method);

/// What the trials of one entry, one method and one matrix have in common.
struct TrialMaker {
  const io::Entry& entry;
  const Method& method;
  std::optional<Backend> backend;  ///< where the method runs; nothing: it is skipped
  Backend requested;
  int capability;
  const RequestedMatrices& matrices;
  const io::Location& location;              ///< of the matrix's block
  const std::vector<std::string>& expected;  ///< expected_statuses

  /// @param round from 1
  /// @throws io::InputError with the location of what is wrong
  Trial make(const Assignment& chosen, std::int64_t round = 1) const;

 private:
  void set_square(Trial& t, const Assignment& chosen) const;
  void set_product(Trial& t, const Assignment& chosen) const;
};

}  // namespace gaussweep::driver
