#pragma once
/// A method as data: one row of the registry.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/enums.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/registry/parameters.hpp"
#include "kernels/registry/problem.hpp"

namespace gaussweep {

/// Scratch memory of a run, of exactly the size that the row's `workspace_bytes` announced. Taken front to
/// back; taking more than announced throws std::logic_error. Contents are undefined at the start of a run.
class Workspace {
 public:
  Workspace() = default;
  Workspace(void* data, std::size_t bytes) : data_(static_cast<std::byte*>(data)), bytes_(bytes) {}
  /// `count` elements, aligned to 256 bytes.
  template <class U>
  U* take(std::int64_t count) {
    return static_cast<U*>(take_bytes(static_cast<std::size_t>(count) * sizeof(U)));
  }

 private:
  void* take_bytes(std::size_t bytes);
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t used_ = 0;
};

/// Bytes of `count` elements in a workspace, rounded up as Workspace::take does. Sum these up in a row's
/// `workspace_bytes`.
constexpr std::size_t workspace_piece(std::int64_t count, std::size_t element) {
  return (static_cast<std::size_t>(count) * element + 255) / 256 * 256;
}

/// The operands where the method runs, in the row's layout. Inputs are fresh before every run; the method
/// may overwrite them. The answer goes where the row's `answer` says.
template <class T>
struct Operands {
  Shape shape;
  MatrixView<T> a;  ///< `augmented`: n x (n + nrhs), [A | B]; of a batch all A, then all B
  MatrixView<T>
      b;  ///< gesv, posv, trsv: right-hand sides; gemm: B. In `augmented`: the last nrhs columns of `a`
  MatrixView<T> x;        ///< a third matrix for the answer, unset at the start; present where `answer` is x.
                          ///< Column-major, except in `row_major`. gesv, posv, trsv: n x nrhs with ld = n
  int* pivots = nullptr;  ///< getrf: n entries where the method runs, preset to "no exchange" (pivots[i] = i)
  int* info = nullptr;    ///< one int a system where the method runs, 0 at the start: LAPACK's info
  Workspace workspace;
};

template <class T>
using Run = void (*)(Context&, Operands<T>&, const Parameters&);

/// The entry points of a method on one backend; null where it does not run there.
struct Entry {
  Run<float> single = nullptr;
  Run<double> real = nullptr;  // "double" is a keyword
  explicit operator bool() const { return single != nullptr || real != nullptr; }
  template <class T>
  Run<T> get() const {
    if constexpr (sizeof(T) == 4) {
      return single;
    } else {
      return real;
    }
  }
};

enum class AnswerIn { a, b, x };
/// Which factor of getrf has the unit diagonal.
enum class UnitDiagonal { lower, upper };

/// One row of the registry. A method does not time itself, print, or know the driver.
struct Method {
  Problem problem;
  std::string variant;      ///< the stem of the method's file
  std::string summary;      ///< one line for `gaussweep methods`
  std::string source;       ///< the paper or library it comes from
  std::vector<Need> needs;  ///< of the matrix; `row` begins with those of the problem
  int capability = 0;       ///< least compute capability, 35 for 3.5; 0: no GPU needed, or any
  std::vector<Parameter> parameters;
  Layout layout = Layout::column_major;
  AnswerIn answer = AnswerIn::x;
  bool overwrites = true;  ///< false: the inputs survive a run, so that it can be repeated as it is
  bool vendor = false;     ///< the reference that others are compared with, where it runs
  bool mixed_precision =
      false;  ///< part of its operations are in a lower precision, at rates beyond the peak
  std::int64_t max_nrhs = 1 << 30;
  std::int64_t max_batch = 1;  ///< systems of one run; the layout is not row-major where there may be several
  UnitDiagonal unit_diagonal = UnitDiagonal::lower;
  bool (*accepts)(const Shape&, const Parameters&) = nullptr;  ///< null: any shape
  std::size_t (*workspace_bytes)(const Shape&, const Parameters&,
                                 std::size_t element) = nullptr;  ///< null: none
  double (*flops)(const Shape&,
                  const Parameters&) = nullptr;  ///< of one system; null: the problem's usual count
  double (*bytes)(const Shape&, const Parameters&,
                  std::size_t element) = nullptr;  ///< least traffic of one; null: every operand once
  /// Iterative methods: a guess of how many iterations of `flops` each there are. Only what is estimated
  /// before anything was measured hangs on it. Null: one.
  double (*iterations)(const Shape&, const Parameters&) = nullptr;
  std::vector<Backend>
      backends;  ///< where it is meant to run; a build without CUDA lacks the entry for `cuda`
  Entry cuda;
  Entry emulated;
  Entry host;

  std::string id() const { return std::string(to_string(problem)) + "/" + variant; }
  const Entry& entry(Backend backend) const;
  /// Whether this build can run it there.
  bool runs_on(Backend backend) const { return static_cast<bool>(entry(backend)); }
  bool has(Precision precision) const;
};

/// All methods, in the order of the tables. An ordinary value: tests add rows of their own.
class Registry {
 public:
  explicit Registry(std::vector<Method> methods);
  const std::vector<Method>& all() const& { return methods_; }
  const std::vector<Method>& all() const&& = delete;  // rows end with their registry
  /// The row of (problem, variant), or null.
  const Method* find(Problem problem, std::string_view variant) const;
  /// The vendor's method for this problem on this backend (LAPACK or OpenBLAS on `emulated` and `host`), the
  /// first that takes the batch, or null.
  const Method* reference(Problem problem, Backend backend, std::int64_t batch = 1) const;
  void add(Method method);

 private:
  std::vector<Method> methods_;
};

/// Whether a text is of a-z, 0-9 and _, and not empty.
bool is_word(std::string_view text);

/// The registry of this program: the methods of all its problems, kernels/registry.cpp.
Registry builtin_registry();

}  // namespace gaussweep
