/// The kernels of the rows in device_table.cpp, with one misbehaviour each.

#include "kernels/simt/simt.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Spins far beyond every timeout of the tests, but not forever: some 10^11 steps.
__global__ void spin_for_long(volatile int* never_set) {
  for (long long step = 0; step < 100000000000LL; ++step) {
    if (*never_set == 12345) return;
  }
}

__global__ void write_to_nowhere(int* bad) {
  bad[threadIdx.x] = 1;
}

__global__ void diverge() {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  }
}

template <class T>
__global__ void solve_diagonal(const T* a, long long ld, T* b, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) b[i] /= a[i + i * ld];
}

}  // namespace

template <class T>
void fault_endless_kernel(Context& ctx, Operands<T>& op, const Parameters&) {
  ctx.device.fill(op.info, 0, sizeof(int));
  simt::launch(ctx, spin_for_long, dim3(1), dim3(1), 0, op.info);
}

template <class T>
void fault_illegal_address(Context& ctx, Operands<T>&, const Parameters&) {
  simt::launch(ctx, write_to_nowhere, dim3(1), dim3(1), 0, reinterpret_cast<int*>(16));
}

template <class T>
void fault_barrier(Context& ctx, Operands<T>&, const Parameters&) {
  simt::launch(ctx, diverge, dim3(1), dim3(32), 0);
}

template <class T>
void fault_device_memory(Context& ctx, Operands<T>&, const Parameters&) {
  const Buffer far_too_much(ctx.device, std::size_t{1} << 50);
}

/// Right for diagonal matrices (kind identity) only.
template <class T>
void fault_good_kernel(Context& ctx, Operands<T>& op, const Parameters&) {
  const auto blocks = static_cast<unsigned>((op.shape.n + 127) / 128);
  simt::launch(ctx, solve_diagonal<T>, dim3(blocks), dim3(128), 0, op.a.data, static_cast<long long>(op.a.ld),
               op.b.data, static_cast<long long>(op.shape.n));
}

GAUSSWEEP_INSTANTIATE(fault_endless_kernel)
GAUSSWEEP_INSTANTIATE(fault_illegal_address)
GAUSSWEEP_INSTANTIATE(fault_barrier)
GAUSSWEEP_INSTANTIATE(fault_device_memory)
GAUSSWEEP_INSTANTIATE(fault_good_kernel)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
