/// Validates a row of the table of problems.

#include "kernels/registry/problem_check.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/registry/method.hpp"

namespace gaussweep {
namespace {

[[noreturn]] void reject(const ProblemRow& row, const std::string& why) {
  throw std::logic_error("the row of problem '" + row.name + "': " + why);
}

}  // namespace

void validate(const ProblemRow& row) {
  static const std::vector<std::string> known_axes{"m", "n", "k", "nrhs", "uplo"};
  if (!is_word(row.name)) reject(row, "the name is not of a-z, 0-9 and _");
  for (const std::string& axis : row.axes) {
    if (std::find(known_axes.begin(), known_axes.end(), axis) == known_axes.end())
      reject(row, "'" + axis + "' is no axis; there are m, n, k, nrhs, uplo");
  }
  if (!row.has_axis("n")) reject(row, "it has no axis n");
  if (row.a == nullptr || row.x == nullptr) reject(row, "the shapes of A and of the answer are missing");
  if ((row.second == SecondOperand::none) != (row.b == nullptr))
    reject(row, "the shape of B must be set if the problem has a B, and only then");
  if ((row.second == SecondOperand::right_hand_sides) != row.has_axis("nrhs"))
    reject(row, "nrhs is the axis of problems with right-hand sides, and of no others");
  for (const char* axis : {"m", "k"}) {
    if ((row.second == SecondOperand::matrix) != row.has_axis(axis))
      reject(row, "m and k are the axes of problems whose B is an independent matrix, and of no others");
  }
  if (row.flops == nullptr || row.elements == nullptr) reject(row, "flops or elements are missing");
  if (row.verifier.float32 == nullptr || row.verifier.float64 == nullptr)
    reject(row, "the verifier is missing");
  if (!(row.tolerance > 0)) reject(row, "the tolerance is not positive");
}

}  // namespace gaussweep
