#pragma once
/// From one matrix to the plan of `gaussweep try`.

#include <cstdint>
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
  std::int64_t repeats = 5;
  double seconds = 60;  ///< that all of it may take
};

/// Methods that are not tried, and why.
struct LeftOut {
  std::vector<std::string> methods;  ///< ids; "potrf" where it is all of a problem's
  std::string why;
};

struct TryPlan {
  std::string text;  ///< the plan; empty where nothing is left to try
  std::vector<LeftOut> left_out;
};

/// The methods that suit the matrix, as many as the time allows, the shortest first. What is named by
/// `methods` is tried whatever it needs and takes. Where it is not known that a method suits, or known that
/// it does not, a failure is expected.
/// @param file of the matrix, absolute
/// @param requested, capability as for `expand`
/// @throws UsageError where a word for methods means none, or a matrix is not square
TryPlan plan_try(const TryRequest& request, const SeenMatrix& matrix, const FileFacts& file,
                 const Registry& registry, Backend requested, int capability);

}  // namespace gaussweep::driver
