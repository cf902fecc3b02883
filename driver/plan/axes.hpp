#pragma once
/// Reads the axes of one entry of a plan's list `sweep`, and enumerates the combinations of their values. A
/// plan is the YAML file that describes a benchmark run. An axis is a size, an option or a method parameter
/// with a list of values.

#include <map>
#include <string>
#include <vector>

#include "io/plan/plan.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// One value of an axis, and the YAML scalar that it was read from (its location is used in errors).
/// Precision and uplo are stored by name.
struct AxisValue {
  ParameterValue value;
  io::Scalar scalar;
};
/// One value per axis, by the axis's name.
using Assignment = std::map<std::string, AxisValue>;
/// The values of an axis: each element sets one name. For a zip (several axes that vary together), each
/// element sets several names.
using Dimension = std::vector<Assignment>;

/// Returns the dimensions of a method's trials in the order: precision, axes by name, zips. Parameters that
/// the method does not have are left out. If an axis has values per backend, those for `backend` are used,
/// else those for `requested`. All values are checked, also those for other backends.
/// @param backend the backend of the trials @param requested the backend that the user requested
/// @throws io::InputError
std::vector<Dimension> dimensions_of(const io::Plan& plan, const io::Entry& entry, const Method& method,
                                     Backend backend, Backend requested);

/// Returns the values of an axis for a GPU model: those given for the model, otherwise those given for the
/// backend `cuda`; null if the axis has neither.
const std::vector<io::Scalar>* values_on_gpu(const io::Axis& axis, const std::string& gpu_name);

/// Specialises a plan for these GPUs. If an axis has values per GPU model, those for these GPUs become its
/// values for the backend `cuda`. @throws UsageError if an axis has different values for two of these GPUs
io::Plan for_gpus(io::Plan plan, const std::vector<std::string>& gpu_names);

/// Returns the number of combinations; stops at `max_count` + 1, which shows that there are too many.
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
