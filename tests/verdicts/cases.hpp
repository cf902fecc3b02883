#pragma once
/// Cases of the search for lost digits (search.cpp): a case is a method, sizes, and a matrix given by a
/// structure, its parameters, a seed and mutations.

#include <map>
#include <string>
#include <vector>

#include "kernels/registry/method.hpp"
#include "tests/verdicts/structures.hpp"

namespace gaussweep::verdicts {

struct Case {
  std::string method;   ///< PROBLEM/VARIANT, such as "potrf/batched"
  bool single = false;  ///< single precision; otherwise double
  std::int64_t n = 1, nrhs = 1;
  Uplo uplo = Uplo::lower;
  std::string structure;
  std::uint64_t seed = 1;
  std::map<std::string, double> structure_parameters;  ///< those that are not drawn at random
  std::map<std::string, std::string> parameters;       ///< of the method; others have their defaults
  std::vector<std::uint64_t> mutations;                ///< arguments of mutate(), applied in this order
};

/// Returns "potrf/batched double n=16 structure=kernel s=4 lambda=1e-10 seed=1 mutate=3,17 with.moduli=19".
std::string line_of(const Case& a_case);
/// @throws std::invalid_argument with what is wrong and what is allowed
Case parse_case(const std::string& line);

/// The digits that a method lost against LAPACK.
///
/// Three kinds of answers do not count as lost:
/// - any answer for a matrix on which LAPACK fails;
/// - an answer that is not finite for a matrix that is singular to working precision;
/// - for LU, an answer that is not finite, if the method fails on at most three times as many neighbours as
///   LAPACK. A neighbour is the same system in other units: rows and columns are multiplied by factors
///   between 1/2 and 1, and are in another order.
///
/// The reason for the last rule: if rows differ much in size, rounding errors decide if an answer is finite.
/// Example: x(1) = (b(1) - a(1, 2) x(2)) / a(1, 1) with a tiny a(1, 1) overflows unless the difference is
/// rounded to exactly 0. LAPACK without fused multiply-add rounds it to 0 in six of seven cases. One success
/// of LAPACK, or one failure of a method, is then chance. The rate of failures is not.
struct Loss {
  double ratio = 0, lapack_ratio = 0;  ///< residual ratios; docs/judge.md defines them
  /// ratio / max(1, 3 lapack_ratio), for potrf ratio / max(1 + 1 / n, 3 lapack_ratio); 0 if the answer does
  /// not count
  double score = 0;
  std::string reason;  ///< why there is no ratio, or why the answer does not count; otherwise empty
};

/// Runs the method of a case on a device or on the CPU, and LAPACK's method on the CPU.
class Runner {
 public:
  /// `backend`: emulated or cuda. @throws DeviceError if there is no GPU
  explicit Runner(Backend backend);
  ~Runner();
  /// Returns true if the method runs on the device. With backend emulated, methods of the host count too.
  bool can_run(const Method& method) const;
  /// @throws std::invalid_argument if there is no such method
  const Method& method_of(const Case& one) const;
  /// @throws std::invalid_argument for a method, a structure, or a parameter of them that does not exist
  Loss run(const Case& a_case);
  const Registry& registry() const { return registry_; }

 private:
  template <class T>
  Loss run_typed(const Case& a_case, const Method& method);

  Registry registry_ = builtin_registry();
  std::unique_ptr<Device> host_, device_;
  Context on_host_, on_device_;
};

}  // namespace gaussweep::verdicts
