/// Selects the matrix to read from a file with several variables or datasets.

#include "io/matrix/dataset_choice.hpp"

#include <algorithm>

#include "io/files/errors.hpp"

namespace gaussweep::io {

std::vector<std::string> default_names(const DatasetChoice& choice) {
  if (!choice.name.empty()) return {choice.name};
  if (choice.operand == Operand::matrix) return {"A", "Problem.A"};
  return {"b", "Problem.b"};
}

std::string option_of(const DatasetChoice& choice) {
  return choice.operand == Operand::matrix ? "dataset (--dataset)" : "--rhs-dataset";
}

std::size_t sole_matrix(const std::filesystem::path& path, const std::vector<Candidate>& candidates,
                        const DatasetChoice& choice) {
  std::vector<std::size_t> matrices, non_vectors;  // indices of candidates
  std::string names, why, unread_reason;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (!candidate.why.empty()) {
      if (why.empty()) why = candidate.why;
      if (candidate.is_unread_matrix && unread_reason.empty()) unread_reason = candidate.why;
      continue;
    }
    matrices.push_back(i);
    if (candidate.rows > 1 && candidate.cols > 1) non_vectors.push_back(i);
    names += (names.empty() ? "" : ", ") + candidate.name;
  }
  const bool is_matrix = choice.operand == Operand::matrix;
  const std::string option = option_of(choice);
  const auto fail = [&](const std::string& message) { throw InputError(path.string() + ": " + message); };
  if (!choice.name.empty())
    fail("has no dataset '" + choice.name + "'; it has: " + (names.empty() ? "no matrix" : names));
  if (!unread_reason.empty()) why = unread_reason;
  if (matrices.empty()) fail("holds no matrix" + (why.empty() ? "" : ": " + why));
  if (choice.operand == Operand::right_hand_sides_in_same_file)
    fail("has no right-hand sides 'b'; it has: " + names + "; name them with " + option);
  if (is_matrix && !unread_reason.empty())
    fail("holds several matrices (" + names + "; " + unread_reason + "); name one with " + option);
  if (matrices.size() > 1 && is_matrix && non_vectors.size() == 1) return non_vectors.front();
  if (matrices.size() > 1) fail("holds several matrices (" + names + "); name one with " + option);
  return matrices.front();
}

}  // namespace gaussweep::io
