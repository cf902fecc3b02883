#pragma once
/// From one choice on every axis to a trial.

#include <optional>

#include "driver/plan/axes.hpp"
#include "driver/plan/expand.hpp"

namespace gaussweep::driver {

/// What the trials of one entry, one method and one matrix have in common.
struct TrialMaker {
  const io::Plan& plan;
  const io::Entry& entry;
  const Method& method;
  std::optional<Backend> backend;  ///< where the method runs; nothing: it is skipped
  Backend requested;
  int capability;
  const FileLookup& lookup;
  const io::MatrixBlock& block;

  /// @param round from 1
  /// @throws io::InputError with the place of what is wrong
  Trial make(const Assignment& chosen, std::int64_t round = 1) const;
  /// How many of them the plan asks for.
  std::int64_t rounds() const;

 private:
  std::int64_t size(const Assignment& chosen, const char* name, std::int64_t otherwise) const;
  Parameters parameters(const Assignment& chosen) const;
  void set_square(Trial& t, const Assignment& chosen) const;
  void set_product(Trial& t, const Assignment& chosen) const;
};

}  // namespace gaussweep::driver
