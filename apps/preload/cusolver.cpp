/// libgaussweep_cusolver.so defines functions of cuSOLVER and cuBLAS, which a program calls instead of the
/// vendor's if LD_PRELOAD names this library. Each function computes with libgaussweep if that is faster.
/// Otherwise it calls the vendor's function with the same arguments.
///
/// This library links no CUDA library and loads libgaussweep on first use, so that a program keeps its own
/// CUDA libraries. The signatures are those of cusolverDn.h and cublas_v2.h, with ints for enums.
///
/// A workspace query returns the larger one of the vendor's and libgaussweep's sizes. It also creates what
/// libgaussweep needs for the stream, so that later calls neither allocate nor wait. The vendor answers calls
/// without such a query, or with a smaller workspace.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "apps/preload/cutoffs.hpp"
#include "apps/preload/queues.hpp"
#include "apps/preload/vendor.hpp"

namespace gaussweep::preload {
namespace {

using Handle = void*;  // cusolverDnHandle_t
using Params = void*;  // cusolverDnParams_t

/// The two errors that a call reports if libgaussweep fails, as values of cusolverStatus_t or cublasStatus_t.
struct Statuses {
  int alloc_failed, execution_failed;
};
constexpr int success = 0;  // the same value in cuSOLVER and cuBLAS
constexpr Statuses of_cusolver{2, 6}, of_cublas{3, 13};
/// Values of cublasOperation_t, cublasDiagType_t, cublasFillMode_t, cublasSideMode_t, cublasPointerMode_t and
/// cudaDataType.
constexpr int not_transposed = 0, not_unit = 0, upper_triangle = 1, left = 0, on_host = 0, real_float = 0,
              real_double = 1;

/// A program's call of a function of cuSOLVER or cuBLAS.
struct Call {
  const char* name;
  const void* caller;  ///< an address in the calling code
  Handle handle;
  bool is_supported;  ///< false if libgaussweep has no routine for the arguments
  Task task;          ///< the computation and its sizes, by which the library is chosen (cutoffs.hpp)
  bool is_cublas = false;
};

/// If GAUSSWEEP_CUSOLVER_LOG is set, counts the calls that gaussweep and the vendor answered, and prints the
/// counts when the process ends.
class Log {
 public:
  static Log& instance() {
    static Log& log = *new Log;  // never destroyed: print_log may run late at exit
    return log;
  }
  void count(const Call& call, const std::string& answered_by) {
    if (!is_on_) return;
    const std::string line = std::string(call.name) + " n=" + std::to_string(call.task.n) +
                             (call.task.nrhs == 1 ? "" : " nrhs=" + std::to_string(call.task.nrhs)) + ": " +
                             answered_by;
    const std::lock_guard<std::mutex> lock(access_);
    ++counts_[counts_.size() < most_lines || counts_.count(line) > 0 ? line : "other shapes"];
  }
  void print() {
    const std::lock_guard<std::mutex> lock(access_);
    for (const auto& [line, count] : counts_)
      std::fprintf(stderr, "libgaussweep_cusolver: %s, %lld time%s\n", line.c_str(), count,
                   count == 1 ? "" : "s");
  }

 private:
  static constexpr std::size_t most_lines = 1000;  // further lines are counted together, as "other shapes"
  const bool is_on_ = std::getenv("GAUSSWEEP_CUSOLVER_LOG") != nullptr;
  std::mutex access_;
  std::map<std::string, long long> counts_;
};

[[gnu::destructor]] void print_log() {
  Log::instance().print();
}

/// Returns the queue (a stream with libgaussweep's handle, queues.hpp) for a call that gaussweep answers.
/// If the vendor must answer the call, returns null and sets `reason`. If `creates` is true, creates a
/// missing queue.
StreamHandle* queue_for(const Call& call, bool creates, const char*& reason) {
  reason = "switched off";
  const char* const setting = std::getenv("GAUSSWEEP_CUSOLVER");
  if (setting != nullptr && std::strcmp(setting, "off") == 0) return nullptr;
  reason = "arguments that gaussweep does not support";
  if (!call.is_supported) return nullptr;
  reason = "faster here";
  if (!may_be_faster(call.task)) return nullptr;
  void* stream = nullptr;
  reason = "the handle has no stream";
  const char* const get_stream = call.is_cublas ? "cublasGetStream_v2" : "cusolverDnGetStream";
  if (call_vendor(get_stream, call.caller, call.handle, &stream) != success) return nullptr;
  return find_queue(stream, call.task, creates, reason);
}

/// Answers a call with `ours(queue)`, which returns a status of libgaussweep, or else with the vendor's
/// function, which gets `arguments`.
template <class Ours, class... Arguments>
int answer(const Call& call, Ours ours, Arguments... arguments) {
  const char* reason = nullptr;
  const bool creates = call.is_cublas;  // cuBLAS has no workspace queries, which would have created the queue
  if (StreamHandle* const queue = queue_for(call, creates, reason)) {
    const std::lock_guard<std::mutex> lock(queue->busy);
    const gaussweep_status status = ours(*queue);
    if (status == GAUSSWEEP_SUCCESS) {
      Log::instance().count(call, "gaussweep");
      return success;
    }
    const char* const error = queue->library->last_error(queue->handle);
    if (status != GAUSSWEEP_INVALID_ARGUMENT && status != GAUSSWEEP_NOT_SUPPORTED) {
      std::fprintf(stderr, "libgaussweep_cusolver: %s: %s\n", call.name, error);
      const Statuses& statuses = call.is_cublas ? of_cublas : of_cusolver;
      return status == GAUSSWEEP_OUT_OF_MEMORY ? statuses.alloc_failed : statuses.execution_failed;
    }
    // libgaussweep rejected the call before it queued any work, so that the vendor can still answer.
    Log::instance().count(call, std::string("the vendor (") + error + ")");
  } else {
    Log::instance().count(call, std::string("the vendor (") + reason + ")");
  }
  return call_vendor(call.name, call.caller, arguments...);
}

/// Returns the bytes for a copy of A in the size that libgaussweep's query returns, if the call will use A in
/// place: A has lda = n and is aligned to 256 bytes (see gaussweep.h). Otherwise returns 0. A null pointer
/// counts as aligned, because a query may have no matrix yet. `element`: the bytes of an element.
std::size_t unneeded_bytes(std::int64_t n, std::size_t element, const void* a, std::int64_t lda) {
  if (lda != n || reinterpret_cast<std::uintptr_t>(a) % 256 != 0) return 0;
  return (static_cast<std::size_t>(n * n) * element + 255) / 256 * 256;
}

/// Returns the bytes of workspace that gaussweep needs to answer the calls after this query, or 0 if the
/// vendor answers them. `query(queue, &bytes)` asks libgaussweep and returns its status. `a`, `lda`: the
/// matrix of the query.
template <class Query>
std::size_t needed_bytes(const Call& call, const void* a, std::int64_t lda, Query query) {
  const char* reason = nullptr;
  StreamHandle* const queue = queue_for(call, true, reason);
  if (queue == nullptr) return 0;
  const std::lock_guard<std::mutex> lock(queue->busy);
  std::size_t bytes = 0;
  if (query(*queue, &bytes) != GAUSSWEEP_SUCCESS) return 0;
  bytes -= unneeded_bytes(call.task.n, call.task.is_double ? sizeof(double) : sizeof(float), a, lda);
  return bytes <= queue->most_bytes ? bytes : 0;
}

/// Raises *elements to the number of elements of type T that hold `bytes`. @return `bytes`, or 0 if that
/// number exceeds an int
template <class T>
std::size_t raise(int* elements, std::size_t bytes) {
  const std::size_t needed = (bytes + sizeof(T) - 1) / sizeof(T);
  if (needed > static_cast<std::size_t>(std::numeric_limits<int>::max())) return 0;
  *elements = std::max(*elements, static_cast<int>(needed));
  return bytes;
}

/// The workspace sizes of libgaussweep for cusolverDn<t>getrf, which has no argument for the size. A promise
/// is the size that the last query found for a cuSOLVER handle, precision and order n. If the table is full,
/// a new promise replaces the oldest one.
class WorkspaceSizes {
 public:
  void set(const Call& call, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(access_);
    if (Promise* const known = find(call)) {
      known->bytes = bytes;
    } else if (bytes > 0) {
      promises_[next_++ % promises_.size()] = {call.handle, call.task.is_double, call.task.n, bytes};
    }
  }
  std::size_t get(const Call& call) {
    const std::lock_guard<std::mutex> lock(access_);
    const Promise* const known = find(call);
    return known == nullptr ? 0 : known->bytes;
  }

 private:
  struct Promise {
    Handle handle;
    bool is_double;
    std::int64_t n;
    std::size_t bytes;
  };
  Promise* find(const Call& call) {
    for (Promise& each : promises_) {
      if (each.handle == call.handle && each.is_double == call.task.is_double && each.n == call.task.n)
        return &each;
    }
    return nullptr;
  }
  std::mutex access_;
  std::array<Promise, 64> promises_{};
  std::size_t next_ = 0;
};

WorkspaceSizes& promises() {
  static WorkspaceSizes& all = *new WorkspaceSizes;  // never destroyed: calls may come at exit
  return all;
}

/// Returns the bytes of n pivots of 32 bits, rounded up to libgaussweep's alignment of 256 bytes. Functions
/// with 64-bit pivots convert them through such a buffer at the start of their workspace or scratch memory.
std::size_t pivot_bytes(std::int64_t n) {
  return (static_cast<std::size_t>(n) * sizeof(int) + 255) / 256 * 256;
}

/// The functions with operands of type T; those that end in _size are workspace queries. `name` and `caller`
/// describe the call (see GAUSSWEEP_CALL_SITE); the other arguments are those of cuSOLVER or cuBLAS.
template <class T>
struct Typed {
  static Task task(const char* problem, std::int64_t n, std::int64_t nrhs = 1, int uplo = 0) {
    return {problem, sizeof(T) == sizeof(double), uplo == upper_triangle, n, nrhs, false};
  }
  static const Routines<T>& routines(const StreamHandle& queue) { return queue.library->template of<T>(); }

  static int getrf_size(const char* name, const void* caller, Handle handle, int m, int n, T* a, int lda,
                        int* lwork) {
    const int status = call_vendor(name, caller, handle, m, n, a, lda, lwork);
    if (status != success) return status;
    const Call call{name, caller, handle, m == n, task("getrf", n)};
    const std::size_t bytes = needed_bytes(call, a, lda, [&](StreamHandle& q, std::size_t* size) {
      return routines(q).getrf_work(q.handle, n, 1, size);
    });
    promises().set(call, raise<T>(lwork, bytes));
    return success;
  }
  static int getrf(const char* name, const void* caller, Handle handle, int m, int n, T* a, int lda, T* work,
                   int* pivots, int* info) {
    const Call call{name, caller, handle, m == n && pivots != nullptr, task("getrf", n)};
    const auto ours = [&](StreamHandle& q) {
      return routines(q).getrf(q.handle, n, a, lda, pivots, info, 1, work, promises().get(call));
    };
    return answer(call, ours, handle, m, n, a, lda, work, pivots, info);
  }
  static int getrs(const char* name, const void* caller, Handle handle, int trans, int n, int nrhs,
                   const T* lu, int lda, const int* pivots, T* b, int ldb, int* info) {
    const Call call{name, caller, handle, trans == not_transposed && nrhs <= few_rhs, task("trsv", n, nrhs)};
    const auto ours = [&](StreamHandle& q) {
      return routines(q).getrs(q.handle, n, nrhs, lu, lda, pivots, b, ldb, info, q.scratch, q.scratch_bytes);
    };
    return answer(call, ours, handle, trans, n, nrhs, lu, lda, pivots, b, ldb, info);
  }
  static int potrs(const char* name, const void* caller, Handle handle, int uplo, int n, int nrhs, const T* a,
                   int lda, T* b, int ldb, int* info) {
    Call call{name, caller, handle, true, task("trsv", n, nrhs, uplo)};
    call.task.is_transposed = true;  // potrs solves with the factor and with its transpose
    const auto ours = [&](StreamHandle& q) {
      return routines(q).potrs(q.handle, uplo, n, nrhs, a, lda, b, ldb, info, q.scratch, q.scratch_bytes);
    };
    return answer(call, ours, handle, uplo, n, nrhs, a, lda, b, ldb, info);
  }
  static int potri_size(const char* name, const void* caller, Handle handle, int uplo, int n, T* a, int lda,
                        int* lwork) {
    const int status = call_vendor(name, caller, handle, uplo, n, a, lda, lwork);
    if (status != success) return status;
    const Call call{name, caller, handle, true, task("poinv", n, 1, uplo)};
    raise<T>(lwork, needed_bytes(call, nullptr, 0, [&](StreamHandle& q, std::size_t* size) {
               return routines(q).potri_work(q.handle, n, size);
             }));
    return success;
  }
  static int potri(const char* name, const void* caller, Handle handle, int uplo, int n, T* a, int lda,
                   T* work, int lwork, int* info) {
    const Call call{name, caller, handle, true, task("poinv", n, 1, uplo)};
    const auto ours = [&](StreamHandle& q) {
      return routines(q).potri(q.handle, uplo, n, a, lda, info, work,
                               static_cast<std::size_t>(std::max(lwork, 0)) * sizeof(T));
    };
    return answer(call, ours, handle, uplo, n, a, lda, work, lwork, info);
  }
  /// Answers cuBLAS's trsm; its sizes have type Size (int, or std::int64_t in the functions that end in _64).
  template <class Size>
  static int trsm(const char* name, const void* caller, Handle handle, int side, int uplo, int trans,
                  int diag, Size m, Size n, const T* alpha, const T* a, Size lda, T* b, Size ldb) {
    int pointer_mode = 0;
    // Calls of trsm by cuSOLVER itself stay with the vendor.
    const bool is_supported =
        side == left && !is_vendors_code(caller) &&
        call_vendor("cublasGetPointerMode_v2", caller, handle, &pointer_mode) == success &&
        pointer_mode == on_host && alpha != nullptr && *alpha == T(1);
    Call call{name, caller, handle, is_supported, task("trsv", m, n, uplo), true};
    call.task.is_transposed = trans != not_transposed;
    const auto ours = [&](StreamHandle& q) {
      return routines(q).trsm(q.handle, uplo, trans != not_transposed, diag, m, n, a, lda, b, ldb, q.scratch,
                              q.scratch_bytes);
    };
    return answer(call, ours, handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
  }
  static int potrf_size(const char* name, const void* caller, Handle handle, int uplo, int n, T* a, int lda,
                        int* lwork) {
    const int status = call_vendor(name, caller, handle, uplo, n, a, lda, lwork);
    if (status != success) return status;
    const Call call{name, caller, handle, true, task("potrf", n, 1, uplo)};
    raise<T>(lwork, needed_bytes(call, a, lda, [&](StreamHandle& q, std::size_t* size) {
               return routines(q).potrf_work(q.handle, uplo, n, 1, size);
             }));
    return success;
  }
  static int potrf(const char* name, const void* caller, Handle handle, int uplo, int n, T* a, int lda,
                   T* work, int lwork, int* info) {
    const Call call{name, caller, handle, true, task("potrf", n, 1, uplo)};
    const auto ours = [&](StreamHandle& q) {
      return routines(q).potrf(q.handle, uplo, n, a, lda, info, 1, work,
                               static_cast<std::size_t>(std::max(lwork, 0)) * sizeof(T));
    };
    return answer(call, ours, handle, uplo, n, a, lda, work, lwork, info);
  }
};

/// Calls `routine(routines, pointer)` with libgaussweep's routines for the cudaDataType `type`. Only the type
/// of `pointer` (float* or double*) has a meaning: callers cast their untyped operands to it.
template <class Routine>
gaussweep_status by_type(int type, const StreamHandle& queue, Routine routine) {
  if (type == real_float) return routine(queue.library->s, static_cast<float*>(nullptr));
  return routine(queue.library->d, static_cast<double*>(nullptr));
}

/// Returns a call of the 64-bit interface (cusolverDnX…), whose operands have the cudaDataType `type`.
Call call_of(const char* name, const void* caller, Handle handle, bool is_supported, const char* problem,
             int type, std::int64_t n, std::int64_t nrhs = 1, int uplo = 0) {
  const bool is_real = type == real_float || type == real_double;
  return {name,
          caller,
          handle,
          is_supported && is_real,
          {problem, type == real_double, uplo == upper_triangle, n, nrhs, false}};
}

}  // namespace
}  // namespace gaussweep::preload

using namespace gaussweep::preload;

// The first two arguments of the functions of Typed: the name of the function and the address of its caller.
#define GAUSSWEEP_CALL_SITE(name) #name, __builtin_return_address(0)
// Defines the functions whose names have the letter p of the precision T.
#define GAUSSWEEP_DN(p, T)                                                                                   \
  int cusolverDn##p##getrf_bufferSize(Handle handle, int m, int n, T* a, int lda, int* lwork) {              \
    return Typed<T>::getrf_size(GAUSSWEEP_CALL_SITE(cusolverDn##p##getrf_bufferSize), handle, m, n, a, lda,  \
                                lwork);                                                                      \
  }                                                                                                          \
  int cusolverDn##p##getrf(Handle handle, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {    \
    return Typed<T>::getrf(GAUSSWEEP_CALL_SITE(cusolverDn##p##getrf), handle, m, n, a, lda, work, pivots,    \
                           info);                                                                            \
  }                                                                                                          \
  int cusolverDn##p##getrs(Handle handle, int trans, int n, int nrhs, const T* lu, int lda,                  \
                           const int* pivots, T* b, int ldb, int* info) {                                    \
    return Typed<T>::getrs(GAUSSWEEP_CALL_SITE(cusolverDn##p##getrs), handle, trans, n, nrhs, lu, lda,       \
                           pivots, b, ldb, info);                                                            \
  }                                                                                                          \
  int cusolverDn##p##potrf_bufferSize(Handle handle, int uplo, int n, T* a, int lda, int* lwork) {           \
    return Typed<T>::potrf_size(GAUSSWEEP_CALL_SITE(cusolverDn##p##potrf_bufferSize), handle, uplo, n, a,    \
                                lda, lwork);                                                                 \
  }                                                                                                          \
  int cusolverDn##p##potrf(Handle handle, int uplo, int n, T* a, int lda, T* work, int lwork, int* info) {   \
    return Typed<T>::potrf(GAUSSWEEP_CALL_SITE(cusolverDn##p##potrf), handle, uplo, n, a, lda, work, lwork,  \
                           info);                                                                            \
  }                                                                                                          \
  int cusolverDn##p##potrs(Handle handle, int uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb,     \
                           int* info) {                                                                      \
    return Typed<T>::potrs(GAUSSWEEP_CALL_SITE(cusolverDn##p##potrs), handle, uplo, n, nrhs, a, lda, b, ldb, \
                           info);                                                                            \
  }                                                                                                          \
  int cusolverDn##p##potri_bufferSize(Handle handle, int uplo, int n, T* a, int lda, int* lwork) {           \
    return Typed<T>::potri_size(GAUSSWEEP_CALL_SITE(cusolverDn##p##potri_bufferSize), handle, uplo, n, a,    \
                                lda, lwork);                                                                 \
  }                                                                                                          \
  int cusolverDn##p##potri(Handle handle, int uplo, int n, T* a, int lda, T* work, int lwork, int* info) {   \
    return Typed<T>::potri(GAUSSWEEP_CALL_SITE(cusolverDn##p##potri), handle, uplo, n, a, lda, work, lwork,  \
                           info);                                                                            \
  }                                                                                                          \
  int cublas##p##trsm_v2(Handle handle, int side, int uplo, int trans, int diag, int m, int n,               \
                         const T* alpha, const T* a, int lda, T* b, int ldb) {                               \
    return Typed<T>::trsm(GAUSSWEEP_CALL_SITE(cublas##p##trsm_v2), handle, side, uplo, trans, diag, m, n,    \
                          alpha, a, lda, b, ldb);                                                            \
  }                                                                                                          \
  int cublas##p##trsm_v2_64(Handle handle, int side, int uplo, int trans, int diag, std::int64_t m,          \
                            std::int64_t n, const T* alpha, const T* a, std::int64_t lda, T* b,              \
                            std::int64_t ldb) {                                                              \
    return Typed<T>::trsm(GAUSSWEEP_CALL_SITE(cublas##p##trsm_v2_64), handle, side, uplo, trans, diag, m, n, \
                          alpha, a, lda, b, ldb);                                                            \
  }

extern "C" {
GAUSSWEEP_DN(S, float)
GAUSSWEEP_DN(D, double)

int cusolverDnXgetrf_bufferSize(Handle handle, Params params, std::int64_t m, std::int64_t n, int type,
                                const void* a, std::int64_t lda, int computed, std::size_t* bytes,
                                std::size_t* host_bytes) {
  const Call call = call_of(GAUSSWEEP_CALL_SITE(cusolverDnXgetrf_bufferSize), handle,
                            m == n && computed == type, "getrf", type, n);
  const int status =
      call_vendor(call.name, call.caller, handle, params, m, n, type, a, lda, computed, bytes, host_bytes);
  if (status != success) return status;
  const std::size_t needed = needed_bytes(call, a, lda, [&](const StreamHandle& q, std::size_t* size) {
    return by_type(type, q, [&](auto& r, auto*) { return r.getrf_work(q.handle, n, 1, size); });
  });
  if (needed > 0) *bytes = std::max(*bytes, needed + pivot_bytes(n));
  return success;
}

int cusolverDnXgetrf(Handle handle, Params params, std::int64_t m, std::int64_t n, int type, void* a,
                     std::int64_t lda, std::int64_t* pivots, int computed, void* work, std::size_t bytes,
                     void* host_work, std::size_t host_bytes, int* info) {
  const Call call =
      call_of(GAUSSWEEP_CALL_SITE(cusolverDnXgetrf), handle,
              m == n && computed == type && pivots != nullptr && bytes > pivot_bytes(n), "getrf", type, n);
  const auto ours = [&](const StreamHandle& q) {
    int* const narrow = static_cast<int*>(work);
    const std::size_t before = pivot_bytes(n);
    const gaussweep_status status = by_type(type, q, [&](auto& r, auto* t) {
      return r.getrf(q.handle, n, static_cast<decltype(t)>(a), lda, narrow, info, 1,
                     static_cast<char*>(work) + before, bytes - before);
    });
    return status == GAUSSWEEP_SUCCESS ? q.library->widen_pivots(q.handle, n, narrow, pivots) : status;
  };
  return answer(call, ours, handle, params, m, n, type, a, lda, pivots, computed, work, bytes, host_work,
                host_bytes, info);
}

int cusolverDnXgetrs(Handle handle, Params params, int trans, std::int64_t n, std::int64_t nrhs, int type,
                     const void* lu, std::int64_t lda, const std::int64_t* pivots, int type_b, void* b,
                     std::int64_t ldb, int* info) {
  const Call call =
      call_of(GAUSSWEEP_CALL_SITE(cusolverDnXgetrs), handle,
              trans == not_transposed && nrhs <= few_rhs && type_b == type, "trsv", type, n, nrhs);
  const auto ours = [&](const StreamHandle& q) {
    int* const narrow = reinterpret_cast<int*>(q.scratch);
    const std::size_t before = std::min(pivot_bytes(n), q.scratch_bytes);
    if (before < q.scratch_bytes) {
      const gaussweep_status status = q.library->narrow_pivots(q.handle, n, pivots, narrow);
      if (status != GAUSSWEEP_SUCCESS) return status;
    }
    return by_type(type, q, [&](auto& r, auto* t) {
      return r.getrs(q.handle, n, nrhs, static_cast<decltype(t)>(const_cast<void*>(lu)), lda, narrow,
                     static_cast<decltype(t)>(b), ldb, info, q.scratch + before, q.scratch_bytes - before);
    });
  };
  return answer(call, ours, handle, params, trans, n, nrhs, type, lu, lda, pivots, type_b, b, ldb, info);
}

int cusolverDnXpotrf_bufferSize(Handle handle, Params params, int uplo, std::int64_t n, int type,
                                const void* a, std::int64_t lda, int computed, std::size_t* bytes,
                                std::size_t* host_bytes) {
  const Call call = call_of(GAUSSWEEP_CALL_SITE(cusolverDnXpotrf_bufferSize), handle, computed == type,
                            "potrf", type, n, 1, uplo);
  const int status =
      call_vendor(call.name, call.caller, handle, params, uplo, n, type, a, lda, computed, bytes, host_bytes);
  if (status != success) return status;
  *bytes = std::max(*bytes, needed_bytes(call, a, lda, [&](const StreamHandle& q, std::size_t* size) {
    return by_type(type, q, [&](auto& r, auto*) { return r.potrf_work(q.handle, uplo, n, 1, size); });
  }));
  return success;
}

int cusolverDnXpotrf(Handle handle, Params params, int uplo, std::int64_t n, int type, void* a,
                     std::int64_t lda, int computed, void* work, std::size_t bytes, void* host_work,
                     std::size_t host_bytes, int* info) {
  const Call call =
      call_of(GAUSSWEEP_CALL_SITE(cusolverDnXpotrf), handle, computed == type, "potrf", type, n, 1, uplo);
  const auto ours = [&](const StreamHandle& q) {
    return by_type(type, q, [&](auto& r, auto* t) {
      return r.potrf(q.handle, uplo, n, static_cast<decltype(t)>(a), lda, info, 1, work, bytes);
    });
  };
  return answer(call, ours, handle, params, uplo, n, type, a, lda, computed, work, bytes, host_work,
                host_bytes, info);
}

int cusolverDnXpotrs(Handle handle, Params params, int uplo, std::int64_t n, std::int64_t nrhs, int type,
                     const void* a, std::int64_t lda, int type_b, void* b, std::int64_t ldb, int* info) {
  Call call =
      call_of(GAUSSWEEP_CALL_SITE(cusolverDnXpotrs), handle, type_b == type, "trsv", type, n, nrhs, uplo);
  call.task.is_transposed = true;  // potrs solves with the factor and with its transpose
  const auto ours = [&](const StreamHandle& q) {
    return by_type(type, q, [&](auto& r, auto* t) {
      return r.potrs(q.handle, uplo, n, nrhs, static_cast<decltype(t)>(const_cast<void*>(a)), lda,
                     static_cast<decltype(t)>(b), ldb, info, q.scratch, q.scratch_bytes);
    });
  };
  return answer(call, ours, handle, params, uplo, n, nrhs, type, a, lda, type_b, b, ldb, info);
}

int cusolverDnXtrtri_bufferSize(Handle handle, int uplo, int diag, std::int64_t n, int type, void* a,
                                std::int64_t lda, std::size_t* bytes, std::size_t* host_bytes) {
  const Call call = call_of(GAUSSWEEP_CALL_SITE(cusolverDnXtrtri_bufferSize), handle, diag == not_unit,
                            "trtri", type, n, 1, uplo);
  const int status =
      call_vendor(call.name, call.caller, handle, uplo, diag, n, type, a, lda, bytes, host_bytes);
  if (status != success) return status;
  *bytes = std::max(*bytes, needed_bytes(call, a, lda, [&](const StreamHandle& q, std::size_t* size) {
    return by_type(type, q, [&](auto& r, auto*) { return r.trtri_work(q.handle, uplo, n, size); });
  }));
  return success;
}

int cusolverDnXtrtri(Handle handle, int uplo, int diag, std::int64_t n, int type, void* a, std::int64_t lda,
                     void* work, std::size_t bytes, void* host_work, std::size_t host_bytes, int* info) {
  const Call call =
      call_of(GAUSSWEEP_CALL_SITE(cusolverDnXtrtri), handle, diag == not_unit, "trtri", type, n, 1, uplo);
  const auto ours = [&](const StreamHandle& q) {
    return by_type(type, q, [&](auto& r, auto* t) {
      return r.trtri(q.handle, uplo, n, static_cast<decltype(t)>(a), lda, info, work, bytes);
    });
  };
  return answer(call, ours, handle, uplo, diag, n, type, a, lda, work, bytes, host_work, host_bytes, info);
}
}
