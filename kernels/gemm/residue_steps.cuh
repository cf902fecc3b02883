#pragma once
/// Kernels of C = A B by residues (Ozaki's scheme II). The scaled operands are integers. Their product is
/// computed modulo several coprime numbers (the moduli) by int8 matrix products. The Chinese remainder
/// theorem then gives the product itself.
///
/// residue_products.cuh launches the byte products and the kernels of this file, which run before and after
/// them. They scale the operands, compute residues, estimate |A| |B| from magnitudes, and reconstruct C.
///
/// A row of A or a column of B is called a *vector*, and 16 adjacent elements of it are a *chunk*. A vector
/// is scaled by 2^(bits - e) and rounded to integers, where e is the smallest exponent with |element| <= 2^e
/// for all its elements. Vectors are stored with contiguous k indices and padded with zeros (padded and
/// padded_k in workspaces.hpp), because products of bytes require this layout.

#include <cmath>
#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/gemm/residue_numbers.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::residues {

using namespace gaussweep::residues;

/// The exponent of a vector of zeros. Its four bytes are equal, so that a memset with `unset_exponent_byte`
/// sets it.
constexpr int unset_exponent = static_cast<int>(0x80808080u), unset_exponent_byte = 0x80;
constexpr int threads = 256;
constexpr int chunk = 16;  ///< elements of a chunk; a thread stores their bytes in one access
constexpr double integer_rounding_shift = 0x1.8p52;  ///< adding it rounds a double below 2^51 to an integer
/// Largest number of bits for which one division step gives the residue. With more bits, the rounded quotient
/// may be wrong by more than 1/2, so that a second step must reduce the remainder.
constexpr int one_step_bits = 51;
/// The operand whose vectors a kernel converts. (Their memory layouts differ.)
enum class OperandSide { rows_of_a, columns_of_b };

/// Measurements that the host reads to choose the number of moduli.
struct OperandMeasurements {
  int out_of_range;  ///< 1 if an |exponent| exceeds max_operand_exponent or an element is not finite
  int smallest_sum;  ///< the smallest element of |A| |B|, with |elements| rounded down to magnitude_bits bits
};

/// The rows of A or the columns of B: `count` vectors of `length` elements.
template <class T>
struct OperandVectors {
  const T* data;
  std::int64_t vector_stride;   ///< distance of two vectors
  std::int64_t element_stride;  ///< distance of two elements of a vector
  int count, length;
  const int* exponents;  ///< per vector: the exponent e of the scale (top of this file)
};

/// Returns the smallest e >= -1022 with |value| <= 2^e, `unset_exponent` for 0, or a number above
/// max_operand_exponent if the value is not finite.
__device__ __forceinline__ int exponent_above(double value) {
  // Unsigned, because a signed sum would overflow for a NaN.
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value)) & 0x7fffffffffffffffULL;
  // Adding 2^52 - 1 carries into the exponent unless the significand's stored bits are 0 (a power of two).
  return bits == 0 ? unset_exponent : static_cast<int>((bits + 0xfffffffffffffULL) >> 52) - 1023;
}
__device__ __forceinline__ double power_of_two(int exponent) {
  return __longlong_as_double(static_cast<long long>(exponent + 1023) << 52);
}

/// Computes the exponents of A's rows. A thread reads `slice` columns of one row; blockIdx.y selects the
/// columns.
template <class T>
__global__ void __launch_bounds__(threads) measure_rows(MatrixView<T> a, int slice, int* exponents) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= a.rows) return;
  const int begin = static_cast<int>(blockIdx.y) * slice;
  const int end = static_cast<int>(a.cols) - begin < slice ? static_cast<int>(a.cols) : begin + slice;
  const T* from = a.data + row + begin * a.ld;
  int max_exponent = unset_exponent;
#if defined(__CUDACC__)
#pragma unroll 8
#endif
  for (int j = begin; j < end; ++j, from += a.ld) {
    const int exponent = exponent_above(static_cast<double>(*from));
    max_exponent = exponent > max_exponent ? exponent : max_exponent;
  }
  atomicMax(exponents + row, max_exponent);
}

/// Computes the exponents of B's columns, one block per column.
template <class T>
__global__ void __launch_bounds__(threads) measure_columns(MatrixView<T> b, int* exponents) {
  const T* const column = b.data + blockIdx.x * b.ld;
  int max_exponent = unset_exponent;
#if defined(__CUDACC__)
#pragma unroll 4
#endif
  for (int i = static_cast<int>(threadIdx.x); i < b.rows; i += threads) {
    const int exponent = exponent_above(static_cast<double>(column[i]));
    max_exponent = exponent > max_exponent ? exponent : max_exponent;
  }
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_xor_sync(0xffffffffu, max_exponent, d);
    max_exponent = other > max_exponent ? other : max_exponent;
  }
  if (threadIdx.x % 32 == 0) atomicMax(exponents + blockIdx.x, max_exponent);
}

/// Sets measurements->out_of_range if an exponent is too large or too small. `Int` is always int: the kernel
/// is a template so that several files may include its definition.
template <class Int>
__global__ void __launch_bounds__(threads)
    find_out_of_range(const Int* exponents, int count, OperandMeasurements* measurements) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count || exponents[i] == unset_exponent) return;
  if (exponents[i] > max_operand_exponent || exponents[i] < -max_operand_exponent)
    atomicMax(&measurements->out_of_range, 1);
}

/// 16 bytes that a thread stores in one access.
struct alignas(16) Chunk {
  unsigned word[4];
};

/// Assigns a vector and a chunk of 16 elements to the thread.
///
/// For rows of A, a warp covers 4 rows with 8 chunks each. Lanes 8 r to 8 r + 7 store the 128 contiguous
/// bytes of row r. The four lanes of one chunk read adjacent elements of a column, 32 bytes in double. For
/// columns of B, consecutive threads get consecutive chunks of a column.
template <OperandSide source>
__device__ __forceinline__ void assign_chunk(int chunks, int& vector, int& chunk_index) {
  const int thread = static_cast<int>(threadIdx.x);
  if (source == OperandSide::rows_of_a) {
    // A block covers a group of threads / 8 = 32 rows and 8 chunks of each.
    const int blocks_per_row_group = (chunks + 7) / 8;
    vector = static_cast<int>(blockIdx.x) / blocks_per_row_group * (threads / 8) + thread / 8;
    chunk_index = static_cast<int>(blockIdx.x) % blocks_per_row_group * 8 + thread % 8;
  } else {
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + thread;
    vector = static_cast<int>(index / chunks);
    chunk_index = static_cast<int>(index % chunks);
  }
}

/// Loads elements `first` to `first` + 15 of a vector, scaled to `bits` bits. Elements beyond the vector's
/// end are 0.
template <class T>
__device__ __forceinline__ void load(const OperandVectors<T>& from, int vector, int first, int bits,
                                     double (&value)[chunk]) {
  const bool exists = vector < from.count;
  const int exponent = exists ? from.exponents[vector] : unset_exponent;
  const double scale = power_of_two(exponent == unset_exponent ? 0 : bits - exponent);
  const T* const data = from.data + vector * from.vector_stride;
  GAUSSWEEP_UNROLL
  for (int t = 0; t < chunk; ++t) {
    const std::int64_t k = first + t;
    value[t] = exists && k < from.length ? static_cast<double>(data[k * from.element_stride]) * scale : 0.0;
  }
}

/// Computes the residues of the scaled elements for all moduli. Reads the elements once, and writes a matrix
/// of bytes (a plane of `plane` bytes) per modulus.
/// @tparam wide true if `bits` may exceed one_step_bits
/// @pre bits <= 58
template <class T, OperandSide source, bool wide>
__global__ void __launch_bounds__(threads)
    make_residues(OperandVectors<T> from, int bits, int padded_count, int chunks, signed char* to,
                  std::int64_t plane, ModulusTable table) {
  int vector, chunk_index;
  assign_chunk<source>(chunks, vector, chunk_index);
  if (vector >= padded_count || chunk_index >= chunks) return;
  double value[chunk];
  load(from, vector, chunk_index * chunk, bits, value);
  GAUSSWEEP_UNROLL
  for (int t = 0; t < chunk; ++t) value[t] = rint(value[t]);
  to += (static_cast<std::int64_t>(vector) * chunks + chunk_index) * chunk;
  for (int l = 0; l < table.count; ++l, to += plane) {
    const double modulus = table.modulus[l], reciprocal = table.reciprocal[l];
    Chunk bytes = {};
    GAUSSWEEP_UNROLL
    for (int t = 0; t < chunk; ++t) {
      // value - round(value / p) p, which is in about [-p / 2, p / 2] and is stored as a signed byte.
      double remainder = fma(-(fma(value[t], reciprocal, integer_rounding_shift) - integer_rounding_shift),
                             modulus, value[t]);
      if (wide)
        remainder = fma(-(fma(remainder, reciprocal, integer_rounding_shift) - integer_rounding_shift),
                        modulus, remainder);
      const auto byte = static_cast<unsigned>(__double2loint(remainder + integer_rounding_shift)) & 0xffu;
      bytes.word[t / 4] |= byte << (t % 4 * 8);
    }
    *reinterpret_cast<Chunk*>(to) = bytes;
  }
}

/// Computes |element| in 7 bits, rounded down, for every `stride`th chunk of 16 elements (for the pre-pass
/// that estimates |A| |B|).
template <class T, OperandSide source>
__global__ void __launch_bounds__(threads)
    make_magnitudes(OperandVectors<T> from, int stride, int padded_count, int chunks, signed char* to) {
  int vector, chunk_index;
  assign_chunk<source>(chunks, vector, chunk_index);
  if (vector >= padded_count || chunk_index >= chunks) return;
  double value[chunk];
  load(from, vector, chunk_index * chunk * stride, magnitude_bits, value);
  Chunk bytes = {};
  GAUSSWEEP_UNROLL
  for (int t = 0; t < chunk; ++t) {
    const double magnitude = fmin(fabs(value[t]), 127.0);  // an element equal to its scale would give 128
    bytes.word[t / 4] |= static_cast<unsigned>(magnitude) << (t % 4 * 8);
  }
  *reinterpret_cast<Chunk*>(to + (static_cast<std::int64_t>(vector) * chunks + chunk_index) * chunk) = bytes;
}

/// Returns the residue of `sum` from 0 to p - 1. @pre |sum| <= 2^30
///
/// The shifted sum s = sum + offset is nonnegative and at most 2^31 + p. Since factor < 2^39 / p + 1, the
/// product s * factor * 2^-39 exceeds s / p by less than s * 2^-39. This is below 1 / p for p <= 255; for p =
/// 256, `factor` is exact. The integer part is therefore floor(s / p).
__device__ __forceinline__ unsigned residue_of(int sum, const Reduction& reduction) {
  const unsigned shifted = static_cast<unsigned>(sum) + reduction.offset;
  const auto quotient =
      static_cast<unsigned>((static_cast<unsigned long long>(shifted) * reduction.factor) >> 39);
  return shifted - quotient * reduction.modulus;
}

/// The sums of four neighbouring rows of C, or their residues.
template <class Sum>
struct alignas(4 * sizeof(Sum)) SumQuad {
  Sum value[4];
};

/// Finds the smallest element of |A| |B|. Skips rows of C for which A's row is zero, and columns for which
/// B's column is zero. `Int` is always int (see find_out_of_range).
template <class Int>
__global__ void __launch_bounds__(threads)
    find_smallest_sum(const Int* sums, int padded_rows, int rows, int cols, const int* row_exponents,
                      const int* column_exponents, OperandMeasurements* measurements) {
  const std::int64_t quads_per_column = padded_rows / 4;
  int smallest = 0x7fffffff;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
       i < quads_per_column * cols; i += static_cast<std::int64_t>(gridDim.x) * threads) {
    const int column = static_cast<int>(i / quads_per_column);
    const auto four = reinterpret_cast<const SumQuad<Int>*>(sums)[i];
    if (column_exponents[column] == unset_exponent) continue;
    GAUSSWEEP_UNROLL
    for (int t = 0; t < 4; ++t) {
      const int row = static_cast<int>(i % quads_per_column) * 4 + t;
      if (four.value[t] < smallest && row < rows && row_exponents[row] != unset_exponent)
        smallest = four.value[t];
    }
  }
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_xor_sync(0xffffffffu, smallest, d);
    smallest = other < smallest ? other : smallest;
  }
  if (threadIdx.x % 32 == 0) atomicMin(&measurements->smallest_sum, smallest);
}

/// Reconstructs an integer x from its residues c_l for the moduli p_l. P is the product of the moduli, and
/// w_l is the weight of c_l in the Chinese remainder theorem, divided by P (residue_numbers.hpp).
///
/// @param sum the sum over l of c_l w_l in limbs of 28 bits, the highest limb first. Modulo 1 it is x / P,
/// which the code holds as 2^-56 (high + low 2^-56)
/// @return 2^56 x; the caller's scale includes the factor 2^-56
__device__ __forceinline__ double scaled_integer_of(long long (&sum)[limbs], const ModulusTable& table) {
  // Propagates carries, so that every limb except the first one has 28 bits.
  constexpr long long mask = (1LL << limb_bits) - 1;
  GAUSSWEEP_UNROLL
  for (int i = limbs - 1; i > 0; --i) {
    sum[i - 1] += sum[i] >> limb_bits;
    sum[i] &= mask;
  }
  // Reduces modulo 1 to [-1/2, 1/2): sign-extends the low 28 bits of the first limb.
  const long long signed_high = static_cast<long long>(static_cast<unsigned long long>(sum[0]) << 36) >> 36;
  const long long high = signed_high * (1LL << limb_bits) + sum[1];
  const long long low = (sum[2] << limb_bits) + sum[3];
  // A sum smaller than the error from rounding the weights means x = 0. Each weight is wrong by up to half
  // its last bit, so the weighted sum of 18 residues below 2^8 is wrong by less than 2^12 last bits.
  constexpr long long noise = 1LL << 12;
  if ((high == 0 && low < noise) || (high == -1 && low > (1LL << 56) - noise)) return 0;
  const auto first = static_cast<double>(high);
  const double second =
      static_cast<double>(high - static_cast<long long>(first)) + static_cast<double>(low) * 0x1p-56;
  // (first + second) P in double-double arithmetic, where first + second = high + low 2^-56.
  const double product = first * table.product;
  double remainder = fma(first, table.product, -product);
  remainder = fma(first, table.product_low, remainder);
  remainder = fma(second, table.product, remainder);
  return product + remainder;
}

/// Reconstructs A B from the sums per modulus, and stores it in C or subtracts it from C. A thread processes
/// four rows of a column.
/// @tparam Sum int, or unsigned char for sums that are already reduced modulo p
/// @param bits the bits that an element of A and an element of B have together
template <class T, bool subtract, class Sum>
__global__ void __launch_bounds__(threads)
    reconstruct(const Sum* sums, std::int64_t plane, int padded_rows, MatrixView<T> c, int bits,
                const int* row_exponents, const int* column_exponents, ModulusTable table) {
  const int quads_per_column = padded_rows / 4;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= quads_per_column * c.cols) return;
  const std::int64_t column = i / quads_per_column;
  const int row = static_cast<int>(i % quads_per_column) * 4;
  long long sum[4][limbs] = {};
  const Sum* from = sums + i * 4;
#if defined(__CUDACC__)
#pragma unroll 4
#endif
  for (int l = 0; l < table.count; ++l, from += plane) {
    const auto four = *reinterpret_cast<const SumQuad<Sum>*>(from);
    GAUSSWEEP_UNROLL
    for (int t = 0; t < 4; ++t) {
      const unsigned residue = sizeof(Sum) == 1
                                   ? static_cast<unsigned>(four.value[t])
                                   : residue_of(static_cast<int>(four.value[t]), table.reduction[l]);
      GAUSSWEEP_UNROLL
      for (int w = 0; w < limbs; ++w) sum[t][w] += static_cast<long long>(residue) * table.weight[l][w];
    }
  }
  const int column_exponent = column_exponents[column];
  T* const to = c.data + row + column * c.ld;
  GAUSSWEEP_UNROLL
  for (int t = 0; t < 4; ++t) {
    if (row + t >= c.rows) return;
    const int row_exponent = row_exponents[row + t];
    const double scaled_integer = scaled_integer_of(sum[t], table);
    const bool zero =
        scaled_integer == 0 || row_exponent == unset_exponent || column_exponent == unset_exponent;
    const double value =
        zero ? 0.0 : scaled_integer * power_of_two(row_exponent + column_exponent - bits - 56);
    to[t] = subtract ? static_cast<T>(static_cast<double>(to[t]) - value) : static_cast<T>(value);
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::residues
