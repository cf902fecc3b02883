#pragma once
/// Small pieces of a device's memory, kept when they are given back for who next wants exactly as many bytes:
/// to take one from the device, and to give it back, costs more than a small trial's run. Which bytes are in
/// use is the device's to know; this one only counts.

#include <cstddef>
#include <map>
#include <new>
#include <unordered_map>
#include <vector>

namespace gaussweep {

class SmallBlocks {
 public:
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;  ///< of a piece that is kept
  static constexpr std::size_t most_kept = std::size_t{64} << 20;  ///< of all

  /// A kept piece of so many bytes, which is in use from now on; none: null.
  void* take(std::size_t bytes) {
    const auto found = kept_.find(bytes);
    if (found == kept_.end() || found->second.empty()) return nullptr;
    void* pointer = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) kept_.erase(found);
    kept_bytes_ -= bytes;
    in_use_[pointer] = bytes;
    return pointer;
  }
  /// A piece that the device gave: it may be kept once it is not in use any more.
  void note(void* pointer, std::size_t bytes) noexcept {
    try {
      if (bytes <= most_bytes) in_use_[pointer] = bytes;
    } catch (const std::bad_alloc&) {  // then it is not kept
    }
  }
  /// Whether a piece that is no longer in use is kept; else it goes back to the device.
  bool keep(void* pointer) noexcept try {
    const auto found = in_use_.find(pointer);
    if (found == in_use_.end()) return false;
    const std::size_t bytes = found->second;
    in_use_.erase(found);
    if (kept_bytes_ + bytes > most_kept) return false;
    kept_[bytes].push_back(pointer);
    kept_bytes_ += bytes;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
  /// All that were kept, which are kept no more: for the device, where memory is short.
  std::vector<void*> drop() {
    std::vector<void*> all;
    for (const auto& [bytes, pointers] : kept_) all.insert(all.end(), pointers.begin(), pointers.end());
    kept_.clear();
    kept_bytes_ = 0;
    return all;
  }

 private:
  std::unordered_map<void*, std::size_t> in_use_;
  std::map<std::size_t, std::vector<void*>> kept_;  ///< by bytes
  std::size_t kept_bytes_ = 0;
};

}  // namespace gaussweep
