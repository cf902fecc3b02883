/// Implements recording.hpp: captures work on a GPU's stream as a CUDA graph.

#include <cuda_runtime.h>

#include <exception>
#include <vector>

#include "kernels/core/errors.hpp"
#include "kernels/device/device_facts.hpp"
#include "kernels/device/recording.hpp"
#include "kernels/simt/cuda_check.hpp"

namespace gaussweep {

namespace {

/// Owns a captured graph.
struct GraphOwner {
  cudaGraph_t graph = nullptr;
  ~GraphOwner() {
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
};

std::size_t kernels_in(cudaGraph_t graph) {
  std::size_t count = 0, kernels = 0;
  GAUSSWEEP_CUDA_CHECK(cudaGraphGetNodes(graph, /*nodes=*/nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) GAUSSWEEP_CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    GAUSSWEEP_CUDA_CHECK(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeKernel) ++kernels;
  }
  return kernels;
}

class CudaRecording final : public Recording {
 public:
  CudaRecording(cudaStream_t stream, cudaGraph_t graph) : stream_(stream), kernels_(kernels_in(graph)) {
    GAUSSWEEP_CUDA_CHECK(cudaGraphInstantiateWithFlags(&executable_, graph, /*flags=*/0));
  }
  ~CudaRecording() override { cudaGraphExecDestroy(executable_); }
  CudaRecording(const CudaRecording&) = delete;
  CudaRecording& operator=(const CudaRecording&) = delete;

  void replay() override { GAUSSWEEP_CUDA_CHECK(cudaGraphLaunch(executable_, stream_)); }
  std::size_t kernels() const override { return kernels_; }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
  std::size_t kernels_;
};

}  // namespace

std::unique_ptr<Recording> record_work(Device& device, const std::function<void()>& queue,
                                       bool* leaves_work) {
  if (device.backend() != Backend::cuda) return nullptr;
  device.synchronize();  // also makes the GPU current for this thread
  auto* const stream = static_cast<cudaStream_t>(device.stream());
  GAUSSWEEP_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  bool is_impossible = false;
  std::exception_ptr other_exception;
  try {
    queue();
  } catch (const DeviceError&) {
    is_impossible = true;
  } catch (const OutOfMemory&) {  // stream capture refuses allocations too
    is_impossible = true;
  } catch (...) {
    other_exception = std::current_exception();
  }
  GraphOwner owner;
  const cudaError_t end = cudaStreamEndCapture(stream, &owner.graph);
  // A call that a graph cannot contain invalidates the capture. The capture therefore fails even if a method
  // ignores the error of that call.
  if (end != cudaSuccess) is_impossible = true;
  if (leaves_work != nullptr) *leaves_work = end == cudaErrorStreamCaptureUnjoined;
  if (!is_impossible && other_exception == nullptr)
    return std::make_unique<CudaRecording>(stream, owner.graph);
  cudaGetLastError();  // clears the error of the failed call
  if (!is_impossible) std::rethrow_exception(other_exception);
  device.synchronize();  // throws if the device itself has failed
  return nullptr;
}

std::size_t cuda_cache_bytes(Device& device) {
  device.synchronize();  // makes the GPU current for this thread
  int index = 0, bytes = 0;
  GAUSSWEEP_CUDA_CHECK(cudaGetDevice(&index));
  GAUSSWEEP_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, index));
  return static_cast<std::size_t>(bytes);
}

}  // namespace gaussweep
