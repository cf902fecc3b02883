#pragma once
/// cuSOLVERMg, NVIDIA's solvers for one matrix on several GPUs. Exists only in builds with CUDA.

#include <cstdint>
#include <vector>

#include "kernels/registry/method.hpp"
#include "kernels/vendor/handles.hpp"

namespace gaussweep::vendor {

/// A system of equations in cuSOLVERMg's layout: block columns of A on all GPUs, B and info on the first GPU.
/// All functions wait for the GPUs, because cuSOLVERMg works on its own streams. Workspace and pivots are
/// kept in the VendorHandles of each GPU, so that only the first run of a size (the warm-up) allocates them.
/// @throws DeviceError, OutOfMemory
template <class T>
class MgSystem {
 public:
  /// @param op the operands. If op.parts is empty, A is on the context's GPU
  /// @param block number of columns per block of A
  MgSystem(Context& context, Operands<T>& op, std::int64_t block);
  ~MgSystem();
  MgSystem(const MgSystem&) = delete;
  MgSystem& operator=(const MgSystem&) = delete;

  /// Factor A and set info. Return info.
  int getrf();
  int potrf();
  /// Solve with the factors; the solution replaces B. @pre B has at most `block` columns
  void getrs();
  void potrs();
  /// Copies the pivots of getrf, from 1, to the operands on the first GPU.
  void gather_pivots();

 private:
  /// Makes a GPU of the group current and returns its context.
  Context& member(int gpu);
  /// Calls a function of cuSOLVERMg; waits for all GPUs before and after the call. Returns the info of the
  /// function.
  /// @param name for error messages
  /// @param buffer_size the function that returns the workspace's size, with the same arguments
  template <class BufferSize, class Function, class... Arguments>
  int run(const char* name, BufferSize buffer_size, Function function, Arguments... arguments);
  /// Copies info to the operands on the first GPU, and returns it.
  int set_info(int info);

  Context& context_;
  Operands<T>& op_;
  int gpus_;
  std::int64_t block_;
  std::vector<void*> a_, b_;
  std::vector<int*> pivots_;
  void *descriptor_a_ = nullptr, *descriptor_b_ = nullptr;
};

}  // namespace gaussweep::vendor
