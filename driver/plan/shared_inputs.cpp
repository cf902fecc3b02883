#include "driver/plan/shared_inputs.hpp"

#include <fmt/format.h>

namespace gaussweep::driver {

std::string inputs_identity(const Trial& t) {
  const bool triangle = t.problem->used_of_a == UsedElements::triangle;
  // Factorisations and inversions use the same matrix without b and x_true.
  const bool system = t.problem->second == SecondOperand::right_hand_sides;
  return fmt::format("{} {} {} {}x{}x{} {}", t.matrix.digest, t.matrix_b ? t.matrix_b->digest : "",
                     to_string(t.precision), t.shape.m, t.shape.n, t.shape.k, t.shape.nrhs) +
         (triangle ? fmt::format(" {}", to_string(t.shape.uplo)) : "") + (system ? " system" : "") +
         (t.problem->second == SecondOperand::matrix ? " product" : "");
}

std::string comparison_identity(const Trial& t, const Method& vendor) {
  return fmt::format("{} {} {} {}", inputs_identity(t), vendor.id(), to_string(t.shape.uplo),
                     t.sampling.cold ? "cold" : "warm");
}

}  // namespace gaussweep::driver
