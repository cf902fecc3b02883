#pragma once
/// Runs one method once, with operands and answer in the caller's memory.

#include <cstdint>
#include <memory>

#include "apps/mex/choice.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::mex {

/// One run of a method. The caller owns the operands and the answer, which are column-major with ld == rows.
template <class T>
struct Task {
  const Method& method;
  Backend backend;
  const Parameters& parameters;
  Shape shape;
  InputViews<T> inputs;
  T* answer;
};

/// The results of a run other than its answer.
struct Outcome {
  std::int64_t info = 0;  ///< LAPACK's info
  Convergence convergence = Convergence::none;
  std::int64_t iterations = 0;
};

/// The devices of this process. They are created at their first use and kept, because creating a GPU's
/// context and library handles takes longer than most calls.
class Engine {
 public:
  const Gpu& gpu();
  /// Runs a method and writes its answer to the task's memory. @throws OutOfMemory; DeviceError, after which
  /// the device is released, and the next call creates it again
  template <class T>
  Outcome run(const Task<T>& task);

 private:
  struct OpenDevice;
  Context& context(Backend backend);
  std::unique_ptr<OpenDevice>& opened(Backend backend);
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<OpenDevice> devices_[3];

 public:
  Engine();
  ~Engine();
};

}  // namespace gaussweep::mex
