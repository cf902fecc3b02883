/// The C interface: checks the arguments, chooses a method, copies operands where the method wants another
/// layout, and runs the method on the caller's stream.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "apps/c_api/gaussweep.h"
#include "kernels/core/errors.hpp"
#include "kernels/device/callers_stream.hpp"
#include "kernels/preferred.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/solves/triangles.hpp"
#include "kernels/staging/convert_layout.hpp"
#include "kernels/vendor/fixups.hpp"

using namespace gaussweep;

/// A device with the caller's stream, and the objects that calls reuse.
struct gaussweep_handle_t {
  gaussweep_handle_t(int device_index, void* callers_stream)
      : index(device_index),
        device(index == GAUSSWEEP_EMULATED
                   ? make_host_device(Backend::emulated, nullptr, "the emulated device")
                   : make_cuda_device_on(index, callers_stream)),
        context(std::make_unique<Context>(*device)),
        capability(device->info().capability),
        registry(builtin_registry()) {}
  /// Binds the handle to another stream. The old device stays if this fails.
  void use_stream(void* stream) {
    if (stream == device->stream()) return;
    auto next = make_cuda_device_on(index, stream);
    context = std::make_unique<Context>(*next);  // frees cuBLAS and cuSOLVER before their device
    device = std::move(next);
  }

  int index;
  std::unique_ptr<Device> device;
  std::unique_ptr<Context> context;
  int capability;
  Registry registry;
  std::string error;
};

namespace {

static_assert(static_cast<int>(Uplo::lower) == GAUSSWEEP_LOWER &&
              static_cast<int>(Uplo::upper) == GAUSSWEEP_UPPER);

/// The caller's arguments are wrong. A std::invalid_argument from the library's own code is an internal
/// error.
struct CallersMistake : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// No method of the registry can serve the call.
struct NotSupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs `work` with GPU `gpu` as the current one, and converts exceptions to a status and a message.
template <class Work>
gaussweep_status guarded(std::string* error, int gpu, Work work) noexcept {
  const auto fail = [error](gaussweep_status status, const char* what) {
    try {
      *error = what;
    } catch (...) {
      error->clear();  // no memory for the message; the status gives the kind of error
    }
    return status;
  };
  try {
    const CurrentGpuScope current(gpu);
    error->clear();
    work();
    return GAUSSWEEP_SUCCESS;
  } catch (const CallersMistake& e) {
    return fail(GAUSSWEEP_INVALID_ARGUMENT, e.what());
  } catch (const OutOfMemory& e) {
    return fail(GAUSSWEEP_OUT_OF_MEMORY, e.what());
  } catch (const std::bad_alloc& e) {
    return fail(GAUSSWEEP_OUT_OF_MEMORY, e.what());
  } catch (const DeviceError& e) {
    return fail(GAUSSWEEP_DEVICE_ERROR, e.what());
  } catch (const NotOffered& e) {
    return fail(GAUSSWEEP_NOT_SUPPORTED, e.what());
  } catch (const NotSupported& e) {
    return fail(GAUSSWEEP_NOT_SUPPORTED, e.what());
  } catch (const std::exception& e) {
    return fail(GAUSSWEEP_INTERNAL_ERROR, e.what());
  } catch (...) {
    return fail(GAUSSWEEP_INTERNAL_ERROR, "unknown exception");
  }
}

template <class Work>
gaussweep_status guarded(gaussweep_handle handle, Work work) noexcept {
  if (handle == nullptr) return GAUSSWEEP_INVALID_ARGUMENT;
  return guarded(&handle->error, handle->index, work);
}

/// A matrix of the caller, with its argument's name (for error messages) and leading dimension.
template <class T>
struct Argument {
  const char* name;
  T* data;
  std::int64_t ld;
};

constexpr std::size_t alignment = 256;  // in bytes; all operands that methods get are aligned to it

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

/// The sizes in bytes of the parts of `work`: packed copies of A (a) and B (b), an answer that is not
/// computed in place (x), and the method's own workspace (method).
struct Parts {
  std::size_t a = 0, b = 0, x = 0, method = 0;
  /// Returns the sum of the parts, plus the bytes that may be needed to align the first part.
  std::size_t total() const { return a + b + x + method + alignment - 1; }
};

/// A method that serves a call, and what one of its runs needs. There is one run for the whole batch, or one
/// per system.
struct Choice {
  const Method* method;
  Shape shape;  ///< of one run
  std::int64_t runs;
  Parameters parameters;
  Parts parts;  ///< sufficient for any leading dimensions
};

/// Returns the size of the part of `work` for a matrix whose elements have `element` bytes.
/// @throws OutOfMemory if the matrix is larger than any memory
std::size_t piece(const Extent& extent, std::size_t element) {
  if (static_cast<double>(extent.rows) * static_cast<double>(extent.cols) > 1e15)
    throw OutOfMemory("a matrix of " + std::to_string(extent.rows) + " x " + std::to_string(extent.cols) +
                      " is larger than any memory");
  return aligned_workspace_bytes(extent.rows * extent.cols, element);
}

/// Returns the Choice of this method, with the sizes of the parts of `work`.
Choice choice_of(const Method& method, const Shape& shape, std::int64_t runs, std::size_t element) {
  const ProblemRow& problem = method.problem.row();
  Choice choice{&method, shape, runs, defaults(method.parameters), {}};
  choice.parts.a = piece(problem.a(shape), element);
  if (problem.b != nullptr) choice.parts.b = piece(problem.b(shape), element);
  const std::size_t answer = piece(problem.x(shape), element);
  if (method.answer == AnswerIn::x) choice.parts.x = answer;
  if (method.workspace_bytes != nullptr) {
    const std::size_t bytes = method.workspace_bytes(shape, choice.parameters, element);
    choice.parts.method = aligned_workspace_bytes(static_cast<std::int64_t>(bytes), 1);
  }
  return choice;
}

/// Chooses a method for the whole batch, else one that runs once per system. @throws NotSupported
Choice choose(const gaussweep_handle_t& handle, const char* problem, Precision precision,
              const Shape& shape) {
  const Problem wanted = Problem::named(problem);
  const MethodTarget target{handle.device->backend(), handle.capability, precision};
  const std::size_t element = precision == Precision::float32 ? sizeof(float) : sizeof(double);
  if (const Method* method = preferred_method(handle.registry, wanted, target, shape))
    return choice_of(*method, shape, 1, element);
  const Shape one = shape.single();
  if (const Method* method = preferred_method(handle.registry, wanted, target, one))
    return choice_of(*method, one, shape.batch, element);
  throw NotSupported(std::string("no method solves ") + problem + " with n = " + std::to_string(shape.n) +
                     (wanted.row().b == nullptr ? "" : " and nrhs = " + std::to_string(shape.nrhs)) + " on " +
                     handle.device->info().name);
}

/// One call of a routine.
template <class T>
struct Call {
  Shape shape;
  Argument<T> a, b, c;  ///< unused ones have null names
  int* pivots;
  int* info;
};

/// Throws CallersMistake unless the condition holds.
void require(bool holds, const std::string& message) {
  if (!holds) throw CallersMistake(message);
}

void require_size(const char* name, std::int64_t value) {
  require(value >= 0 && value <= std::numeric_limits<int>::max(),
          std::string(name) + " = " + std::to_string(value) + ": allowed are 0 to 2147483647");
}

template <class T>
void require_matrix(const Argument<T>& argument, std::int64_t rows) {
  require(argument.data != nullptr, std::string(argument.name) + " is a null pointer");
  require_size((std::string("ld") + argument.name).c_str(), argument.ld);
  require(argument.ld >= rows, std::string("ld") + argument.name + " = " + std::to_string(argument.ld) +
                                   ": " + argument.name + " has " + std::to_string(rows) + " rows");
}

bool is_empty(const Shape& shape) {
  return shape.m == 0 || shape.n == 0 || shape.batch == 0 || shape.nrhs == 0;
}

void require_sizes(const Shape& shape) {
  require_size("n", shape.n);
  require_size("m", shape.m);
  require_size("k", shape.k);
  require_size("nrhs", shape.nrhs);
  require_size("batch", shape.batch);
  require(shape.uplo == Uplo::lower || shape.uplo == Uplo::upper,
          "uplo: allowed are GAUSSWEEP_LOWER and GAUSSWEEP_UPPER");
}

void require_work(const void* work, std::size_t bytes, std::size_t needed) {
  require(work != nullptr, "work is a null pointer");
  require(bytes >= needed,
          "work has " + std::to_string(bytes) + " bytes, needed are " + std::to_string(needed));
}

/// Copies a matrix between two leading dimensions on the handle's stream.
template <class T>
void copy(Context& context, const T* from, std::int64_t ld_from, T* to, std::int64_t ld_to, const Extent& e) {
  convert_layout<T>(context, StridedView<T>{from, 1, ld_from}, e.rows, e.cols,
                    WritableStridedView<T>{to, 1, ld_to});
}

/// Calls `on_gpu` or, for an emulated device, `emulated`.
template <class OnGpu, class Emulated>
void on_backend(Context& context, [[maybe_unused]] OnGpu on_gpu, Emulated emulated) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) return on_gpu();
#endif
  (void)context;
  emulated();
}
// Runs `call`, a function that exists in the namespaces cuda and emulated, on the context's backend.
#ifdef GAUSSWEEP_HAS_CUDA
#define GAUSSWEEP_ON_BACKEND(context, call) \
  on_backend(                               \
      context, [&] { cuda::call; }, [&] { emulated::call; })
#else
#define GAUSSWEEP_ON_BACKEND(context, call) \
  on_backend(                               \
      context, [] {}, [&] { emulated::call; })
#endif

/// Returns true if the operand is packed (its ld equals its rows) and aligned. Methods get only such
/// operands, because their tests cover no others.
template <class T>
bool is_usable(const Argument<T>& argument, const Extent& e) {
  return argument.ld == e.rows && is_aligned(argument.data);
}
/// Returns true for posv. Its methods may overwrite both triangles of A, but may not change the caller's
/// other triangle; therefore they get a copy of A.
bool always_copies_a(const ProblemRow& problem) {
  return problem.has_axis("uplo") && problem.second == SecondOperand::right_hand_sides;
}

/// Runs the method on one system or, for a batched method, on all.
template <class T>
void run_once(gaussweep_handle_t& handle, const Choice& choice, const Call<T>& call, void* work) {
  Context& context = *handle.context;
  const Method& method = *choice.method;
  const ProblemRow& problem = method.problem.row();
  const Shape& shape = choice.shape;
  const Parts& parts = choice.parts;
  std::size_t space = parts.total();
  auto* next = static_cast<std::byte*>(std::align(alignment, 1, work, space));
  const auto take = [&next](std::size_t bytes) { return std::exchange(next, next + bytes); };
  // Returns the caller's matrix if the method can use it, else a copy in the next `bytes` of `work`.
  const auto dense = [&](const Argument<T>& argument, const Extent& e, std::size_t bytes, bool copies) {
    auto* packed = reinterpret_cast<T*>(take(bytes));
    if (is_usable(argument, e) && !copies) return MatrixView<T>{argument.data, e.rows, e.cols, e.rows};
    copy(context, argument.data, argument.ld, packed, e.rows, e);
    return MatrixView<T>{packed, e.rows, e.cols, e.rows};
  };

  Operands<T> op;
  op.shape = shape;
  op.a = dense(call.a, problem.a(shape), parts.a, always_copies_a(problem));
  if (problem.b != nullptr) op.b = dense(call.b, problem.b(shape), parts.b, false);
  const Argument<T>& target = problem.second == SecondOperand::matrix ? call.c
                              : problem.b != nullptr                  ? call.b
                                                                      : call.a;
  const Extent answer = problem.x(shape);
  if (method.answer == AnswerIn::x) {
    const bool in_place = problem.second == SecondOperand::matrix && is_usable(target, answer);
    T* separate = reinterpret_cast<T*>(take(parts.x));
    op.x = {in_place ? target.data : separate, answer.rows, answer.cols, answer.rows};
  }
  op.workspace = Workspace(take(parts.method), parts.method);
  op.pivots = call.pivots;
  op.info = call.info;
  const std::int64_t pivot_count = shape.n * shape.batch;
  // Methods count pivots from 0; LAPACK and the caller count from 1.
  if (op.pivots != nullptr)
    GAUSSWEEP_ON_BACKEND(context, set_no_exchange(context, op.pivots, shape.n, pivot_count));

  method.entry(context.device.backend()).template get<T>()(context, op, choice.parameters);

  if (op.pivots != nullptr)
    GAUSSWEEP_ON_BACKEND(context, make_pivots_one_based(context, op.pivots, pivot_count));
  const MatrixView<T>& result = method.answer == AnswerIn::x   ? op.x
                                : method.answer == AnswerIn::b ? op.b
                                                               : op.a;
  if (result.data == target.data) return;
  if (problem.used_of_x == UsedElements::triangle && shape.batch == 1) {
    const MatrixView<T> to{target.data, answer.rows, answer.cols, target.ld};
    GAUSSWEEP_ON_BACKEND(context, copy_triangle<T>(context, shape.uplo, result, to));
  } else {
    copy(context, result.data, result.ld, target.data, target.ld, answer);
  }
}

/// Sets C to zero: the product of gemm with k = 0.
template <class T>
void set_zero(gaussweep_handle_t& handle, const Argument<T>& c, const Shape& shape) {
  require_matrix(c, shape.m);
  for (std::int64_t j = 0; j < shape.n; ++j)
    handle.device->fill(c.data + j * c.ld, 0, static_cast<std::size_t>(shape.m) * sizeof(T));
}

/// Returns the message of the thread's last failed gaussweep_create, for which there is no handle.
std::string& create_error() {
  thread_local std::string error;
  return error;
}

/// Runs a routine of a problem: checks the arguments, chooses a method, and runs it once for the whole batch
/// or once per system.
template <class T>
void run(gaussweep_handle_t& handle, const char* problem_name, Call<T> call, void* work, std::size_t bytes) {
  require_sizes(call.shape);
  const auto clear_info = [&] {
    if (call.info != nullptr && call.shape.batch > 0)
      handle.device->fill(call.info, 0, static_cast<std::size_t>(call.shape.batch) * sizeof(int));
  };
  if (is_empty(call.shape)) return clear_info();
  if (call.shape.k == 0) return set_zero(handle, call.c, call.shape);
  Choice choice = choose(handle, problem_name, precision_of<T>, call.shape);
  const ProblemRow& problem = choice.method->problem.row();
  if (choice.runs == 1 && !always_copies_a(problem) && is_usable(call.a, problem.a(choice.shape)))
    choice.parts.a = 0;  // A is used in place
  require_matrix(call.a, problem.a(choice.shape).rows);
  if (call.b.name != nullptr) require_matrix(call.b, problem.b(choice.shape).rows);
  if (call.c.name != nullptr) require_matrix(call.c, problem.x(choice.shape).rows);
  require(!problem.has_pivots || call.pivots != nullptr, "pivots is a null pointer");
  require(call.info != nullptr || call.c.name != nullptr, "info is a null pointer");
  require_work(work, bytes, choice.parts.total());
  clear_info();
  for (std::int64_t s = 0; s < choice.runs; ++s) {
    run_once(handle, choice, call, work);
    call.a.data += call.a.ld * call.shape.n;
    if (call.b.name != nullptr) call.b.data += call.b.ld * call.shape.nrhs;
    if (call.pivots != nullptr) call.pivots += call.shape.n;
    if (call.info != nullptr) ++call.info;
  }
}

/// Returns the workspace of getrs. @throws CallersMistake
std::size_t solve_bytes(const Shape& shape, std::size_t element) {
  require_sizes(shape);
  return is_empty(shape) ? 0 : factors_workspace(shape.n, shape.nrhs, element) + alignment - 1;
}

/// Computes getrs.
template <class T>
void solve_factored(gaussweep_handle_t& handle, const Call<T>& call, void* work, std::size_t bytes) {
  const Shape& shape = call.shape;
  const std::size_t needed = solve_bytes(shape, sizeof(T));
  if (needed > 0) {
    require_matrix(call.a, shape.n);
    require_matrix(call.b, shape.n);
    require(call.pivots != nullptr, "pivots is a null pointer");
    require_work(work, bytes, needed);
  }
  require(call.info != nullptr, "info is a null pointer");
  handle.device->fill(call.info, 0, sizeof(int));
  if (needed == 0) return;
  void* const aligned = std::align(alignment, 1, work, bytes);
  solve_with_factors<T>(*handle.context, shape.n, shape.nrhs, call.a.data, call.a.ld, call.pivots,
                        call.b.data, call.b.ld, aligned);
}

/// Returns the workspace of trsm and potrs. @throws CallersMistake
std::size_t triangle_bytes(const Shape& shape, std::size_t element) {
  require_sizes(shape);
  return is_empty(shape) ? 0 : triangle_workspace(shape.n, shape.nrhs, element) + alignment - 1;
}

/// Throws NotSupported on GPUs before Hopper.
void require_on_hopper(const gaussweep_handle_t& handle) {
  if (handle.device->backend() == Backend::cuda && handle.capability < 90)
    throw NotSupported("solves with triangles need compute capability 9.0");
}

/// Solves op(A) X = B for one or two values of op, in the order of `operations`. Each solve replaces B by X.
template <class T>
void solve_triangles(gaussweep_handle_t& handle, const Call<T>& call, vendor::Diagonal diagonal,
                     std::initializer_list<vendor::Op> operations, void* work, std::size_t bytes) {
  const Shape& shape = call.shape;
  const std::size_t needed = triangle_bytes(shape, sizeof(T));
  if (needed == 0) return;
  require_matrix(call.a, shape.n);
  require_matrix(call.b, shape.n);
  require_work(work, bytes, needed);
  require_on_hopper(handle);
  void* const aligned = std::align(alignment, 1, work, bytes);
  for (const vendor::Op op : operations) {
    const TriangleView<T> triangle{call.a.data, call.a.ld, shape.n, shape.uplo, op, diagonal};
    solve_with_triangle(*handle.context, triangle, shape.nrhs, call.b.data, call.b.ld, aligned);
  }
}

/// Computes potrs.
template <class T>
void solve_cholesky_factored(gaussweep_handle_t& handle, const Call<T>& call, void* work, std::size_t bytes) {
  using vendor::Op;
  require(call.info != nullptr, "info is a null pointer");
  const bool lower = call.shape.uplo == Uplo::lower;
  solve_triangles(handle, call, vendor::Diagonal::stored,
                  {lower ? Op::none : Op::transpose, lower ? Op::transpose : Op::none}, work, bytes);
  handle.device->fill(call.info, 0, sizeof(int));
}

/// Returns the bytes before the identity in the workspace of potri.
std::size_t bytes_before_identity(const Shape& shape, std::size_t element) {
  // triangle_bytes is a multiple of `alignment` minus 1, so that the sum is a multiple of it.
  return triangle_bytes(shape, element) + 1;
}

/// Returns the workspace of potri. @throws CallersMistake
std::size_t inverse_bytes(const Shape& shape, std::size_t element) {
  require_sizes(shape);
  return is_empty(shape) ? 0 : piece({shape.n, shape.n}, element) + bytes_before_identity(shape, element);
}

/// Computes potri: solves for the columns of the identity with the factor. The identity is at the end of
/// `work`.
template <class T>
void invert_factored(gaussweep_handle_t& handle, Call<T> call, void* work, std::size_t bytes) {
  const std::int64_t n = call.shape.n;
  const std::size_t needed = inverse_bytes(call.shape, sizeof(T));
  require(call.info != nullptr, "info is a null pointer");
  if (needed == 0) return handle.device->fill(call.info, 0, sizeof(int));
  require_matrix(call.a, n);
  require_work(work, bytes, needed);
  Context& context = *handle.context;
  const std::size_t before = bytes_before_identity(call.shape, sizeof(T));
  const MatrixView<T> factor{call.a.data, n, n, call.a.ld};
  const MatrixView<T> x{reinterpret_cast<T*>(static_cast<std::byte*>(work) + before), n, n, n};
  call.b = {"b", x.data, n};
  require_on_hopper(handle);
  GAUSSWEEP_ON_BACKEND(context, set_identity(context, x));
  solve_cholesky_factored(handle, call, work, before);
  GAUSSWEEP_ON_BACKEND(context, find_zero_diagonal(context, factor, call.info));
  GAUSSWEEP_ON_BACKEND(context, copy_triangle(context, call.shape.uplo, x, factor));
}

vendor::Op operation(gaussweep_op op) {
  require(op == GAUSSWEEP_NONE || op == GAUSSWEEP_TRANSPOSE,
          "op: allowed are GAUSSWEEP_NONE and GAUSSWEEP_TRANSPOSE");
  return op == GAUSSWEEP_NONE ? vendor::Op::none : vendor::Op::transpose;
}

vendor::Diagonal diagonal_of(gaussweep_diagonal diagonal) {
  require(diagonal == GAUSSWEEP_STORED || diagonal == GAUSSWEEP_UNIT,
          "diagonal: allowed are GAUSSWEEP_STORED and GAUSSWEEP_UNIT");
  return diagonal == GAUSSWEEP_UNIT ? vendor::Diagonal::unit : vendor::Diagonal::stored;
}

/// Sets *bytes to the size of `work` that a routine needs.
void query(const gaussweep_handle_t& handle, const char* problem, Precision precision, const Shape& shape,
           std::size_t* bytes) {
  require(bytes != nullptr, "bytes is a null pointer");
  require_sizes(shape);
  *bytes = 0;
  if (is_empty(shape) || shape.k == 0) return;
  *bytes = choose(handle, problem, precision, shape).parts.total();
}

Shape square(std::int64_t n, std::int64_t batch, std::int64_t nrhs = 1,
             gaussweep_uplo uplo = GAUSSWEEP_LOWER) {
  return {n, n, n, nrhs, static_cast<Uplo>(uplo), batch};
}

Shape product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {m, n, k, 1, Uplo::lower, 1};
}

}  // namespace

gaussweep_status gaussweep_create(gaussweep_handle* handle, int device) {
  if (handle == nullptr) {
    create_error() = "the handle is a null pointer";
    return GAUSSWEEP_INVALID_ARGUMENT;
  }
  *handle = nullptr;
  return guarded(&create_error(), device, [&] { *handle = new gaussweep_handle_t(device, nullptr); });
}

void gaussweep_destroy(gaussweep_handle handle) {
  const CurrentGpuScope current(handle == nullptr ? -1 : handle->index);  // -1: keeps the current GPU
  delete handle;
}

gaussweep_status gaussweep_set_stream(gaussweep_handle handle, void* stream) {
  return guarded(handle, [&] {
    require(handle->index != GAUSSWEEP_EMULATED || stream == nullptr, "an emulated device has no streams");
    if (handle->index != GAUSSWEEP_EMULATED) handle->use_stream(stream);
  });
}

gaussweep_status gaussweep_widen_pivots(gaussweep_handle handle, int64_t count, const int* from,
                                        int64_t* to) {
  return guarded(handle, [&] {
    require_size("count", count);
    const auto bytes = static_cast<std::size_t>(count) * sizeof *to;
    handle->device->fill(to, 0, bytes);
    handle->device->copy_2d(to, sizeof *to, from, sizeof *from, sizeof *from, bytes / sizeof *to);
  });
}

gaussweep_status gaussweep_narrow_pivots(gaussweep_handle handle, int64_t count, const int64_t* from,
                                         int* to) {
  return guarded(handle, [&] {
    require_size("count", count);
    handle->device->copy_2d(to, sizeof *to, from, sizeof *from, sizeof *to, static_cast<std::size_t>(count));
  });
}

int gaussweep_api_version() {
  return GAUSSWEEP_API_VERSION;
}

const char* gaussweep_status_text(gaussweep_status status) {
  switch (status) {
    case GAUSSWEEP_SUCCESS:
      return "success";
    case GAUSSWEEP_INVALID_ARGUMENT:
      return "invalid argument";
    case GAUSSWEEP_OUT_OF_MEMORY:
      return "out of memory";
    case GAUSSWEEP_DEVICE_ERROR:
      return "device error";
    case GAUSSWEEP_NOT_SUPPORTED:
      return "not supported on this device";
    case GAUSSWEEP_INTERNAL_ERROR:
      return "internal error";
  }
  return "unknown status";
}

const char* gaussweep_last_error(gaussweep_handle handle) {
  if (handle != nullptr) return handle->error.c_str();
  return create_error().empty() ? "the handle is a null pointer" : create_error().c_str();
}

// Macros that define the routines. `p` is the letter of the precision T; the last arguments are the routine's
// parameters. `call` is the initialiser of a Call in parentheses, because it contains commas;
// GAUSSWEEP_UNWRAP removes the parentheses.
#define GAUSSWEEP_QUERY(p, T, name, shape, ...)                                                      \
  gaussweep_status gaussweep_##p##name##_work(gaussweep_handle handle, __VA_ARGS__, size_t* bytes) { \
    return guarded(handle, [&] { query(*handle, #name, precision_of<T>, shape, bytes); });           \
  }
#define GAUSSWEEP_UNWRAP(...) __VA_ARGS__
#define GAUSSWEEP_CALL(p, T, name, call, ...)                                                            \
  gaussweep_status gaussweep_##p##name(gaussweep_handle handle, __VA_ARGS__, void* work, size_t bytes) { \
    return guarded(handle, [&] { run<T>(*handle, #name, GAUSSWEEP_UNWRAP call, work, bytes); });         \
  }
#define GAUSSWEEP_SOLVE_QUERY(p, T, name, bytes_of)                                             \
  gaussweep_status gaussweep_##p##name##_work(gaussweep_handle handle, int64_t n, int64_t nrhs, \
                                              size_t* bytes) {                                  \
    return guarded(handle, [&] {                                                                \
      require(bytes != nullptr, "bytes is a null pointer");                                     \
      *bytes = bytes_of(square(n, 1, nrhs), sizeof(T));                                         \
    });                                                                                         \
  }
#define GAUSSWEEP_SOLVE(p, T, name, solve, uplo, pivots, info, ...)                                      \
  gaussweep_status gaussweep_##p##name(gaussweep_handle handle, __VA_ARGS__, void* work, size_t bytes) { \
    return guarded(handle, [&] {                                                                         \
      const Call<T> call{                                                                                \
          square(n, 1, nrhs, uplo), {"a", const_cast<T*>(a), lda}, {"b", b, ldb}, {}, pivots, info};     \
      solve;                                                                                             \
    });                                                                                                  \
  }
#define GAUSSWEEP_DEFINE(p, T)                                                                               \
  GAUSSWEEP_QUERY(p, T, getrf, square(n, batch), int64_t n, int64_t batch)                                   \
  GAUSSWEEP_CALL(p, T, getrf, ({square(n, batch), {"a", a, lda}, {}, {}, pivots, info}), int64_t n, T* a,    \
                 int64_t lda, int* pivots, int* info, int64_t batch)                                         \
  GAUSSWEEP_SOLVE_QUERY(p, T, getrs, solve_bytes)                                                            \
  GAUSSWEEP_SOLVE(p, T, getrs, solve_factored(*handle, call, work, bytes), GAUSSWEEP_LOWER,                  \
                  const_cast<int*>(pivots), info, int64_t n, int64_t nrhs, const T* a, int64_t lda,          \
                  const int* pivots, T* b, int64_t ldb, int* info)                                           \
  GAUSSWEEP_SOLVE_QUERY(p, T, trsm, triangle_bytes)                                                          \
  GAUSSWEEP_SOLVE(p, T, trsm,                                                                                \
                  solve_triangles(*handle, call, diagonal_of(diagonal), {operation(op)}, work, bytes), uplo, \
                  nullptr, nullptr, gaussweep_uplo uplo, gaussweep_op op, gaussweep_diagonal diagonal,       \
                  int64_t n, int64_t nrhs, const T* a, int64_t lda, T* b, int64_t ldb)                       \
  GAUSSWEEP_SOLVE_QUERY(p, T, potrs, triangle_bytes)                                                         \
  GAUSSWEEP_SOLVE(p, T, potrs, solve_cholesky_factored(*handle, call, work, bytes), uplo, nullptr, info,     \
                  gaussweep_uplo uplo, int64_t n, int64_t nrhs, const T* a, int64_t lda, T* b, int64_t ldb,  \
                  int* info)                                                                                 \
  gaussweep_status gaussweep_##p##potri_work(gaussweep_handle handle, int64_t n, size_t* bytes) {            \
    return guarded(handle, [&] {                                                                             \
      require(bytes != nullptr, "bytes is a null pointer");                                                  \
      *bytes = inverse_bytes(square(n, 1, n), sizeof(T));                                                    \
    });                                                                                                      \
  }                                                                                                          \
  gaussweep_status gaussweep_##p##potri(gaussweep_handle handle, gaussweep_uplo uplo, int64_t n, T* a,       \
                                        int64_t lda, int* info, void* work, size_t bytes) {                  \
    return guarded(handle, [&] {                                                                             \
      invert_factored<T>(*handle, {square(n, 1, n, uplo), {"a", a, lda}, {}, {}, nullptr, info}, work,       \
                         bytes);                                                                             \
    });                                                                                                      \
  }                                                                                                          \
  GAUSSWEEP_QUERY(p, T, gesv, square(n, batch, nrhs), int64_t n, int64_t nrhs, int64_t batch)                \
  GAUSSWEEP_CALL(p, T, gesv, ({square(n, batch, nrhs), {"a", a, lda}, {"b", b, ldb}, {}, nullptr, info}),    \
                 int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb, int* info, int64_t batch)    \
  GAUSSWEEP_QUERY(p, T, potrf, square(n, batch, 1, uplo), gaussweep_uplo uplo, int64_t n, int64_t batch)     \
  GAUSSWEEP_CALL(p, T, potrf, ({square(n, batch, 1, uplo), {"a", a, lda}, {}, {}, nullptr, info}),           \
                 gaussweep_uplo uplo, int64_t n, T* a, int64_t lda, int* info, int64_t batch)                \
  GAUSSWEEP_QUERY(p, T, posv, square(n, batch, nrhs, uplo), gaussweep_uplo uplo, int64_t n, int64_t nrhs,    \
                  int64_t batch)                                                                             \
  GAUSSWEEP_CALL(p, T, posv,                                                                                 \
                 ({square(n, batch, nrhs, uplo), {"a", a, lda}, {"b", b, ldb}, {}, nullptr, info}),          \
                 gaussweep_uplo uplo, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb,         \
                 int* info, int64_t batch)                                                                   \
  GAUSSWEEP_QUERY(p, T, geinv, square(n, batch), int64_t n, int64_t batch)                                   \
  GAUSSWEEP_CALL(p, T, geinv, ({square(n, batch), {"a", a, lda}, {}, {}, nullptr, info}), int64_t n, T* a,   \
                 int64_t lda, int* info, int64_t batch)                                                      \
  GAUSSWEEP_QUERY(p, T, poinv, square(n, 1), int64_t n)                                                      \
  GAUSSWEEP_CALL(p, T, poinv, ({square(n, 1), {"a", a, lda}, {}, {}, nullptr, info}), int64_t n, T* a,       \
                 int64_t lda, int* info)                                                                     \
  GAUSSWEEP_QUERY(p, T, trtri, square(n, 1, 1, uplo), gaussweep_uplo uplo, int64_t n)                        \
  GAUSSWEEP_CALL(p, T, trtri, ({square(n, 1, 1, uplo), {"a", a, lda}, {}, {}, nullptr, info}),               \
                 gaussweep_uplo uplo, int64_t n, T* a, int64_t lda, int* info)                               \
  GAUSSWEEP_QUERY(p, T, gemm, product(m, n, k), int64_t m, int64_t n, int64_t k)                             \
  GAUSSWEEP_CALL(p, T, gemm,                                                                                 \
                 ({product(m, n, k),                                                                         \
                   {"a", const_cast<T*>(a), lda},                                                            \
                   {"b", const_cast<T*>(b), ldb},                                                            \
                   {"c", c, ldc},                                                                            \
                   nullptr,                                                                                  \
                   nullptr}),                                                                                \
                 int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c,    \
                 int64_t ldc)

GAUSSWEEP_DEFINE(s, float)
GAUSSWEEP_DEFINE(d, double)
