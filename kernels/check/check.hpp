#pragma once
/// Right or wrong, in one place: the judged ratio of each problem and what is recorded beside it.
///
/// The arithmetic is the judge's own (residual.hpp), without BLAS. It has the same bits on every CPU and with
/// any number of threads. It holds over the whole range of exponents: norms, products and quotients neither
/// overflow nor vanish. `u` is the unit roundoff of T (2^-24 or 2^-53), `v` its smallest normal number.

#include <string>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep {

template <class T>
class Reductions;

/// Up to this many tolerances a ratio is `suspect`, beyond it `failed`.
inline constexpr double suspect_factor = 10;

/// A ratio of I - A X up to this is that of a geinv: I - X A is not computed. It stands for a backward error
/// of 32 u (n u for n < 32), which ordinary matrices do not reach.
inline double second_look(std::int64_t n) {
  return n <= 32 ? 1 : 32 / static_cast<double>(n);
}

/// What verification finds. NaN where it does not apply or is unknown.
struct Findings {
  double ratio;              ///< judged against the tolerance: see `check`
  double ratio_bound;        ///< how far `ratio` may be off, at most: the check's own error
  double backward_error;     ///< the same quotient without n u (gemm: sqrt(k + 2) u), of norms alone
  double forward_error;      ///< max |x - x_true| / max |x_true|
  double pivot_growth;       ///< getrf: max |U| / max |A| (with Crout max |L|); potrf: max |F|^2 / max |A|
  double first_row_percent;  ///< gesv: 100 |b_0 - sum a_0j x_j| / |b_0|, Fuhrmann's check meant as a relative
                             ///< deviation
  double componentwise_error;  ///< see `componentwise_error`; `check` leaves it unknown
  std::string flaw;            ///< why there is nothing to judge, in words; else empty
};

/// Judges an answer. The ratio, at most the tolerance where it is right:
/// - gesv, posv, trsv: max |b - A x| / (n u (||A||_inf (max |x| + v) + max |b|)), the largest of all
/// right-hand sides;
/// - getrf: ||P A - L U||_1 / (n u (||A||_1 + v (||L||_1 + ||U||_1)));
/// - potrf: ||A - L L^T||_1 / (n u ||A||_1); every diagonal element of L must be positive;
/// - trtri, poinv: ||I - A X||_1 / (n u ||A||_1 (||X||_1 + v)), as in LAPACK's tests;
/// - geinv: the same. If that is above `second_look(n)`, the ratio is the smaller of it and of the quotient
///   with I - X A, which LAPACK's tests measure. An inverse of an ill-conditioned matrix is rarely right from
///   both sides (Higham, "Accuracy and Stability of Numerical Algorithms", 14.3);
/// - gemm: ||C - A B||_F / (sqrt(k + 2) u ||A||_F ||B||_F), which expects rounding errors of either sign.
///   Where that is above 1, any order of summation must pass, though all errors have one sign or products
///   vanish. The ratio is then the smaller of it and of three times the largest
///   |C - A B|_ij / (g |A||B|_ij + (k + 2) s). Here g = (k + 2) u / (1 - (k + 2) u), and s is the smallest
///   number above 0.
///
/// The terms with v allow for the rounding of answers near the smallest normal number; elsewhere they do not
/// show. Only NaN or Inf in the answer or an operand gives ratio = infinity. A quotient beyond the range of
/// double is its largest number, and one that is not 0 never becomes 0. `ratio_bound` is at most a thousandth
/// of max(1, ratio). It may be more in large problems (n above some 100) whose factors have grown by more
/// than 1e3. Even then it leaves no doubt of the verdict by this tolerance.
/// @pre shapes of inputs and answer agree with the problem (else std::invalid_argument)
template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, double tolerance);
/// The same, all passes over matrices by `reductions`: on the device where the matrices lie, the same bits.
template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, double tolerance,
               Reductions<T>& reductions);
/// By the default tolerance.
template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer);

/// The componentwise backward error of Oettli and Prager (Numer. Math. 6, 1964), which sees errors in small
/// rows and small components:
/// - of systems the largest |b - A x|_i / (|A| |x| + |b| + (n + 2) s / u)_i;
/// - of products the largest |C - A B|_ij / (|A| |B| + |C| + (k + 2) s / u)_ij,
/// s the smallest number above 0. It is right to u / 4. NaN if the problem has none, if a product has more
/// than 2^27 multiplications, or if more than 2^22 multiplications would have to be added up exactly.
/// Infinite if the answer or an operand holds NaN or Inf. No verdict depends on it.
template <class T>
double componentwise_error(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                           Reductions<T>& reductions);
/// The same, on the CPU.
template <class T>
double componentwise_error(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer);

/// Findings of the given systems of a batch, or of every one, in their order, on several threads. @pre the
/// answer has infos
template <class T>
std::vector<Findings> check_systems(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                                    double tolerance, const std::vector<std::int64_t>& systems);
template <class T>
std::vector<Findings> check_systems(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                                    double tolerance);

/// The largest forward error of a batch's systems, of those whose answer is finite; NaN where x_true is not
/// known or no answer is. @pre the answer is as large as x_true
template <class T>
double largest_forward_error(const Inputs<T>& inputs, const Answer<T>& answer);

/// How far one answer is from another, over the elements that count (potrf, trtri: one triangle).
struct Difference {
  double largest;  ///< max |x - reference| / max |reference|
  double
      largest_relative;  ///< the largest |x - reference| / |reference|, of elements whose reference is not 0
  double mean_relative;  ///< the mean of those
  double mean_absolute;  ///< the mean of |x - reference|
};

/// Whether the answers are triangles side by side: those are compared on the host.
inline bool has_triangles_of_batch(Problem problem, const Shape& shape) {
  return shape.batch > 1 && problem->counts_of_x != Counts::all;
}

/// The largest element of an answer, of those that count; NaN where there is one.
template <class T>
double norm_of_answer(Problem problem, const Shape& shape, const Answer<T>& answer);
/// The same, by `reductions`.
template <class T>
double norm_of_answer(Problem problem, const Shape& shape, const Answer<T>& answer,
                      Reductions<T>& reductions);

/// All are NaN where the reference is not finite, and for getrf where the two exchanged rows
/// differently; infinite where the answer is not finite. `reference_norm`: the reference's norm_of_answer,
/// for whom it serves many times. An answer that is its own reference costs nothing then.
/// @pre both are of one shape (else std::invalid_argument)
template <class T>
Difference difference(Problem problem, const Shape& shape, const Answer<T>& answer,
                      const Answer<T>& reference, double reference_norm);
/// The same, all passes over matrices by `reductions`: on the device where both lie, the same bits. Those of
/// which it knows copies need no elements on the host.
template <class T>
Difference difference(Problem problem, const Shape& shape, const Answer<T>& answer,
                      const Answer<T>& reference, double reference_norm, Reductions<T>& reductions);
template <class T>
Difference difference(Problem problem, const Shape& shape, const Answer<T>& answer,
                      const Answer<T>& reference) {
  return difference(problem, shape, answer, reference, norm_of_answer(problem, shape, reference));
}

/// Default tolerance of a problem's ratio.
double default_tolerance(Problem problem);

}  // namespace gaussweep
