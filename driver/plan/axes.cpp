#include "driver/plan/axes.hpp"

#include <set>

#include "driver/plan/plan_words.hpp"

namespace gaussweep::driver {
namespace {

const std::vector<io::Scalar>& values_for(const std::string& name, const io::Axis& axis, Backend backend,
                                          Backend requested) {
  if (axis.by_backend.empty()) return axis.values;
  for (Backend wanted : {backend, requested}) {
    const auto found = axis.by_backend.find(std::string(to_string(wanted)));
    if (found != axis.by_backend.end()) return found->second;
  }
  std::vector<std::string> said;
  for (const auto& [name_of_backend, values] : axis.by_backend) said.push_back(name_of_backend);
  io::fail_at(axis.place, fmt::format("{} says nothing for the backend {}, only for {}", name,
                                      to_string(backend), joined(said)));
}

}  // namespace

std::vector<Dimension> dimensions_of(const io::Plan& plan, const io::Entry& entry, const Method& method,
                                     Backend backend, Backend requested) {
  const auto concerns = [&](const std::string& name) {
    return fixed_axes().count(name) > 0 || has_parameter(method, name);
  };
  std::vector<Dimension> dimensions;
  std::set<std::string> named;
  for (const auto& zip : entry.zips) {
    Dimension dimension;
    for (const auto& [name, axis] : zip) {
      named.insert(name);
      if (!concerns(name)) continue;
      const std::vector<io::Scalar>& values = values_for(name, axis, backend, requested);
      dimension.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) dimension[i].emplace(name, values[i]);
    }
    if (!dimension.empty()) dimensions.push_back(std::move(dimension));
  }
  std::vector<Dimension> axes;
  if (entry.axes.count("precision") == 0 && named.count("precision") == 0) {
    Dimension precisions;
    for (const io::Scalar& precision : plan.precision) precisions.push_back({{"precision", precision}});
    axes.push_back(std::move(precisions));
  }
  for (const auto& [name, axis] : entry.axes) {
    if (!concerns(name)) continue;
    Dimension dimension;
    for (const io::Scalar& value : values_for(name, axis, backend, requested))
      dimension.push_back({{name, value}});
    axes.push_back(std::move(dimension));
  }
  dimensions.insert(dimensions.begin(), axes.begin(), axes.end());
  return dimensions;
}

std::size_t count_combinations(const std::vector<Dimension>& dimensions, std::size_t most) {
  std::size_t count = 1;
  for (const Dimension& dimension : dimensions) {
    if (dimension.size() > most / count) return most + 1;
    count *= dimension.size();
  }
  return count;
}

}  // namespace gaussweep::driver
