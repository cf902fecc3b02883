/// Finds the rows of the table of problems, and checks the sizes of a trial.

#include "kernels/registry/problem.hpp"

#include <algorithm>
#include <stdexcept>

namespace gaussweep {
namespace {

/// Returns the table for EnumNames<Problem>, which is built on first use.
const EnumNames<Problem>::Names& problem_names() {
  static const EnumNames<Problem>::Names all = [] {
    EnumNames<Problem>::Names pairs;
    for (const Problem problem : all_problems()) pairs.emplace_back(problem, problem->name);
    return pairs;
  }();
  return all;
}

}  // namespace

Problem Problem::named(std::string_view name) {
  for (const Problem problem : all_problems()) {
    if (problem->name == name) return problem;
  }
  throw std::invalid_argument("there is no problem '" + std::string(name) + "' in this program; there are " +
                              allowed_names<Problem>());
}

const ProblemRow& Problem::row() const {
  if (row_ == nullptr) throw std::logic_error("the problem is not set");
  return *row_;
}

bool ProblemRow::has_axis(std::string_view axis) const {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::string_view to_string(Problem problem) {
  return problem == Problem() ? "?" : std::string_view(problem->name);
}

EnumNames<Problem>::Names::const_iterator EnumNames<Problem>::Table::begin() const {
  return problem_names().begin();
}
EnumNames<Problem>::Names::const_iterator EnumNames<Problem>::Table::end() const {
  return problem_names().end();
}

void require_sizes(const ProblemRow& problem, const Shape& shape, const std::string& caller) {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"m", shape.m}, {"n", shape.n}, {"k", shape.k}, {"nrhs", shape.nrhs}};
  if (shape.batch < 1) throw std::invalid_argument(caller + ": a batch has at least 1 system");
  for (const auto& [axis, size] : sizes) {
    if (size < 1 && problem.has_axis(axis))
      throw std::invalid_argument(caller + ": every size must be at least 1");
  }
}

double problem_flops(Problem problem, const Shape& shape) {
  return problem->flops(shape) * static_cast<double>(shape.batch);
}

double problem_bytes(Problem problem, const Shape& shape, std::size_t element_bytes) {
  return problem->elements(shape) * static_cast<double>(shape.batch) * static_cast<double>(element_bytes);
}

}  // namespace gaussweep
