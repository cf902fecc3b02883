#include "kernels/core/problem.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/core/problem_check.hpp"
#include "kernels/tables.hpp"

namespace gaussweep {
namespace {

[[noreturn]] void reject(const ProblemRow& row, const std::string& why) {
  throw std::logic_error("the row of problem '" + row.name + "': " + why);
}

}  // namespace

void validate(const ProblemRow& row) {
  static const std::vector<std::string> known{"m", "n", "k", "nrhs", "uplo"};
  if (!is_word(row.name)) reject(row, "the name is not of a-z, 0-9 and _");
  for (const std::string& axis : row.axes) {
    if (std::find(known.begin(), known.end(), axis) == known.end())
      reject(row, "'" + axis + "' is no axis; there are m, n, k, nrhs, uplo");
  }
  if (!row.has_axis("n")) reject(row, "it has no axis n");
  if (row.a == nullptr || row.x == nullptr) reject(row, "the shapes of A and of the answer are missing");
  if ((row.second == SecondOperand::none) != (row.b == nullptr))
    reject(row, "the shape of B is to be given where there is a B, and only there");
  if ((row.second == SecondOperand::right_hand_sides) != row.has_axis("nrhs"))
    reject(row, "nrhs is the axis of problems with right-hand sides, and only of those");
  if ((row.second == SecondOperand::matrix) != (row.has_axis("m") && row.has_axis("k")))
    reject(row, "m and k are the axes of problems whose B is a matrix of its own, and only of those");
  if (row.flops == nullptr || row.elements == nullptr) reject(row, "flops or elements are missing");
  if (row.judge.single == nullptr || row.judge.real == nullptr) reject(row, "the judge is missing");
  if (!(row.tolerance > 0)) reject(row, "the tolerance is not positive");
}

namespace {

std::vector<Problem> listed() {
  std::vector<Problem> all;
  for (const ProblemTable& table : problem_tables()) {
    const ProblemRow& row = table.problem.row();
    validate(row);
    for (const Problem other : all) {
      if (other->name == row.name) reject(row, "there already is a problem of this name");
    }
    all.push_back(table.problem);
  }
  return all;
}

const EnumNames<Problem>::Words& words() {
  static const EnumNames<Problem>::Words all = [] {
    EnumNames<Problem>::Words pairs;
    for (const Problem problem : all_problems()) pairs.emplace_back(problem, problem->name);
    return pairs;
  }();
  return all;
}

}  // namespace

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

const std::vector<Problem>& all_problems() {
  static const std::vector<Problem> all = listed();
  return all;
}

Problem Problem::named(std::string_view name) {
  for (const Problem problem : all_problems()) {
    if (problem->name == name) return problem;
  }
  throw std::logic_error("there is no problem '" + std::string(name) + "' in this program; there are " +
                         allowed_names<Problem>());
}

const ProblemRow& Problem::row() const {
  if (row_ == nullptr) throw std::logic_error("a problem was asked for that nobody has set");
  return *row_;
}

bool ProblemRow::has_axis(std::string_view axis) const {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::string_view to_string(Problem problem) {
  return problem == Problem() ? "?" : std::string_view(problem->name);
}

EnumNames<Problem>::Words::const_iterator EnumNames<Problem>::Table::begin() const {
  return words().begin();
}
EnumNames<Problem>::Words::const_iterator EnumNames<Problem>::Table::end() const {
  return words().end();
}

void require_sizes(const ProblemRow& problem, const Shape& shape, const std::string& who) {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"m", shape.m}, {"n", shape.n}, {"k", shape.k}, {"nrhs", shape.nrhs}};
  for (const auto& [axis, size] : sizes) {
    if (size < 1 && problem.has_axis(axis))
      throw std::invalid_argument(who + ": every size must be at least 1");
  }
}

double problem_flops(Problem problem, const Shape& shape) {
  return problem->flops(shape);
}

double problem_bytes(Problem problem, const Shape& shape, std::size_t element) {
  return problem->elements(shape) * static_cast<double>(element);
}

}  // namespace gaussweep
