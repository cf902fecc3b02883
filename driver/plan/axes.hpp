#pragma once
/// The axes of an entry of `sweep`, and every choice on them.

#include <map>
#include <string>
#include <vector>

#include "io/plan/plan.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// A value on an axis, and as it is written. Precision and uplo are words.
struct Choice {
  ParameterValue value;
  io::Scalar written;
};
/// One choice on every axis: name → value.
using Assignment = std::map<std::string, Choice>;
/// An axis (each choice sets one name), or a zip (each choice sets several).
using Dimension = std::vector<Assignment>;

/// The dimensions that a method varies over, in the order: precision, then axes by name, then zips.
/// Parameters that the method does not have are left out. Each value is read once, here, those for other
/// backends too. @throws io::InputError
std::vector<Dimension> dimensions_of(const io::Plan& plan, const io::Entry& entry, const Method& method,
                                     Backend backend, Backend requested);

/// What an axis by backend gives a GPU of that name: the model's own values, else those of `cuda`; null:
/// none.
const std::vector<io::Scalar>* values_on_gpu(const io::Axis& axis, const std::string& gpu_name);

/// The plan for these GPUs: where sizes differ by GPU model, those of theirs are those of the backend `cuda`.
/// @throws UsageError where the plan says different sizes of them
io::Plan for_gpus(io::Plan plan, const std::vector<std::string>& gpu_names);

/// How many combinations there are, at most `most` + 1.
std::size_t count_combinations(const std::vector<Dimension>& dimensions, std::size_t most);

/// Calls `visit` with every combination, the last dimension fastest.
template <class Visit>
void for_each_combination(const std::vector<Dimension>& dimensions, std::size_t depth, Assignment& current,
                          Visit&& visit) {
  if (depth == dimensions.size()) {
    visit(current);
    return;
  }
  for (const Assignment& choice : dimensions[depth]) {
    for (const auto& [name, value] : choice) current[name] = value;
    for_each_combination(dimensions, depth + 1, current, visit);
  }
}

}  // namespace gaussweep::driver
