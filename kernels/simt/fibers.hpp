#pragma once
/// Boost.Context fibers on separately allocated stacks, with the annotations that the address sanitizer
/// needs.

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <utility>

#include "kernels/core/sanitized.hpp"

#ifdef GAUSSWEEP_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace gaussweep::emulated::simt::detail {

/// Memory for a fiber's stack, with a guard page below it, so that an overflow causes a segmentation fault
/// instead of silent corruption.
class Stack {
 public:
  /// @throws OutOfMemory
  Stack();
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  void* bottom() const;
  std::size_t bytes() const;
  boost::context::stack_context context() const;

 private:
  void* mapping_;
};

/// A fiber, or the host thread that switches to fibers.
class Fiber {
 public:
  /// The body, called at the first switch to the fiber. When it returns, the fiber ends, and the returned
  /// fiber runs.
  using Body = Fiber& (*)(void* argument);

  /// Represents the calling host thread.
  Fiber() = default;
  /// Makes a fiber on `stack`. The fiber must have ended before it is destroyed.
  Fiber(const Stack& stack, Body body, void* argument);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Suspends this fiber, which is the running one, and resumes `next`; returns when another fiber switches
  /// back.
  void switch_to(Fiber& next);

 private:
  inline static thread_local Fiber* previous_ = nullptr;  // the fiber that was suspended last

  boost::context::fiber fiber_;         // the suspended state; empty while it runs
  const void* stack_bottom_ = nullptr;  // for a host thread's stack: null until the first switch
  std::size_t stack_bytes_ = 0;
#ifdef GAUSSWEEP_ASAN
  void* fake_stack_ = nullptr;
#endif
};

// This function and its callers in emulated_scheduler.cpp are inline, because after a switch the processor
// mispredicts every return to a caller. These mispredictions are most of the cost of a switch.
__attribute__((always_inline)) inline void Fiber::switch_to(Fiber& next) {
  previous_ = this;
#ifdef GAUSSWEEP_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, next.stack_bottom_, next.stack_bytes_);
#endif
  boost::context::fiber suspended = std::move(next.fiber_).resume();
#ifdef GAUSSWEEP_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &previous_->stack_bottom_, &previous_->stack_bytes_);
#endif
  previous_->fiber_ = std::move(suspended);
}

}  // namespace gaussweep::emulated::simt::detail
