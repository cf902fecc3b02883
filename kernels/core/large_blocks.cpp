/// Implements large_blocks.hpp: keeps freed large blocks of host memory for later allocations.

#include "kernels/core/large_blocks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace gaussweep {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

LargeBlocks& LargeBlocks::of_process() {
  static auto* const blocks = new LargeBlocks;  // outlives every matrix
  return *blocks;
}

std::shared_ptr<void> LargeBlocks::take(std::size_t bytes) {
  const std::size_t rounded_bytes = (bytes + huge_page - 1) / huge_page * huge_page;
  Block block{nullptr, rounded_bytes};
  {
    const std::lock_guard lock(mutex_);
    // A block of more than 1.5 times the size would waste memory.
    const auto fits = [&](const Block& b) {
      return b.bytes >= rounded_bytes && b.bytes <= rounded_bytes + rounded_bytes / 2;
    };
    const auto found = std::find_if(idle_.begin(), idle_.end(), fits);
    if (found != idle_.end()) {
      block = *found;
      idle_.erase(found);
    }
    while (block.memory == nullptr && !idle_.empty())
      free_oldest();  // no idle block fits, so the caller now uses other sizes
    in_use_.insert(block.bytes);
  }
  if (block.memory == nullptr) {
    block.memory = std::aligned_alloc(huge_page, rounded_bytes);
    if (block.memory == nullptr) {
      const std::lock_guard lock(mutex_);
      in_use_.erase(in_use_.find(rounded_bytes));
      throw std::bad_alloc();
    }
    // Only a hint: if it fails, the memory consists of small pages.
    ::madvise(block.memory, rounded_bytes, MADV_HUGEPAGE);
  }
  return {block.memory, [this, block](void*) { give_back(block); }};
}

void LargeBlocks::give_back(Block block) noexcept {
  const std::lock_guard lock(mutex_);
  in_use_.erase(in_use_.find(block.bytes));
  try {
    idle_.push_back(block);
  } catch (const std::bad_alloc&) {
    std::free(block.memory);
  }
  while (!idle_.empty() && exceeds_limit()) free_oldest();
}

/// Returns true if idle blocks have to be freed (LargeBlocks::keep). @pre the caller holds the lock
bool LargeBlocks::exceeds_limit() const {
  std::size_t total = 0, largest = in_use_.empty() ? 0 : *in_use_.rbegin();
  for (const std::size_t bytes : in_use_) total += bytes;
  for (const Block& block : idle_) {
    total += block.bytes;
    largest = std::max(largest, block.bytes);
  }
  return !keeps_idle_ || total > 2 * largest + extra_bytes_;
}

void LargeBlocks::free_oldest() noexcept {
  std::free(idle_.front().memory);
  idle_.pop_front();
}

void LargeBlocks::keep(std::size_t extra_bytes) {
  const std::lock_guard lock(mutex_);
  keeps_idle_ = true;
  extra_bytes_ = extra_bytes;
}

void LargeBlocks::keep_no_blocks() {
  {
    const std::lock_guard lock(mutex_);
    keeps_idle_ = false;
  }
  trim();
}

void LargeBlocks::trim() {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) free_oldest();
}

std::size_t LargeBlocks::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const Block& block : idle_) sum += block.bytes;
  return sum;
}

}  // namespace gaussweep
