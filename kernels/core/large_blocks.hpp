#pragma once
/// Large memory on the host, used again: to touch gigabytes for the first time takes longer than to fill
/// them.

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <set>

namespace gaussweep {

/// A process's blocks of some MiB and more. From any thread.
class LargeBlocks {
 public:
  static LargeBlocks& of_process();

  /// At least `bytes` that begin at a huge page; whatever was in them. @throws std::bad_alloc
  std::shared_ptr<void> take(std::size_t bytes);
  /// From now on unused blocks stay, for later requests of about their size. All blocks together are at most
  /// twice the largest and `beside` bytes. Unless this is called none stay.
  void keep(std::size_t beside);
  void keep_none();
  /// Frees those.
  void trim();
  std::size_t idle_bytes() const;

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  LargeBlocks() = default;
  void give_back(Block block) noexcept;
  bool is_too_much() const;
  void free_oldest() noexcept;

  mutable std::mutex mutex_;
  std::deque<Block> idle_;             ///< the oldest first
  std::multiset<std::size_t> in_use_;  ///< their bytes
  std::size_t beside_ = 0;
  bool keeps_ = false;
};

}  // namespace gaussweep
