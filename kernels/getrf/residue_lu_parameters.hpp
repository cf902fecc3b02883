#pragma once
/// Parameters, workspace and expected speed of LU with products by residues.

#include "kernels/gemm/residue_memory.hpp"
#include "kernels/getrf/recursive_workspace.hpp"

namespace gaussweep::lu {

inline std::vector<Parameter> residue_parameters() {
  return {integer_parameter("moduli", 15, 2, residues::max_moduli, "moduli of a product by residues"),
          integer_parameter("least_inner", 0, 0, max_rows,
                            "k from which products are by residues; 0: if that is faster")};
}

/// Returns the workspace sizes that suffice for every product of a factorisation of order n. Such products
/// have m + k <= n.
inline residues::Capacity residue_capacity(std::int64_t n, int moduli) {
  residues::Capacity capacity = residues::capacity_for(n / 2 + 16, n, n / 2 + 16, moduli);
  capacity.sums = moduli * residues::padded(n) * residues::padded(std::min<std::int64_t>(n, 2048));
  capacity.exponents = 2 * n;
  return capacity;
}

inline std::size_t residue_bytes(const Shape& shape, const Parameters& parameters, std::size_t element) {
  return workspace_bytes(shape.n, element) +
         residues::bytes_of(residue_capacity(shape.n, static_cast<int>(parameters.integer("moduli"))));
}

/// Returns true if m x n x k by residues takes less time than the vendor's product with this element size,
/// from rates measured on an H100 in operations per second and bytes per second.
inline bool residues_are_faster(double m, double n, double k, int moduli, std::size_t element) {
  constexpr double vendor_double_rate = 55e12, vendor_float_rate = 50e12, byte_rate = 1.45e15,
                   memory_rate = 2.5e12;
  constexpr double half_rate_k = 300;        // k at which products of 8-bit integers reach half of byte_rate
  constexpr double launch_seconds = 100e-6;  // including the wait for the check whether residues are possible
  const double operations = 2 * m * n * k;
  const double vendor_seconds =
      operations / (element == sizeof(float) ? vendor_float_rate : vendor_double_rate);
  const double product_seconds = moduli * operations / byte_rate * (1 + half_rate_k / k);
  const double moved_bytes = (m * k + k * n) * (2.0 * static_cast<double>(element) + moduli) +
                             m * n * (4.0 * moduli + 2.0 * static_cast<double>(element));
  return product_seconds + moved_bytes / memory_rate + launch_seconds < vendor_seconds;
}

}  // namespace gaussweep::lu
