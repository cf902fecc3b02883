#pragma once
/// From one matrix to the plan of `gaussweep try`.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/expand.hpp"
#include "driver/plan/needs.hpp"

namespace gaussweep::driver {

/// What is to be tried.
struct TryRequest {
  std::string dataset;
  std::vector<Problem> problems;     ///< empty: those that the matrix suits
  std::vector<std::string> methods;  ///< variants, ids, globs; empty: those that the matrix suits
  std::vector<std::int64_t> nrhs{1};
  std::vector<Precision> precisions{Precision::float64};
  std::optional<Uplo>
      uplo;  ///< of trsv, trtri, potrf and posv; nothing: the matrix's own triangle, else lower
  std::int64_t repeats = 5;  ///< per round, at least
  double seconds = 60;       ///< that all of it may take
};

/// Methods that are not tried, and why.
struct LeftOut {
  std::vector<std::string> methods;  ///< ids; "potrf" where it is all of a problem's
  std::string why;
};

/// The number of rounds of a method; 0 leaves it out.
using RoundsOf = std::function<std::int64_t(const Method&)>;

struct TryPlan {
  std::string text;  ///< the plan; empty where nothing is left to try
  std::vector<LeftOut> left_out;
  std::size_t left_out_count = 0;      ///< methods in `left_out`
  std::vector<const Method*> methods;  ///< in the plan
  std::size_t trials = 0;              ///< of them, in one round
  /// Returns the plan with so many rounds; empty if no method has any.
  std::function<std::string(const RoundsOf&)> in_rounds;
};

/// The methods that suit the matrix, as many as the time allows, the shortest first; emulated kernels after
/// all others, and for a smaller part of the time. What is named by `methods` is tried whatever it needs and
/// takes. Where it is not known that a method suits, or known that it does not, a failure is expected.
/// @param file of the matrix, absolute
/// @param requested, capability as for `expand`
/// @throws UsageError where a word for methods means none, or a matrix is not square
TryPlan plan_try(const TryRequest& request, const SeenMatrix& matrix, const FileFacts& file,
                 const Registry& registry, Backend requested, int capability);

}  // namespace gaussweep::driver
