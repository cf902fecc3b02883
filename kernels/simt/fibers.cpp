/// Runs the threads of an emulated kernel as Boost.Context fibers on separately allocated stacks.

#include "kernels/simt/fibers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "kernels/core/errors.hpp"

namespace gaussweep::emulated::simt::detail {

namespace {

#ifdef GAUSSWEEP_ASAN
constexpr std::size_t stack_bytes = 256 * 1024;  // the sanitizer's red zones need more memory
#else
constexpr std::size_t stack_bytes = 64 * 1024;
#endif

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// A stack allocator for Boost that does nothing: stacks belong to objects of class Stack, which outlive
/// their fibers.
struct ExternalStack {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

Stack::Stack() {
  mapping_ = mmap(nullptr, page_bytes() + stack_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, /*fd=*/-1, /*offset=*/0);
  if (mapping_ == MAP_FAILED) throw OutOfMemory("no memory for the stack of an emulated thread");
  if (mprotect(mapping_, page_bytes(), PROT_NONE) != 0) {
    munmap(mapping_, page_bytes() + stack_bytes);
    throw OutOfMemory("no guard page for the stack of an emulated thread: too many memory mappings");
  }
}

Stack::~Stack() {
  munmap(mapping_, page_bytes() + stack_bytes);
}

void* Stack::bottom() const {
  return static_cast<char*>(mapping_) + page_bytes();
}

std::size_t Stack::bytes() const {
  return stack_bytes;
}

boost::context::stack_context Stack::context() const {
  // If all stacks began at the end of a page, they would compete for a few cache sets. Therefore each stack
  // begins at a different offset in the last 4096 bytes, in steps of 256 bytes, to which Boost rounds.
  const std::size_t page = reinterpret_cast<std::uintptr_t>(mapping_) / page_bytes();
  boost::context::stack_context result;
  result.size = stack_bytes - page * 256 % 4096;
  result.sp = static_cast<char*>(bottom()) + result.size;
  return result;
}

Fiber::Fiber(const Stack& stack, Body body, void* argument)
    : stack_bottom_(stack.bottom()), stack_bytes_(stack.bytes()) {
#ifdef GAUSSWEEP_ASAN
  // Boost enters the new fiber for a moment, and the sanitizer must know of that switch. Otherwise it would
  // allocate variables of Boost's first function in the fake stack of the current fiber, which may end
  // earlier.
  void* fake_stack = nullptr;
  const void* own_bottom = nullptr;
  std::size_t own_bytes = 0;
  __sanitizer_start_switch_fiber(&fake_stack, stack_bottom_, stack_bytes_);
  __sanitizer_finish_switch_fiber(fake_stack, &own_bottom, &own_bytes);  // returns the current stack's bounds
  __sanitizer_start_switch_fiber(&fake_stack, own_bottom, own_bytes);
#endif
  const boost::context::stack_context context = stack.context();
  fiber_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(context.sp, context.size, context), ExternalStack{},
      [this, body, argument](boost::context::fiber&& suspended) {
#ifdef GAUSSWEEP_ASAN
        __sanitizer_finish_switch_fiber(nullptr, &previous_->stack_bottom_, &previous_->stack_bytes_);
#endif
        previous_->fiber_ = std::move(suspended);
        Fiber& next = body(argument);
        previous_ = this;
#ifdef GAUSSWEEP_ASAN
        __sanitizer_start_switch_fiber(nullptr, next.stack_bottom_, next.stack_bytes_);
#endif
        return std::move(next.fiber_);
      });
#ifdef GAUSSWEEP_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

}  // namespace gaussweep::emulated::simt::detail
