#pragma once
/// Constants of products in a residue number system: the moduli, their number, and the weights of the
/// reconstruction by the Chinese remainder theorem.
///
/// P is the product of the coprime moduli p_l. An integer x with |x| < P / 2 is determined by its residues
/// c_l: x / P = sum over l of c_l w_l modulo 1, with the weights w_l = ((P / p_l)^-1 mod p_l) / p_l.
///
/// An element is rounded to a fixed-point number of `bits` bits, relative to the power of two (the scale)
/// above the largest element of its row of A or column of B. The bits of an element of A and of one of B add
/// up to at most max_bits.
///
/// Rounding the weights causes an error of up to 2^-77 P; smaller x are indistinguishable from 0.
/// useful_moduli omits moduli that add no bits, so that P < 2^(max_bits + 9) k (one bit for the sign, 8 for
/// the last modulus). The error is then below 2^-68 k times 2^max_bits, the largest product of two elements.

#include <cmath>
#include <cstdint>

namespace gaussweep::residues {

constexpr int max_moduli = 18;  ///< enough for max_bits at k = max_inner_size
constexpr int moduli[max_moduli] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                    227, 223, 217, 211, 199, 197, 193, 191, 181};
constexpr int min_moduli = 5;                   ///< fewer are never accurate enough, even in float
constexpr std::int64_t max_inner_size = 65536;  ///< sums of k products of bytes stay below 2^30
constexpr int max_operand_exponent =
    400;  ///< largest |exponent| of an operand's row or column: no step over- or underflows
constexpr int magnitude_bits =
    7;  ///< bits per |element| in the look-ahead, a product that estimates the sums |A| |B| first
constexpr int max_bits = 116;  ///< bits of a product of two elements: an element has at most 58 bits

constexpr int limbs = 4;       ///< of the fixed-point weights
constexpr int limb_bits = 28;  ///< a limb times a sum below 2^30, added over 18 moduli, stays below 2^63

/// The moduli of a product and their weights w_l; passed to the kernels by value.
struct ModulusTable {
  int count = 0;
  double modulus[max_moduli] = {}, reciprocal[max_moduli] = {};
  int weight[max_moduli][limbs] = {};   ///< w_l in limbs of 28 bits, the highest first
  double product = 0, product_low = 0;  ///< P = product + product_low
};

/// Returns the table of the first `count` moduli.
inline ModulusTable modulus_table(int count) {
  ModulusTable result;
  result.count = count;
  result.product = 1;
  for (int l = 0; l < count; ++l) {
    const int p = moduli[l];
    result.modulus[l] = p;
    result.reciprocal[l] = 1.0 / p;
    const double high = result.product * p;
    result.product_low = std::fma(result.product, p, -high) + result.product_low * p;
    result.product = high;
    int cofactor = 1;  // (P / p_l) mod p_l
    for (int i = 0; i < count; ++i) cofactor = i == l ? cofactor : cofactor * moduli[i] % p;
    std::int64_t inverse = 1;  // of `cofactor` modulo p
    while (inverse * cofactor % p != 1) ++inverse;
    std::int64_t remainder = inverse;
    for (int i = 0; i < limbs; ++i) {
      remainder <<= limb_bits;
      result.weight[l][i] = static_cast<int>(remainder / p);
      remainder %= p;
    }
    if (2 * remainder >= p) ++result.weight[l][limbs - 1];
  }
  const double sum = result.product + result.product_low;
  result.product_low += result.product - sum;
  result.product = sum;
  return result;
}

/// Returns the largest sum of the bits of an element of A and of an element of B for which sums of k products
/// stay below P / 2.
inline int joint_bits(int count, std::int64_t k) {
  double bits = -1 - std::log2(static_cast<double>(k)) - 1e-6;
  for (int l = 0; l < count; ++l) bits += std::log2(moduli[l]);
  return static_cast<int>(std::floor(bits));
}

/// Returns the smallest number of moduli with which elements of A and of B keep `bits` bits each, or 0 if
/// this number exceeds max_moduli.
inline int moduli_for(double bits, std::int64_t k) {
  for (int count = 2; count <= max_moduli; ++count) {
    if (joint_bits(count, k) >= 2 * bits) return count;
  }
  return 0;
}

/// Returns `count`, but at most the number of moduli with which elements keep max_bits / 2 bits: more moduli
/// add no bits.
inline int useful_moduli(int count, std::int64_t k) {
  const int sufficient = moduli_for(max_bits / 2, k);
  return count < sufficient ? count : sufficient;
}

/// Returns the bits with which ||C - A B|| <= sqrt(k + 2) 2^-digits ||A|| ||B|| for any operands (Frobenius
/// norms). `digits` is the number of bits of the precision's significand, 24 or 53. Rounding to `bits` bits
/// changes an element by less than 2^-bits times the largest of its row or column. Both operands together add
/// at most 2 sqrt(k) 2^-bits ||A|| ||B||; rounding C adds 2^-digits ||A|| ||B||.
constexpr int bits_for_any(int digits) {
  return digits + 2;
}

/// Returns the bits with which every sum has at most the error that a product with `digits` bits guarantees:
/// (k + 2) 2^-digits |A| |B|. `smallest_sum` is the smallest sum of the look-ahead: sum |a| |b| >=
/// smallest_sum 2^-14 times the scales of the row and the column. Rounding the elements causes an error of
/// k 2^-bits times both scales.
inline double bits_guaranteed(int digits, double smallest_sum) {
  return digits + 2 * magnitude_bits - std::log2(smallest_sum);
}

/// Returns the bits with which the judge's ratio (judges::product) is at most 1. That ratio is the smaller of
/// two. The normwise one is at most 1 with bits_for_any. The componentwise one is 3, gemm's tolerance, times
/// the largest error over the guaranteed error of its element. With the rounding of C, it is at most 1 if k
/// 2^-bits times the scales is at most (k - 1) / 3 2^-digits |A| |B|.
inline double bits_verified(int digits, std::int64_t k, double smallest_sum) {
  const auto terms = static_cast<double>(k);
  const double more_bits = std::log2(3 * terms / (terms - 1));  // infinite for k = 1
  return std::fmin(bits_for_any(digits), bits_guaranteed(digits, smallest_sum) + more_bits);
}

/// Returns the number of bits that elements must keep if the method chooses the number of moduli.
///
/// Three conditions hold: the guaranteed error, the judge's ratio, and a statistical one. The errors have
/// random signs, and their sum must not exceed that of rounding the partial sums. For uniform elements in
/// [-1, 1] this requires digits + 0.7 - log2(k) / 2 bits, and more if most elements are smaller than the
/// largest.
/// @param sampled number of terms per sum of the look-ahead
inline double bits_needed(int digits, std::int64_t k, std::int64_t sampled, int smallest_sum) {
  const double uniform = static_cast<double>(sampled) * 0x1p12;  // expected sum: each term is 2^14 / 4
  const double statistical = digits + 0.7 - std::log2(static_cast<double>(k)) / 2 +
                             std::log2(std::fmax(uniform / smallest_sum, 1.0)) / 2;
  return std::fmax(std::fmax(bits_guaranteed(digits, smallest_sum), bits_verified(digits, k, smallest_sum)),
                   statistical);
}

/// Returns the bits below which an LU does not use residues, because at order 32768 the error would exceed
/// the tolerance of its ratio (docs/emulated.md).
constexpr int bits_for_lu(int digits) {
  return digits - 6;
}

}  // namespace gaussweep::residues
