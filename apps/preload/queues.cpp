/// Finds the stream of a call, and creates libgaussweep's handle for it. Loads CUDA's driver and libgaussweep
/// on first use.

#include "apps/preload/queues.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <list>
#include <memory>

namespace gaussweep::preload {
namespace {

/// Sets `function` to a library's function. @return false if the library lacks it
template <class Function>
bool find(void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

/// The functions of CUDA's driver that are needed. All return 0 on success.
struct Driver {
  int (*get_context)(void** context);
  int (*get_device)(int* device);
  int (*get_name)(char* name, int length, int device);
  int (*get_memory)(std::size_t* bytes, int device);
  int (*retain_primary)(void** context, int device);
  int (*release_primary)(int device);
  int (*get_stream_id)(void* stream, unsigned long long* id);
  int (*is_capturing)(void* stream, int* status);
  int (*exchange_capture_mode)(int* mode);
  int (*allocate)(std::uint64_t* pointer, std::size_t bytes);
  bool is_complete;

  Driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY);
    is_complete = library != nullptr && find(library, get_context, "cuCtxGetCurrent") &&
                  find(library, get_device, "cuCtxGetDevice") && find(library, get_name, "cuDeviceGetName") &&
                  find(library, get_memory, "cuDeviceTotalMem_v2") &&
                  find(library, retain_primary, "cuDevicePrimaryCtxRetain") &&
                  find(library, release_primary, "cuDevicePrimaryCtxRelease_v2") &&
                  find(library, get_stream_id, "cuStreamGetId") &&
                  find(library, is_capturing, "cuStreamIsCapturing") &&
                  find(library, exchange_capture_mode, "cuThreadExchangeStreamCaptureMode") &&
                  find(library, allocate, "cuMemAlloc_v2");
  }
};

/// Returns the functions of CUDA's driver, loaded on the first call.
const Driver& driver() {
  static const Driver functions;
  return functions;
}

/// Returns libgaussweep from this library's folder. Returns null if that fails, after printing the reason.
const Library* load_library() {
  void* const file = dlopen("libgaussweep.so.1", RTLD_NOW | RTLD_LOCAL);
  auto library = std::make_unique<Library>();
  bool found = file != nullptr;
#define GAUSSWEEP_FIND(member, name) found = found && find(file, library->member, "gaussweep_" #name)
#define GAUSSWEEP_FIND_ROUTINE(p, name) GAUSSWEEP_FIND(p.name, p##name);
  GAUSSWEEP_FIND(create, create);
  GAUSSWEEP_FIND(set_stream, set_stream);
  GAUSSWEEP_FIND(last_error, last_error);
  GAUSSWEEP_FIND(widen_pivots, widen_pivots);
  GAUSSWEEP_FIND(narrow_pivots, narrow_pivots);
  GAUSSWEEP_ROUTINE_NAMES(GAUSSWEEP_FIND_ROUTINE, s)
  GAUSSWEEP_ROUTINE_NAMES(GAUSSWEEP_FIND_ROUTINE, d)
#undef GAUSSWEEP_FIND_ROUTINE
#undef GAUSSWEEP_FIND
  if (found) return library.release();
  std::fprintf(stderr, "libgaussweep_cusolver: %s; cuSOLVER answers all calls\n", dlerror());
  return nullptr;
}

/// Lets the current thread allocate memory in a scope while another thread records a CUDA graph.
class RelaxedCapture {
 public:
  RelaxedCapture() { driver().exchange_capture_mode(&mode_); }
  ~RelaxedCapture() { driver().exchange_capture_mode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED; then the previous mode, to restore it
};

/// Returns true if the context is the primary one of the device, the only one that libgaussweep uses.
bool is_primary(const void* context, int device) {
  void* primary = nullptr;
  if (driver().retain_primary(&primary, device) != 0) return false;
  driver().release_primary(device);
  return primary == context;
}

/// Creates the queue's handle and scratch memory. Also computes a small product: libgaussweep's first product
/// creates a cuBLAS handle, and later calls must not allocate. Leaves `queue.library` null if anything fails.
void open(StreamHandle& queue, void* stream, int device) {
  const RelaxedCapture relaxed;
  static const Library* const library = load_library();
  std::uint64_t memory = 0;
  if (library == nullptr || !is_primary(queue.context, device) ||
      driver().get_memory(&queue.most_bytes, device) != 0 ||
      driver().allocate(&memory, StreamHandle::scratch_bytes) != 0)
    return;
  queue.most_bytes /= 8;  // a workspace may have an eighth of the GPU's memory
  queue.scratch = reinterpret_cast<char*>(memory);
  const auto check = [&](gaussweep_status status) {
    if (status != GAUSSWEEP_SUCCESS)
      std::fprintf(stderr, "libgaussweep_cusolver: %s; cuSOLVER answers the calls of a stream\n",
                   library->last_error(queue.handle));
    return status == GAUSSWEEP_SUCCESS;
  };
  auto* const matrix = reinterpret_cast<double*>(queue.scratch);
  constexpr std::int64_t n = 16, size = n * n;
  if (check(library->create(&queue.handle, device)) && check(library->set_stream(queue.handle, stream)) &&
      check(library->d.gemm(queue.handle, n, n, n, matrix, n, matrix + size, n, matrix + 2 * size, n,
                            matrix + 3 * size, StreamHandle::scratch_bytes / 2)))
    queue.library = library;
}

}  // namespace

StreamHandle* find_queue(void* stream, const Task& task, bool creates, const char*& reason) {
  // Never destroyed, because CUDA may shut down before this library.
  static auto& queues = *new std::list<StreamHandle>;
  static auto& access = *new std::mutex;
  constexpr std::size_t most_queues = 64;  // each has 40 MiB of scratch memory

  int capture = 0, device = 0;
  void* context = nullptr;
  unsigned long long id = 0;
  std::array<char, 256> name{};
  reason = "CUDA's driver lacks functions";
  if (!driver().is_complete) return nullptr;
  reason = "a CUDA graph is recorded";
  if (driver().is_capturing(stream, &capture) != 0 || capture != 0) return nullptr;
  reason = "the stream is unknown";
  if (driver().get_context(&context) != 0 || driver().get_stream_id(stream, &id) != 0) return nullptr;
  const std::lock_guard<std::mutex> lock(access);
  auto queue = std::find_if(queues.begin(), queues.end(), [&](const StreamHandle& each) {
    return each.context == context && each.stream == id;
  });
  const bool is_new = queue == queues.end();
  if (is_new && (driver().get_device(&device) != 0 || driver().get_name(name.data(), 255, device) != 0))
    return nullptr;
  reason = "faster here";
  if (!is_faster(task, is_new ? name.data() : queue->device)) return nullptr;
  reason = "no workspace was queried on this stream";
  if (is_new && !creates) return nullptr;
  reason = "too many streams";
  if (is_new && queues.size() == most_queues) return nullptr;
  if (is_new) {
    queue = queues.emplace(queues.end());
    queue->context = context;
    queue->stream = id;
    queue->device = name.data();
    open(*queue, stream, device);
  }
  reason = "gaussweep does not work here";
  return queue->library == nullptr ? nullptr : &*queue;
}

}  // namespace gaussweep::preload
