#pragma once
/// Constants and bounds for products C = A B in a residue number system (residue_products.cuh). They are the
/// moduli, the number of moduli that a product needs, and the weights with which the Chinese remainder
/// theorem reconstructs C.
///
/// P is the product of the coprime moduli p_l, and k is the number of terms per element of C. The residues
/// c_l = x mod p_l determine an integer x with |x| < P / 2, because x / P = sum over l of c_l w_l modulo 1.
/// The weights are w_l = ((P / p_l)^-1 mod p_l) / p_l.
///
/// An element is rounded to a fixed-point number of `bits` bits, relative to the scale of its row of A or
/// column of B. The scale is the smallest power of two that is not below any |element| of the row or column.
/// An element of A and an element of B together have at most max_bits bits.
///
/// The weights are rounded, which changes x by up to 2^-100 P. Smaller |x| are indistinguishable from 0. The
/// function useful_moduli omits moduli that are not needed for max_bits bits. Therefore P < 2^(max_bits + 9)
/// k, where the 9 bits are one for the sign and 8 for the last modulus. The error of x is then below 2^-91 k
/// 2^max_bits, where 2^max_bits is the largest product of two elements.

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gaussweep::residues {

constexpr int max_moduli = 18;  ///< enough for max_bits bits at k = max_inner_size
constexpr int moduli[max_moduli] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                    227, 223, 217, 211, 199, 197, 193, 191, 181};
/// Returns the number of moduli that products of large matrices with uniformly distributed elements take.
/// `element` is the size of an element in bytes.
constexpr int usual_moduli(std::size_t element) {
  return element == sizeof(float) ? 7 : 14;
}
constexpr int min_moduli = 5;                   ///< fewer are never accurate enough, even in float
constexpr std::int64_t max_inner_size = 65536;  ///< largest k: sums of k products of bytes are at most 2^30
/// Largest |exponent| of the scale of a row or column. With it, no step overflows or underflows.
constexpr int max_operand_exponent = 400;
/// Bits per |element| in the pre-pass, a cheap product that estimates the elements of |A| |B| before the
/// number of moduli is chosen. (Its stage is `look_ahead`.)
constexpr int magnitude_bits = 7;
constexpr int max_bits = 116;  ///< bits of a product of two elements: an element has at most 58 bits

constexpr int limbs = 4;       ///< limbs of a fixed-point weight
constexpr int limb_bits = 28;  ///< the sum of (limb x residue < 2^8) over 18 moduli stays below 2^63

/// Constants with which residue_of (residue_steps.cuh) reduces a sum modulo p without a division.
struct Reduction {
  unsigned modulus = 0, factor = 0;  ///< p, and 2^39 / p rounded up
  unsigned offset = 0;               ///< a multiple of p, at least 2^30
};

/// The moduli of a product and their weights w_l; passed to the kernels by value.
struct ModulusTable {
  int count = 0;
  Reduction reduction[max_moduli] = {};
  double modulus[max_moduli] = {}, reciprocal[max_moduli] = {};
  int weight[max_moduli][limbs] = {};   ///< w_l in limbs of 28 bits, the highest first
  double product = 0, product_low = 0;  ///< P = product + product_low, rounded to this sum of two doubles
};

/// Returns the table for the first `count` moduli.
inline ModulusTable modulus_table(int count) {
  ModulusTable result;
  result.count = count;
  result.product = 1;
  for (int l = 0; l < count; ++l) {
    const int p = moduli[l];
    result.modulus[l] = p;
    result.reciprocal[l] = 1.0 / p;
    const auto divisor = static_cast<unsigned>(p);
    result.reduction[l] = {divisor, static_cast<unsigned>(((1ULL << 39) + divisor - 1) / divisor),
                           ((1u << 30) + divisor - 1) / divisor * divisor};
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

/// Returns the largest number of bits that an element of A and an element of B may have together. With it,
/// sums of k products stay below P / 2 for the first `count` moduli.
inline int max_joint_bits(int count, std::int64_t k) {
  double bits = -1 - std::log2(static_cast<double>(k)) - 1e-6;
  for (int l = 0; l < count; ++l) bits += std::log2(moduli[l]);
  return static_cast<int>(std::floor(bits));
}

/// Returns the smallest number of moduli with which elements of A and of B keep `bits` bits each, or 0 if
/// this number exceeds max_moduli.
inline int moduli_for(double bits, std::int64_t k) {
  for (int count = 2; count <= max_moduli; ++count) {
    if (max_joint_bits(count, k) >= 2 * bits) return count;
  }
  return 0;
}

/// Returns `count`, but at most the number of moduli with which elements keep max_bits / 2 bits, because more
/// moduli add no bits.
inline int useful_moduli(int count, std::int64_t k) {
  const int sufficient = moduli_for(max_bits / 2, k);
  return count < sufficient ? count : sufficient;
}

/// Returns the number of bits that elements must keep so that ||C - A B|| <= sqrt(k + 2) 2^-digits ||A||
/// ||B|| for any operands, in Frobenius norms. `digits` is the number of bits of the significand: 24 for
/// float, 53 for double.
///
/// Rounding to `bits` bits changes an element by less than 2^-bits times the largest element of its row or
/// column. The roundings of both operands together change C by at most 2 sqrt(k) 2^-bits ||A|| ||B||;
/// rounding C adds 2^-digits ||A|| ||B||.
constexpr int bits_for_any(int digits) {
  return digits + 2;
}

/// Returns the number of bits that elements must keep for the componentwise error bound of a product in full
/// precision: |C - A B| <= (k + 2) 2^-digits |A| |B|. `smallest_sum` is the smallest element of |A| |B| in
/// the pre-pass, in integers of 7 bits per factor. Every element of |A| |B| is at least smallest_sum 2^-14
/// times the scales of its row and column. Rounding the elements of A and B causes an error of k 2^-bits
/// times both scales.
inline double bits_guaranteed(int digits, double smallest_sum) {
  return digits + 2 * magnitude_bits - std::log2(smallest_sum);
}

/// Returns the number of bits that elements must keep so that the ratio with which a product is verified
/// (verifiers::product) is at most 1. This ratio is the smaller one of a normwise and a componentwise ratio.
/// The normwise ratio is at most 1 with bits_for_any. The componentwise ratio is 3 (gemm's tolerance) times
/// the largest quotient of an element's error and its bound in bits_guaranteed. Including the rounding of C,
/// it is at most 1 if k 2^-bits times both scales is at most ((k - 1) / 3) 2^-digits |A| |B|.
inline double bits_verified(int digits, std::int64_t k, double smallest_sum) {
  const auto terms = static_cast<double>(k);
  const double more_bits = std::log2(3 * terms / (terms - 1));  // infinite for k = 1
  return std::fmin(bits_for_any(digits), bits_guaranteed(digits, smallest_sum) + more_bits);
}

/// Returns the number of bits that elements must keep if the method chooses the number of moduli.
///
/// Three conditions must hold: those of bits_guaranteed and bits_verified, and a statistical condition. The
/// roundings of elements have random signs, and their sum must not exceed the typical error of a product in
/// full precision, which rounds its partial sums. For uniform elements in [-1, 1], digits + 0.7 - log2(k) / 2
/// bits suffice. More bits are needed if most elements are much smaller than the largest one.
/// @param sampled number of terms per sum of the pre-pass
/// @param smallest_sum the smallest sum of the pre-pass
inline double bits_needed(int digits, std::int64_t k, std::int64_t sampled, int smallest_sum) {
  // The expected sum for uniform elements: with magnitudes below 2^7, a term is (2^7 / 2)^2 on average.
  const double uniform = static_cast<double>(sampled) * 0x1p12;
  const double statistical = digits + 0.7 - std::log2(static_cast<double>(k)) / 2 +
                             std::log2(std::fmax(uniform / smallest_sum, 1.0)) / 2;
  return std::fmax(std::fmax(bits_guaranteed(digits, smallest_sum), bits_verified(digits, k, smallest_sum)),
                   statistical);
}

/// Returns the number of bits that elements must keep so that an LU factorisation may use residues. With
/// fewer bits, the factors' error at order 32768 would exceed the tolerance of the verification
/// (docs/emulated.md).
constexpr int bits_for_lu(int digits) {
  return digits - 6;
}

}  // namespace gaussweep::residues
