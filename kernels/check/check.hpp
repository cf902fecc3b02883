#pragma once
/// Declares the verification of a method's answer. It computes the answer's ratio (a residual divided by its
/// error bound) and other measures of accuracy. The ratio decides the status of the trial (one method on
/// one input): `pass`, `suspect` or `failed`.
///
/// The functions of residual.hpp compute residuals without BLAS, so that the results have the same bits on
/// every CPU and with any number of threads. Norms, products and quotients neither overflow nor underflow.
/// Below, `u` is the unit roundoff of T (2^-24 or 2^-53), and `v` is the smallest normal number of T.

#include <string>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep {

template <class T>
class Reductions;

/// A ratio above the tolerance is `suspect`; a ratio above this multiple of the tolerance is `failed`.
inline constexpr double suspect_factor = 10;

/// Returns a threshold for geinv, the inverse of a general matrix. If the ratio of I - A X exceeds it, I - X
/// A is computed too. Inverses of well-conditioned matrices do not exceed the threshold, which is a backward
/// error of 32 u (n u if n <= 32).
inline double other_side_threshold(std::int64_t n) {
  return n <= 32 ? 1 : 32 / static_cast<double>(n);
}

/// The results of verification. A number is NaN if it is unknown, or not defined for the problem.
struct Findings {
  double ratio;  ///< the quotient that the comment of `check` defines; it is compared with the tolerance
  double ratio_bound;     ///< an upper bound of the error of the computed `ratio`
  double backward_error;  ///< the quotient at `check` (gemm: q) without the factor n u or sqrt(k + 2) u, and
                          ///< with v = 0
  double forward_error;   ///< max |x - x_true| / max |x_true|
  double pivot_growth;    ///< getrf: max |U| / max |A| (Crout: max |L|); potrf: (max |L|)^2 / max |A|
  double first_row_percent;    ///< gesv: 100 |b_0 - sum a_0j x_j| / |b_0|, after Fuhrmann (docs/papers.md)
  double componentwise_error;  ///< the result of the function `componentwise_error`; `check` leaves it NaN
  std::string flaw;            ///< the reason why no ratio could be computed; empty if there is a ratio
};

/// Verifies an answer. A right answer has a ratio of at most the tolerance. The ratio of each problem is:
/// - gesv, posv, trsv: max |b - A x| / (n u (||A||_inf (max |x| + v) + max |b|)), the largest over all
///   right-hand sides;
/// - getrf: ||P A - L U||_1 / (n u (||A||_1 + v (||L||_1 + ||U||_1)));
/// - potrf: ||A - L L^T||_1 / (n u ||A||_1); every diagonal element of L must be positive;
/// - trtri, poinv: ||I - A X||_1 / (n u ||A||_1 (||X||_1 + v)), as in LAPACK's tests;
/// - geinv: the quotient of trtri. If it is above `other_side_threshold(n)`, `check` also computes
///   the quotient with I - X A, which LAPACK's tests measure. The ratio is the smaller quotient. An inverse
///   of an ill-conditioned matrix rarely has both residuals small (Higham, "Accuracy and Stability of
///   Numerical Algorithms", 14.3);
/// - gemm: q = ||C - A B||_F / (sqrt(k + 2) u ||A||_F ||B||_F). The factor sqrt(k + 2) assumes that rounding
///   errors have both signs. If q is above 1, all errors may have one sign, or products may underflow. A
///   right answer must pass nevertheless. The ratio is then min(q, e), where e is the largest 3 |C - A B|_ij
///   / (g |A||B|_ij + (k + 2) s). Here g = (k + 2) u / (1 - (k + 2) u), and s is the smallest number above 0.
///   The factor 3 is the default tolerance: an error that equals the worst-case bound has e = 3.
///
/// The terms with v allow for rounding errors in answers near the smallest normal number. Otherwise they are
/// negligible. The ratio is infinite only if the answer or an operand holds NaN or Inf. A finite quotient
/// beyond the range of double becomes the largest double, and a positive quotient stays positive.
/// `ratio_bound` is at most max(1, ratio) / 1000. It may be larger if n is above about 100 and elements of L
/// or U are more than 1e3 times as large as those of A. Even then the interval ratio ± ratio_bound contains
/// neither the tolerance nor ten times the tolerance, so that the status is certain.
/// @pre the shapes of inputs and answer agree with the problem (else std::invalid_argument)
template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, double tolerance);
/// Does the same, but `reductions` computes all norms and residuals, e.g. on the device that holds the
/// matrices. The results have the same bits.
template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, double tolerance,
               Reductions<T>& reductions);
/// Does the same with the problem's default tolerance.
template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer);

/// Returns the componentwise backward error of Oettli and Prager (Numer. Math. 6, 1964), which detects errors
/// in rows and components that are small compared with the norms:
/// - linear systems: the largest |b - A x|_i / (|A| |x| + |b| + (n + 2) s / u)_i;
/// - products: the largest |C - A B|_ij / (|A| |B| + |C| + (k + 2) s / u)_ij,
/// where s is the smallest number above 0. The error of the result is at most u / 4. Returns NaN for other
/// problems and for a product of more than 2^27 multiplications. Elements whose terms cancel are summed
/// exactly. If these exact sums have more than 2^22 terms together, the result is NaN. Returns infinity if
/// the answer or an operand holds NaN or Inf. The status of a trial does not depend on this error.
template <class T>
double componentwise_error(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                           Reductions<T>& reductions);
/// Does the same on the CPU.
template <class T>
double componentwise_error(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer);

/// Verify the systems of a batch whose indices are in `systems`, or all systems, on several threads. Return
/// their findings in the same order. @pre answer.infos is not empty
template <class T>
std::vector<Findings> check_systems(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                                    double tolerance, const std::vector<std::int64_t>& systems);
template <class T>
std::vector<Findings> check_systems(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                                    double tolerance);

/// Returns the largest forward error of the systems whose answer is finite; NaN if x_true is unknown or no
/// answer is finite. @pre the answer has the size of x_true
template <class T>
double largest_forward_error(const Inputs<T>& inputs, const Answer<T>& answer);

/// The difference between two answers over the elements that the problem uses (potrf, trtri: one triangle).
struct Difference {
  double largest;           ///< max |x - reference| / max |reference|
  double largest_relative;  ///< max |x - reference| / |reference| over elements with a nonzero reference
  double mean_relative;     ///< the mean over the same elements
  double mean_absolute;     ///< the mean of |x - reference|
};

/// Returns true if an answer consists of the triangles of a batch, side by side. Such answers are compared on
/// the host, because a device reduction can select only one triangle of a whole matrix.
inline bool has_triangles_of_batch(Problem problem, const Shape& shape) {
  return shape.batch > 1 && problem->used_of_x != UsedElements::all;
}

/// Returns the largest |element| of an answer over the elements that the problem uses; NaN if one is NaN.
template <class T>
double norm_of_answer(Problem problem, const Shape& shape, const Answer<T>& answer);
/// Does the same; `reductions` computes the norm.
template <class T>
double norm_of_answer(Problem problem, const Shape& shape, const Answer<T>& answer,
                      Reductions<T>& reductions);

/// Compares two answers. All results are NaN if the reference is not finite, or for getrf if the row
/// exchanges differ. They are infinite if the answer is not finite. `reference_norm` is norm_of_answer of the
/// reference, so that a caller computes it once for many answers. The reference compared with itself gives 0
/// without computation.
/// @pre both have the same shape (else std::invalid_argument)
template <class T>
Difference difference(Problem problem, const Shape& shape, const Answer<T>& answer,
                      const Answer<T>& reference, double reference_norm);
/// Does the same with `reductions`, which computes the differences on the device that holds the matrices,
/// with the same bits. Matrices with a device copy in `reductions` need no elements on the host.
template <class T>
Difference difference(Problem problem, const Shape& shape, const Answer<T>& answer,
                      const Answer<T>& reference, double reference_norm, Reductions<T>& reductions);
template <class T>
Difference difference(Problem problem, const Shape& shape, const Answer<T>& answer,
                      const Answer<T>& reference) {
  return difference(problem, shape, answer, reference, norm_of_answer(problem, shape, reference));
}

double default_tolerance(Problem problem);

}  // namespace gaussweep
