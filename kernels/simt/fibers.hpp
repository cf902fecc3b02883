#pragma once
/// Flows of control that hand over to each other: Boost.Context fibers on stacks of our own, known to the
/// address sanitizer.

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>

namespace gaussweep::emulated::simt::detail {

/// Memory for a fiber's stack, with a page beneath it that may not be touched: running over is a segmentation
/// fault and not a corrupted neighbour.
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
class Strand {
 public:
  /// What a fiber does when it is first handed to. Where it returns, the fiber ends and the strand returned
  /// goes on.
  using Body = Strand& (*)(void* argument);

  /// Of the caller.
  Strand() = default;
  /// Of a fiber on `stack`. It has to have ended before this is destroyed.
  Strand(const Stack& stack, Body body, void* argument);
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  /// Leaves this strand, which is the one that runs, and goes on with `next`; returns when somebody hands
  /// back.
  void hand_to(Strand& next);

 private:
  static void arrive(boost::context::fiber&& left);

  boost::context::fiber fiber_;         // how to go on; empty while it runs
  const void* stack_bottom_ = nullptr;  // of a thread's own stack: learnt when first left
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;  // the address sanitizer's
};

}  // namespace gaussweep::emulated::simt::detail
