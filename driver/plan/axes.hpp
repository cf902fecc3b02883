#pragma once
/// Reads the axes of an entry of `sweep` and enumerates the combinations of their values.

#include <map>
#include <string>
#include <vector>

#include "io/plan/plan.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// A value on an axis, and the scalar in the plan that it was read from. Values of precision and uplo are
/// texts.
struct Choice {
  ParameterValue value;
  io::Scalar scalar;
};
/// One value per axis, by the axis's name.
using Assignment = std::map<std::string, Choice>;
/// The values of an axis (each element sets one name), or of a zip, i.e. several axes that vary together
/// (each element sets several names).
using Dimension = std::vector<Assignment>;

/// Returns the dimensions of a method's trials in the order: precision, axes by name, zips. Parameters that
/// the method does not have are left out. All values are checked, also those for other backends.
/// @param backend the backend of the trials @param requested the backend that the user requested
/// @throws io::InputError
std::vector<Dimension> dimensions_of(const io::Plan& plan, const io::Entry& entry, const Method& method,
                                     Backend backend, Backend requested);

/// Returns the values of an axis for a GPU model: those given for the model, otherwise those given for the
/// backend `cuda`; null if there are neither.
const std::vector<io::Scalar>* values_on_gpu(const io::Axis& axis, const std::string& gpu_name);

/// Returns the plan for these GPUs: on axes with values per GPU model, the values of these GPUs become those
/// of the backend `cuda`. @throws UsageError if an axis has different values for them
io::Plan for_gpus(io::Plan plan, const std::vector<std::string>& gpu_names);

/// Returns the number of combinations, at most `max_count` + 1.
std::size_t count_combinations(const std::vector<Dimension>& dimensions, std::size_t max_count);

/// Calls `visit` with every combination; the last dimension varies fastest.
/// @param depth index of the first dimension that `current` has no values of yet; 0 in the outermost call
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
