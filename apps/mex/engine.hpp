#pragma once
/// Runs one method once, from the caller's memory into the caller's memory.

#include <cstdint>
#include <memory>

#include "apps/mex/choice.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::mex {

/// What to run. The operands belong to the caller, column-major, ld == rows.
template <class T>
struct Task {
  const Method& method;
  Backend backend;
  const Parameters& parameters;
  Shape shape;
  InputViews<T> inputs;
  T* answer;
};

/// What a run says besides its answer.
struct Outcome {
  std::int64_t info = 0;  ///< LAPACK's
  Convergence convergence = Convergence::none;
  std::int64_t iterations = 0;
};

/// The devices of this process, made when they are first needed and kept: making a GPU's context and library
/// handles takes longer than most calls.
class Engine {
 public:
  const Gpu& gpu();
  /// @throws OutOfMemory, DeviceError (the device is then given up, and made anew by the next call)
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
