#pragma once
/// The parameters of LU with products by residues, its memory, and when such a product is the faster one.

#include "kernels/gemm/residue_memory.hpp"
#include "kernels/getrf/recursive_workspace.hpp"

namespace gaussweep::lu {

inline std::vector<Parameter> residue_parameters() {
  return {integer_parameter("moduli", 15, 2, residues::most_moduli, "moduli of a product by residues"),
          integer_parameter("least_inner", 0, 0, most_rows,
                            "inner size from which products are by residues; 0: where that is faster")};
}

/// Of every product in a factorisation of order n: rows and inner size together are at most n.
inline residues::Room residue_room(std::int64_t n, int moduli) {
  residues::Room room = residues::room_for(n / 2 + 16, n, n / 2 + 16, moduli);
  room.sums = moduli * residues::padded(n) * residues::padded(std::min<std::int64_t>(n, 2048));
  room.exponents = 2 * n;
  return room;
}

inline std::size_t residue_bytes(const Shape& shape, const Parameters& parameters, std::size_t element) {
  return workspace_bytes(shape.n, element) +
         residues::bytes_of(residue_room(shape.n, static_cast<int>(parameters.integer("moduli"))));
}

/// Whether m x n x k by residues takes less time than the vendor's product of elements of that size. It is
/// estimated by an H100's measured rates, in operations and bytes a second.
inline bool residues_are_faster(double m, double n, double k, int moduli, std::size_t element) {
  constexpr double double_rate = 55e12, float_rate = 50e12, byte_rate = 1.45e15, traffic = 2.5e12;
  constexpr double slow_inner = 300;   // inner size at which products of bytes reach half their rate
  constexpr double launches = 100e-6;  // and waiting for what tells whether it can be done
  const double operations = 2 * m * n * k;
  const double vendor = operations / (element == sizeof(float) ? float_rate : double_rate);
  const double products = moduli * operations / byte_rate * (1 + slow_inner / k);
  const double moved = (m * k + k * n) * (2.0 * static_cast<double>(element) + moduli) +
                       m * n * (4.0 * moduli + 2.0 * static_cast<double>(element));
  return products + moved / traffic + launches < vendor;
}

}  // namespace gaussweep::lu
