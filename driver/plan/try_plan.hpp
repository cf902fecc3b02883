#pragma once
/// Creates the plan of the command `gaussweep try`, which tries all suitable methods on one matrix file.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/expand.hpp"
#include "driver/plan/needs.hpp"

namespace gaussweep::driver {

/// The user's request to `try`.
struct TryRequest {
  std::string dataset;
  std::vector<std::string> libraries;  ///< shared libraries with more methods
  std::vector<Problem> problems;       ///< empty: the problems that suit the matrix
  std::vector<std::string> methods;    ///< variants, ids or globs; empty: the methods that suit the matrix
  std::vector<std::int64_t> nrhs{1};
  std::vector<Precision> precisions{Precision::float64};
  /// The triangle for trsv, trtri, potrf and posv. Empty: the triangle that the matrix has, or lower if it is
  /// not triangular.
  std::optional<Uplo> uplo;
  std::int64_t repeats = 5;  ///< minimum number of samples per round
  double seconds = 60;       ///< time limit for the whole command
};

/// Methods that are left out for the same reason.
struct LeftOut {
  std::vector<std::string> methods;  ///< method ids, or a problem's name like "potrf" for all of its methods
  std::string why;
};

/// Returns the number of rounds of a method; 0 leaves it out.
using RoundsOf = std::function<std::int64_t(const Method&)>;

/// The plan of `try`, and the methods that it leaves out.
struct TryPlan {
  std::string text;  ///< the plan with one round (repetition) per method; empty if there is nothing to try
  std::vector<LeftOut> left_out;
  std::size_t left_out_count = 0;      ///< methods in `left_out`
  std::vector<const Method*> methods;  ///< methods in the plan
  std::size_t trials = 0;              ///< trials per round
  std::size_t emulated_trials = 0;     ///< those of `trials` that run CUDA kernels on the CPU
  /// Returns the plan with the given number of rounds per method; empty if all numbers are 0.
  std::function<std::string(const RoundsOf&)> in_rounds;
};

/// Chooses the methods that suit the matrix and fit in the time limit, the fastest first. Emulated kernels
/// (CUDA kernels on the CPU) come last and get a smaller part of the time. Methods named in `methods` are
/// always tried. If a method may not suit the matrix, the plan also expects its failure.
/// @param file the matrix's file, with an absolute path
/// @param requested, capability as for `expand`
/// @throws UsageError if an entry of `methods` matches no method, or the matrix is not square
TryPlan plan_try(const TryRequest& request, const InspectedMatrix& matrix, const FileFacts& file,
                 const Registry& registry, Backend requested, int capability);

}  // namespace gaussweep::driver
