/// trmm: B := A B with a triangular A, a problem that only this program has. This file has its row and its
/// list of methods.

#include "kernels/check/verifiers.hpp"
#include "kernels/registry/flops.hpp"
#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_PORTABLE(trmm_columns)
GAUSSWEEP_DECLARE_IN(host, trmm_openblas)
GAUSSWEEP_DECLARE_IN(host, trmm_halved)

namespace gaussweep {
namespace {

double operations(const Shape& shape) {
  const auto n = static_cast<double>(shape.n);
  return static_cast<double>(shape.nrhs) * n * n;
}

double operands(const Shape& shape) {
  return triangle_elements(shape) + 2.0 * columns_elements(shape);
}

/// Returns max |X - A B| / (n u ||A||_inf max |B|), the largest over all columns.
template <class T>
Findings product_by_triangle(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                             const Answer<T>& answer, double tolerance) {
  const MatrixPart part = verifiers::part_of_a(method, inputs.shape);
  const WideNumber a_norm = reductions.infinity_norm(inputs.a, part);
  std::vector<verifiers::Scale> scales;
  for (const double largest : reductions.column_maxima(inputs.b)) {
    scales.push_back({a_norm * WideNumber(largest), a_norm * WideNumber(largest)});
  }
  return verifiers::verify_columns(
      reductions, ProductOperands<T>{Operand<T>(inputs.a, part), Operand<T>(inputs.b)},
      ResidualTarget<T>{&answer.x}, Measure::largest, scales,
      static_cast<double>(inputs.shape.n) * verifiers::unit_roundoff<T>, tolerance);
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "trmm";
  row.title = "A B, A triangular";
  row.axes = {"n", "nrhs", "uplo"};
  row.needs = {Need::triangular};
  row.second = SecondOperand::right_hand_sides;
  row.b = row.x = columns_extent;
  row.used_of_a = UsedElements::triangle;
  row.flops = operations;
  row.elements = operands;
  row.verifier = {product_by_triangle<float>, product_by_triangle<double>};
  row.tolerance = 3;
  return row;
}

Problem trmm() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

Method trmm_method(std::string variant, std::string summary) {
  Method method = make_method(trmm(), std::move(variant), std::move(summary), "tests");
  method.answer = AnswerIn::b;
  return method;
}

Method columns() {
  Method method = trmm_method("columns", "a thread a column of B");
  method.parameters = {integer_parameter("threads", 32, 1, 1024, "threads of a block")};
  return portable(std::move(method), GAUSSWEEP_ENTRIES(trmm_columns));
}

Method openblas() {
  return library(on_cpu(trmm_method("openblas", "BLAS trmm"), GAUSSWEEP_ENTRY(host, trmm_openblas)));
}

Method halved() {
  return on_cpu(trmm_method("halved", "wrong: half of the product"), GAUSSWEEP_ENTRY(host, trmm_halved));
}

std::vector<Method> methods() {
  return {columns(), openblas(), halved()};
}

}  // namespace

// Returns the problems of kernels/ and trmm.
std::vector<ProblemTable> problem_tables() {
  std::vector<ProblemTable> tables = builtin_tables();
  tables.push_back({trmm(), methods});
  return tables;
}

}  // namespace gaussweep
