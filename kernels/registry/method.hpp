#pragma once
/// The registry: a table with one row (`Method`) per method. A method solves one problem, e.g. gesv. A *run*
/// calls a method once; a *trial* runs one method on one input.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/enums.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/registry/parameters.hpp"
#include "kernels/registry/problem.hpp"

namespace gaussweep {

/// Scratch memory of a run, of Method::workspace_bytes bytes. `take` allocates parts from front to back and
/// throws std::logic_error if too little is left. The contents are undefined at the start of a run.
class Workspace {
 public:
  Workspace() = default;
  Workspace(void* data, std::size_t bytes) : data_(static_cast<std::byte*>(data)), bytes_(bytes) {}
  /// Returns memory for `count` elements, aligned to 256 bytes.
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

/// Returns the bytes that Workspace::take allocates for `count` elements of `element_bytes` bytes.
/// Method::workspace_bytes is a sum of these sizes.
constexpr std::size_t aligned_workspace_bytes(std::int64_t count, std::size_t element_bytes) {
  return (static_cast<std::size_t>(count) * element_bytes + 255) / 256 * 256;
}

/// The block columns of A on one of several GPUs, and scratch memory on that GPU.
template <class T>
struct OperandPart {
  MatrixView<T> a;
  Workspace workspace;
};

/// The operands of a run in the memory of the method's backend (GPU, emulated GPU or CPU), in the layout
/// Method::layout. Inputs are restored before every run, and the method may overwrite them. Method::answer
/// selects the operand for the answer.
template <class T>
struct Operands {
  Shape shape;
  MatrixView<T> a;  ///< layout `augmented`: [A | B], n x (n + nrhs); in a batch, all A, then all B
  /// gesv, posv, trsv: right-hand sides; gemm: B. In the layout `augmented`: the last nrhs columns of `a`.
  MatrixView<T> b;
  /// A third matrix for the answer, uninitialized; present if Method::answer is x. Column-major, except in
  /// the layout `row_major`. gesv, posv, trsv: n x nrhs with ld = n.
  MatrixView<T> x;
  int* pivots = nullptr;  ///< getrf: n entries per system, preset to "no exchange" (pivots[i] = i)
  int* info = nullptr;    ///< LAPACK's info, one int per system, 0 at the start
  Workspace workspace;
  /// With several GPUs: the part of A on each GPU (ColumnBlocks of Method::column_block columns). `a` then
  /// has no data, and all other operands are on the first GPU.
  std::vector<OperandPart<T>> parts;
};

/// A function that runs a method once, perhaps by calling a function of a shared library.
template <class T>
using Run = std::function<void(Context&, Operands<T>&, const Parameters&)>;

/// The entry points (functions) of a method on one backend, per precision; null if the method lacks this
/// precision.
struct EntryPoints {
  Run<float> float32 = nullptr;
  Run<double> float64 = nullptr;
  explicit operator bool() const { return float32 != nullptr || float64 != nullptr; }
  template <class T>
  Run<T> get() const {
    if constexpr (sizeof(T) == 4) {
      return float32;
    } else {
      return float64;
    }
  }
};

/// The operand that receives the answer.
enum class AnswerIn { a, b, x };
/// The factor of getrf that has the unit diagonal.
enum class UnitDiagonal { lower, upper };

/// One row of the registry. A method does not measure its time, does not print, and does not depend on the
/// code that runs trials.
struct Method {
  Problem problem;
  std::string variant;      ///< the method's name within its problem, e.g. "recursive"
  std::string summary;      ///< one line for `gaussweep methods`
  std::string source;       ///< the paper or library that describes or contains the method
  std::vector<Need> needs;  ///< properties of A that the method relies on, the problem's needs first
  int capability = 0;       ///< minimum compute capability, 35 for 3.5; 0: any GPU, or a CPU
  std::vector<Parameter> parameters;
  Layout layout = Layout::column_major;
  AnswerIn answer = AnswerIn::x;
  bool overwrites = true;  ///< false: the inputs survive a run, so a run can be repeated without a restore
  bool vendor = false;     ///< a vendor library, with which other methods are compared (Registry::reference)
  /// Some operations run in a lower precision, so that the rate may exceed the peak.
  bool mixed_precision = false;
  std::int64_t max_nrhs = 1 << 30;
  std::int64_t max_batch = 1;  ///< the maximum number of systems per run; 1 if the layout is row-major
  UnitDiagonal unit_diagonal = UnitDiagonal::lower;
  /// Returns the columns per block of an A that is distributed over several GPUs. Null: the method has no
  /// parameter `gpus` and runs on one GPU.
  std::int64_t (*column_block)(const Shape&, const Parameters&) = nullptr;
  /// Returns true if the method uses one GPU for any value of `gpus`, because several GPUs would be
  /// slower. Null: it never does.
  bool (*uses_one_gpu)(const Shape&, const Parameters&) = nullptr;
  bool (*accepts)(const Shape&, const Parameters&) = nullptr;  ///< null: any shape
  /// Returns the bytes of Operands::workspace per GPU, for elements of `element_bytes` bytes. Null: no
  /// workspace.
  std::function<std::size_t(const Shape&, const Parameters&, std::size_t element_bytes)> workspace_bytes;
  /// Returns the operation count per system. Null: ProblemRow::flops.
  double (*flops)(const Shape&, const Parameters&) = nullptr;
  /// Returns the bytes of the minimum memory traffic per system. Null: ProblemRow::elements.
  double (*bytes)(const Shape&, const Parameters&, std::size_t element_bytes) = nullptr;
  /// An estimate of the number of iterations, each of `flops` operations; null: one. It is only used to
  /// predict the time of a trial before the first measurement.
  double (*iterations)(const Shape&, const Parameters&) = nullptr;
  /// The backends that the method supports; a build without CUDA has no entry for `cuda`.
  std::vector<Backend> backends;
  EntryPoints cuda;
  EntryPoints emulated;
  EntryPoints host;
  std::string library;         ///< path of the shared library that contains the method; empty: this program
  std::string library_digest;  ///< SHA-256 of that file, in hex

  std::string id() const { return std::string(to_string(problem)) + "/" + variant; }
  const EntryPoints& entry(Backend backend) const;
  EntryPoints& entry(Backend backend);
  /// Returns true if this build can run the method on the backend.
  bool runs_on(Backend backend) const { return static_cast<bool>(entry(backend)); }
  /// Returns true if the method has entry points for the precision.
  bool has(Precision precision) const;
};

/// Returns "needs compute capability …, the GPU has …", or an empty text if the capability suffices.
std::string capability_fault(const Method& method, int capability);

/// Returns the backend on which a method runs: `wanted`, or without it the first one of `cuda`, `emulated`
/// and `host` that is possible.
/// @param capability the GPU's; 0 if there is no GPU
/// @throws std::invalid_argument with the reason why the method cannot run
Backend usable_backend(const Method& method, std::optional<Backend> wanted, int capability);

/// The largest number of GPUs for one matrix.
constexpr std::int64_t max_gpus = 16;

/// Returns the parameter `gpus` of methods that distribute a matrix over several GPUs.
Parameter gpus_parameter();

/// Returns the number of GPUs that work in a trial: the parameter `gpus`. Returns 1 if the method has no such
/// parameter, or if it uses one GPU for this shape.
int gpus_of(const Method& method, const Shape& shape, const Parameters& parameters);
/// Returns the reason why a method does not take this shape, such as "gesv/recursive takes no batches"; empty
/// if it takes the shape.
std::string shape_fault(const Method& method, const Shape& shape, const Parameters& parameters);
/// Returns the operand that receives the answer: A instead of X if A is distributed over several GPUs.
AnswerIn answer_in(const Method& method, const Shape& shape, const Parameters& parameters);

/// Methods in the order of their tables. A registry has no global state, so that tests can build their own.
class Registry {
 public:
  explicit Registry(std::vector<Method> methods);
  const std::vector<Method>& all() const& { return methods_; }
  const std::vector<Method>& all() const&& = delete;  // the rows would die with a temporary registry
  /// Returns the row of (problem, variant), or null.
  const Method* find(Problem problem, std::string_view variant) const;
  /// Returns the first vendor method of the problem that accepts the batch size, or null. It is a method of
  /// LAPACK or OpenBLAS for `emulated` and `host`, and of a CUDA library for `cuda`.
  const Method* reference(Problem problem, Backend backend, std::int64_t batch = 1) const;
  void add(Method method);

 private:
  std::vector<Method> methods_;
};

/// Returns true if the text consists of a-z, 0-9 and _ and is not empty.
bool is_word(std::string_view text);

/// Returns the registry of this program, with the methods of all problems (kernels/registry.cpp).
Registry builtin_registry();

}  // namespace gaussweep
