#pragma once
/// Flows of control that hand over to each other: Boost.Context fibers on stacks of our own, known to the
/// address sanitizer.

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <utility>

#include "kernels/core/sanitized.hpp"

#ifdef GAUSSWEEP_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace gaussweep::emulated::simt::detail {

/// Memory for a fiber's stack, with a guard page beneath it: an overflow is a segmentation fault and not a
/// corrupted neighbour.
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

/// The calling thread's own flow of control, or that of a fiber.
class Fiber {
 public:
  /// What a fiber does when it is first handed to. Where it returns, the fiber ends and the fiber returned
  /// goes on.
  using Body = Fiber& (*)(void* argument);

  /// Of the caller.
  Fiber() = default;
  /// Of a fiber on `stack`. It has to have ended before this is destroyed.
  Fiber(const Stack& stack, Body body, void* argument);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Leaves this fiber, which is the one that runs, and goes on with `next`; returns when somebody hands
  /// back.
  void hand_to(Fiber& next);

 private:
  inline static thread_local Fiber* left_ = nullptr;  // the fiber that was left last

  boost::context::fiber fiber_;         // how to go on; empty while it runs
  const void* stack_bottom_ = nullptr;  // of a thread's own stack: learnt when first left
  std::size_t stack_bytes_ = 0;
#ifdef GAUSSWEEP_ASAN
  void* fake_stack_ = nullptr;
#endif
};

// Inline, as are the steps towards it in emulated_scheduler.cpp. A processor mispredicts every return from a
// function that another fiber had called, and these are most of what a switch costs.
__attribute__((always_inline)) inline void Fiber::hand_to(Fiber& next) {
  left_ = this;
#ifdef GAUSSWEEP_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, next.stack_bottom_, next.stack_bytes_);
#endif
  boost::context::fiber left = std::move(next.fiber_).resume();
#ifdef GAUSSWEEP_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &left_->stack_bottom_, &left_->stack_bytes_);
#endif
  left_->fiber_ = std::move(left);
}

}  // namespace gaussweep::emulated::simt::detail
