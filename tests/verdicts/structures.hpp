#pragma once
/// Families of matrices ("structures") on which fast methods have lost digits. A structure, a seed and a few
/// parameters (numbers) determine a matrix.

#include <map>
#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"
#include "tests/verdicts/trials.hpp"

namespace gaussweep::verdicts {

/// The parameters of a structure, which are numbers with names. Parameters that the caller does not give are
/// drawn at random; a given parameter does not change the others.
class StructureParameters {
 public:
  StructureParameters(std::uint64_t seed, std::map<std::string, double> given)
      : random(seed, 0), given_(std::move(given)) {}
  /// Returns a parameter: the given value, or a random number in [low, high).
  double real(const std::string& name, double low, double high) {
    return taken(name, random.between(low, high));
  }
  /// Returns 10 to a power between low and high.
  double power(const std::string& name, double low, double high);
  std::int64_t integer(const std::string& name, std::int64_t low, std::int64_t high) {
    return static_cast<std::int64_t>(taken(name, static_cast<double>(random.integer(low, high))));
  }
  /// Returns the names of given parameters that the structure did not use.
  std::vector<std::string> unused() const;

  Random random;

 private:
  double taken(const std::string& name, double drawn);
  std::map<std::string, double> given_, used_;
};

struct Structure {
  const char* name;
  bool definite;  ///< symmetric positive definite in exact arithmetic
  HostMatrix<double> (*make)(StructureParameters& parameters, std::int64_t n);
};

const std::vector<Structure>& structures();

/// Changes an element, a row or a column. `number` determines the change.
/// @param symmetric makes the same change in both triangles
void mutate(HostMatrix<double>& a, std::uint64_t number, bool symmetric);

}  // namespace gaussweep::verdicts
