#include "kernels/registry/parameters.hpp"

#include <stdexcept>

namespace gaussweep {
namespace {

template <class V>
const V& get(const std::map<std::string, ParameterValue>& values, const std::string& name, const char* type) {
  const auto found = values.find(name);
  if (found == values.end()) {
    throw std::logic_error("parameter '" + name + "' was read, but the method's row does not declare it");
  }
  const V* value = std::get_if<V>(&found->second);
  if (value == nullptr) {
    throw std::logic_error("parameter '" + name + "' was read as " + type +
                           ", but its value is of another type");
  }
  return *value;
}

}  // namespace

std::int64_t Parameters::integer(const std::string& name) const {
  return get<std::int64_t>(values_, name, "an integer");
}

double Parameters::real(const std::string& name) const {
  return get<double>(values_, name, "a real number");
}

const std::string& Parameters::choice(const std::string& name) const {
  return get<std::string>(values_, name, "a choice");
}

}  // namespace gaussweep
