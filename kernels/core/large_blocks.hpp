#pragma once
/// A cache of large host memory blocks: the first touch of gigabytes takes longer than writing them again.

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <set>

namespace gaussweep {

/// The large blocks of a process (4 MiB and more). Thread-safe.
class LargeBlocks {
 public:
  static LargeBlocks& of_process();

  /// Returns at least `bytes`, uninitialized and aligned to a huge page. @throws std::bad_alloc
  std::shared_ptr<void> take(std::size_t bytes);
  /// Keeps unused blocks for later requests of about their size from now on. All blocks together have at most
  /// 2 * (largest block) + extra_bytes. By default no block is kept.
  void keep(std::size_t extra_bytes);
  /// Frees unused blocks, and keeps none from now on.
  void keep_none();
  /// Frees unused blocks.
  void trim();
  std::size_t idle_bytes() const;

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  LargeBlocks() = default;
  void give_back(Block block) noexcept;
  bool exceeds_limit() const;
  void free_oldest() noexcept;

  mutable std::mutex mutex_;
  std::deque<Block> idle_;             ///< oldest first
  std::multiset<std::size_t> in_use_;  ///< the sizes of blocks in use
  std::size_t extra_bytes_ = 0;
  bool keeps_idle_ = false;
};

}  // namespace gaussweep
