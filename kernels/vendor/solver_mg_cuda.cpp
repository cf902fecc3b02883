// Implements cuda_solver_mg.hpp.

#include <cuda_runtime.h>

#include "kernels/device/device_group.hpp"
#include "kernels/registry/column_blocks.hpp"
#include "kernels/simt/cuda_check.hpp"
#include "kernels/vendor/blas.hpp"
#include "kernels/vendor/cuda_solver_mg.hpp"
#include "kernels/vendor/status_cuda.hpp"

namespace gaussweep {

/// A handle of cuSOLVERMg and its grid of one row of GPUs.
struct SolverMg {
  explicit SolverMg(std::vector<int> gpu_indices) : indices(std::move(gpu_indices)) {
    const auto count = static_cast<int>(indices.size());
    GAUSSWEEP_CUSOLVER_MG(cusolverMgCreate(&handle));
    GAUSSWEEP_CUSOLVER_MG(cusolverMgDeviceSelect(handle, count, indices.data()));
    GAUSSWEEP_CUSOLVER_MG(cusolverMgCreateDeviceGrid(&grid, /*rows=*/1, count, indices.data(),
                                                     CUDALIBMG_GRID_MAPPING_COL_MAJOR));
  }
  ~SolverMg() {
    if (grid != nullptr) vendor::cusolver_mg_library().cusolverMgDestroyGrid(grid);
    if (handle != nullptr) vendor::cusolver_mg_library().cusolverMgDestroy(handle);
  }
  SolverMg(const SolverMg&) = delete;
  SolverMg& operator=(const SolverMg&) = delete;

  std::vector<int> indices;
  cusolverMgHandle_t handle = nullptr;
  cudaLibMgGrid_t grid = nullptr;
};

namespace vendor {
namespace {

template <class T>
constexpr cudaDataType data_type = sizeof(T) == sizeof(float) ? CUDA_R_32F : CUDA_R_64F;

}  // namespace

template <class T>
Context& MgSystem<T>::member(int gpu) {
  if (!op_.parts.empty()) return context_.group->use(gpu);
  context_.device.make_current();
  return context_;
}

template <class T>
MgSystem<T>::MgSystem(Context& context, Operands<T>& op, std::int64_t block)
    : context_(context),
      op_(op),
      gpus_(op.parts.empty() ? 1 : static_cast<int>(op.parts.size())),
      block_(block) {
  const std::int64_t n = op.shape.n, ld = op.parts.empty() ? op.a.ld : op.parts.front().a.ld;
  const ColumnBlocks blocks{n, block, gpus_};
  std::vector<int> indices;
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    VendorHandles& handles = vendor_handles(member(gpu));
    a_.push_back(op.parts.empty() ? op.a.data : op.parts[static_cast<std::size_t>(gpu)].a.data);
    // B has one block, which is on the first GPU.
    b_.push_back(gpu == 0 ? op.b.data : nullptr);
    pivots_.push_back(handles.pivots(std::max<std::int64_t>(1, blocks.columns_of(gpu))));
    int index = 0;
    GAUSSWEEP_CUDA_CHECK(cudaGetDevice(&index));
    indices.push_back(index);
  }
  std::shared_ptr<SolverMg>& solver = vendor_handles(context).solver_mg;
  if (!solver || solver->indices != indices) solver = std::make_shared<SolverMg>(indices);
  // The matrix has as many rows as the leading dimension, because descriptors have no leading dimension.
  GAUSSWEEP_CUSOLVER_MG(
      cusolverMgCreateMatrixDesc(&descriptor_a_, ld, n, ld, block, data_type<T>, solver->grid));
  if (op.b.cols > 0) {
    GAUSSWEEP_CUSOLVER_MG(cusolverMgCreateMatrixDesc(&descriptor_b_, op.b.ld, op.b.cols, op.b.ld, block,
                                                     data_type<T>, solver->grid));
  }
}

template <class T>
MgSystem<T>::~MgSystem() {
  for (void* descriptor : {descriptor_a_, descriptor_b_}) {
    if (descriptor != nullptr) cusolver_mg_library().cusolverMgDestroyMatrixDesc(descriptor);
  }
  cudaSetDevice(vendor_handles(context_).solver_mg->indices.front());
}

template <class T>
template <class BufferSize, class Function, class... Arguments>
int MgSystem<T>::run(const char* name, BufferSize buffer_size, Function function, Arguments... arguments) {
  const CusolverMg& library = cusolver_mg_library();
  const auto handle = vendor_handles(context_).solver_mg->handle;
  const auto require = [&](cusolverStatus_t status) {
    if (status != CUSOLVER_STATUS_SUCCESS) throw_cusolver(status, name, __FILE__, __LINE__);
  };
  std::int64_t size = 0;  // elements of workspace per GPU
  require((library.*buffer_size)(handle, arguments..., &size));
  std::vector<void*> work;
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    work.push_back(vendor_handles(member(gpu)).scratch(static_cast<std::size_t>(size) * sizeof(T)));
    GAUSSWEEP_CUDA_CHECK(cudaDeviceSynchronize());
  }
  member(0);  // cuSOLVERMg is called with the first GPU current
  int info = 0;
  require((library.*function)(handle, arguments..., work.data(), size, &info));
  for (int gpu = gpus_ - 1; gpu >= 0; --gpu) {
    member(gpu);
    GAUSSWEEP_CUDA_CHECK(cudaDeviceSynchronize());
  }
  return info;
}

template <class T>
int MgSystem<T>::set_info(int info) {
  context_.device.to_device(op_.info, &info, sizeof info);
  return info;
}

// A call with the function's name for error messages.
#define GAUSSWEEP_RUN_MG(name, ...) run(#name, &CusolverMg::name##_bufferSize, &CusolverMg::name, __VA_ARGS__)

template <class T>
int MgSystem<T>::getrf() {
  const int n = to_int(op_.shape.n);
  return set_info(GAUSSWEEP_RUN_MG(cusolverMgGetrf, n, n, a_.data(), /*row=*/1, /*column=*/1, descriptor_a_,
                                   pivots_.data(), data_type<T>));
}

template <class T>
int MgSystem<T>::potrf() {
  return set_info(GAUSSWEEP_RUN_MG(cusolverMgPotrf, CUBLAS_FILL_MODE_LOWER, to_int(op_.shape.n), a_.data(),
                                   /*row=*/1,
                                   /*column=*/1, descriptor_a_, data_type<T>));
}

template <class T>
void MgSystem<T>::getrs() {
  GAUSSWEEP_RUN_MG(cusolverMgGetrs, CUBLAS_OP_N, to_int(op_.shape.n), to_int(op_.b.cols), a_.data(),
                   /*row=*/1, /*column=*/1, descriptor_a_, pivots_.data(), b_.data(), /*row=*/1, /*column=*/1,
                   descriptor_b_, data_type<T>);
}

template <class T>
void MgSystem<T>::potrs() {
  GAUSSWEEP_RUN_MG(cusolverMgPotrs, CUBLAS_FILL_MODE_LOWER, to_int(op_.shape.n), to_int(op_.b.cols),
                   a_.data(), /*row=*/1, /*column=*/1, descriptor_a_, b_.data(), /*row=*/1, /*column=*/1,
                   descriptor_b_, data_type<T>);
}

#undef GAUSSWEEP_RUN_MG

template <class T>
void MgSystem<T>::gather_pivots() {
  const ColumnBlocks blocks{op_.shape.n, block_, gpus_};
  for (std::int64_t block = 0; block < blocks.count(); ++block) {
    const int* const from =
        pivots_[static_cast<std::size_t>(blocks.gpu_of(block))] + blocks.local_begin(block);
    context_.device.copy(op_.pivots + blocks.begin(block), from,
                         static_cast<std::size_t>(blocks.columns(block)) * sizeof(int));
  }
}

template class MgSystem<float>;
template class MgSystem<double>;

}  // namespace vendor
}  // namespace gaussweep
