#pragma once
/// Matrices on which fast methods have lost digits: each follows from a name, a seed and a few numbers.

#include <map>
#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"
#include "tests/verdicts/trials.hpp"

namespace gaussweep::verdicts {

/// The numbers of a structure. Those that are not given are drawn; a given one changes no other.
class Numbers {
 public:
  Numbers(std::uint64_t seed, std::map<std::string, double> given)
      : random(seed, 0), given_(std::move(given)) {}
  double real(const std::string& name, double low, double high) {
    return taken(name, random.between(low, high));
  }
  /// 10 to a power between low and high.
  double power(const std::string& name, double low, double high);
  std::int64_t integer(const std::string& name, std::int64_t low, std::int64_t high) {
    return static_cast<std::int64_t>(taken(name, static_cast<double>(random.integer(low, high))));
  }
  /// The given numbers that no structure asked for.
  std::vector<std::string> unused() const;

  Random random;

 private:
  double taken(const std::string& name, double drawn);
  std::map<std::string, double> given_, used_;
};

struct Structure {
  const char* name;
  bool definite;  ///< symmetric positive definite in exact arithmetic
  HostMatrix<double> (*make)(Numbers& numbers, std::int64_t n);
};

const std::vector<Structure>& structures();

/// Changes an element or a line; which and how follows from the number alone.
/// @param symmetric changes both triangles alike
void mutate(HostMatrix<double>& a, std::uint64_t number, bool symmetric);

}  // namespace gaussweep::verdicts
