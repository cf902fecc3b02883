#pragma once
/// A cache of large host memory blocks. It avoids page faults, which make the first write to new memory
/// slower than later writes.

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <set>

namespace gaussweep {

/// The cache of blocks of 4 MiB and more. Thread-safe.
class LargeBlocks {
 public:
  /// Returns the process's cache.
  static LargeBlocks& of_process();

  /// Returns at least `bytes`, uninitialized and aligned to a huge page. @throws std::bad_alloc
  std::shared_ptr<void> take(std::size_t bytes);
  /// From now on, keeps released blocks as idle blocks for later requests of a similar size. Idle blocks are
  /// freed, oldest first, while all blocks together exceed 2 * (largest block) + extra_bytes. By default, no
  /// blocks are kept.
  void keep(std::size_t extra_bytes);
  /// Frees idle blocks, and frees every block that is released from now on.
  void keep_no_blocks();
  void trim();  ///< frees all idle blocks
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
