#pragma once
/// Twins of the row-cyclic Gauss methods: plain loops with the same operations in the same order, without
/// threads and blocks. Some of these methods are unstable, so that only equal bits can be tested, not
/// accuracy.

#include "kernels/core/matrix.hpp"
#include "tests/testing.hpp"

namespace gaussweep::twins {

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// The augmented matrix [A | B], row-major.
template <class T>
struct Augmented {
  explicit Augmented(const Inputs<T>& inputs)
      : n(inputs.shape.n), columns(n + inputs.shape.nrhs), data(static_cast<std::size_t>(n * columns)) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) (*this)(i, j) = inputs.a(i, j);
      for (std::int64_t r = n; r < columns; ++r) (*this)(i, r) = inputs.b(i, r - n);
    }
  }
  T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i * columns + j)]; }

  std::int64_t n;
  std::int64_t columns;
  std::vector<T> data;
  int info = 0;
};

/// Performs one stage of elimination with scaled pivot rows. Stripe p has the rows p, p + stripes,
/// p + 2 stripes, …; its rows are combined only with each other. Its first row eliminates column 0, the next
/// row column 1, and so on. A zero divisor ends the stripe, and `info` is its row (from 1).
/// @param zero_ends_column the effect of a row with a zero factor. True: it ends the elimination of this
/// column, as in the cyclic methods. False: only this row is skipped.
template <class T>
void eliminate(Augmented<T>& m, std::int64_t stripes, bool zero_ends_column) {
  if (m.info != 0) return;
  int first_zero_row = 0;
  for (std::int64_t p = 0; p < stripes; ++p) {
    std::int64_t column = 0;
    for (std::int64_t i = p; i < m.n; i += stripes, ++column) {
      const T divisor = m(i, column);
      if (divisor == T(0)) {
        if (first_zero_row == 0) first_zero_row = static_cast<int>(i + 1);
        break;
      }
      for (std::int64_t j = column; j < m.columns; ++j) m(i, j) /= divisor;
      for (std::int64_t y = i + stripes; y < m.n; y += stripes) {
        const T factor = m(y, column);
        if (factor == T(0)) {
          if (zero_ends_column) break;
          continue;
        }
        for (std::int64_t j = 0; j < m.columns; ++j) m(y, j) = std::fma(-factor, m(i, j), m(y, j));
      }
    }
  }
  m.info = first_zero_row;
}

/// Computes the answer by back substitution. Each of `threads` threads sums every `threads`-th column; the
/// partial sums are then added pairwise, which halves their number in each step.
template <class T>
Answer<T> substitute(Augmented<T>& m, std::int64_t threads) {
  Answer<T> answer = answer_of<T>(HostMatrix<T>(m.n, m.columns - m.n));
  answer.info = m.info;
  if (m.info != 0) {  // unwritten answers stay NaN
    std::memset(answer.x.data.data(), 0xFF, answer.x.data.size() * sizeof(T));
    return answer;
  }
  std::vector<T> sums(static_cast<std::size_t>(threads));
  for (std::int64_t y = m.n - 1; y >= 0; --y) {
    for (std::int64_t r = 0; r < answer.x.cols; ++r) {
      for (std::int64_t t = 0; t < threads; ++t) {
        T sum = 0;
        for (std::int64_t j = m.n - threads + t; j > y; j -= threads)
          sum = std::fma(m(y, j), answer.x(j, r), sum);
        sums[static_cast<std::size_t>(t)] = sum;
      }
      std::vector<T> partial_sums = sums;
      while (partial_sums.size() > 1) {
        const std::size_t half = (partial_sums.size() + 1) / 2;
        for (std::size_t t = 0; t + half < partial_sums.size(); ++t)
          partial_sums[t] += partial_sums[t + half];
        partial_sums.resize(half);
      }
      answer.x(y, r) = m(y, m.n + r) - partial_sums.front();
    }
  }
  return answer;
}

/// Returns the thread count as the methods define it: 0 is one thread per row, at most 1024.
inline std::int64_t thread_count(std::int64_t threads, std::int64_t n) {
  if (threads > 0) return threads;
  return n < 1024 ? n : 1024;
}

template <class T>
Answer<T> gauss_block(const Inputs<T>& inputs, std::int64_t threads) {
  Augmented<T> m(inputs);
  eliminate(m, 1, false);
  return substitute(m, thread_count(threads, m.n));
}

template <class T>
Answer<T> gauss_cyclic_halving(const Inputs<T>& inputs, std::int64_t blocks, std::int64_t threads) {
  Augmented<T> m(inputs);
  std::vector<std::int64_t> stages{blocks};
  while (stages.back() > 1) stages.push_back((stages.back() + 1) / 2);
  for (const std::int64_t stripes : stages) eliminate(m, stripes, true);
  return substitute(m, thread_count(threads, m.n));
}

template <class T>
Answer<T> gauss_cyclic_decrement(const Inputs<T>& inputs, std::int64_t blocks, std::int64_t threads) {
  Augmented<T> m(inputs);
  for (std::int64_t stripes = blocks; stripes > 0; --stripes) eliminate(m, stripes, true);
  return substitute(m, thread_count(threads, m.n));
}

/// Compares bit by bit, so that NaNs with the same bits are equal.
template <class T>
bool same_bits(const Answer<T>& one, const Answer<T>& other) {
  return one.info == other.info && one.x.rows == other.x.rows && one.x.cols == other.x.cols &&
         std::memcmp(one.x.data.data(), other.x.data.data(), one.x.data.size() * sizeof(T)) == 0;
}

}  // namespace gaussweep::twins
