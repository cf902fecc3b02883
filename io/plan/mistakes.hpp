#pragma once
/// Collects the mistakes of a plan, so that one run reports all of them.

#include <set>
#include <string>
#include <vector>

#include "io/files/errors.hpp"

namespace gaussweep::io {

/// The mistakes found so far.
class Mistakes {
 public:
  /// Runs `action` and keeps its InputError. Does nothing once `max_kept` mistakes are kept.
  /// @return true if it ran without a mistake
  template <class Action>
  bool attempt(Action&& action) {
    if (kept_.size() >= max_kept) {
      is_truncated_ = true;
      return false;
    }
    try {
      action();
      return true;
    } catch (const InputError& e) {
      // An alias repeats the mistakes of its anchor. The set finds repetitions fast, even among thousands.
      const bool is_new = kept_.insert(e.what()).second;
      if (is_new && reported_.size() < max_reported) reported_.emplace_back(e.what());
      return false;
    }
  }
  /// @throws InputError with one line per mistake, if there were any
  void refuse() const {
    std::string text;
    for (const std::string& mistake : reported_) text += (text.empty() ? "" : "\n") + mistake;
    if (kept_.size() > reported_.size()) {
      text += std::string("\nand ") + (is_truncated_ ? "at least " : "") +
              std::to_string(kept_.size() - reported_.size()) + " more";
    }
    if (!reported_.empty()) throw InputError(text);
  }

 private:
  static constexpr std::size_t max_reported = 20;
  static constexpr std::size_t max_kept = 1000;  ///< limits the time for a file with very many mistakes
  std::set<std::string> kept_;                   ///< mistakes without repetitions
  std::vector<std::string> reported_;            ///< the first `max_reported`, in the plan's order
  bool is_truncated_ = false;
};

}  // namespace gaussweep::io
