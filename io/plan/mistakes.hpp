#pragma once
/// The mistakes of one plan, told together: who mends it sees all of them at once.

#include <set>
#include <string>
#include <vector>

#include "io/files/errors.hpp"

namespace gaussweep::io {

class Mistakes {
 public:
  /// Runs `action` and keeps its InputError. Does nothing once `most_kept` are kept.
  /// @return true if it ran without a mistake
  template <class Action>
  bool attempt(Action&& action) {
    if (kept_.size() >= most_kept) {
      has_more_ = true;
      return false;
    }
    try {
      action();
      return true;
    } catch (const InputError& e) {
      // An alias repeats the mistakes of its anchor. The set keeps this fast for thousands of them.
      const bool is_new = kept_.insert(e.what()).second;
      if (is_new && told_.size() < most_told) told_.emplace_back(e.what());
      return false;
    }
  }
  /// @throws InputError with one line per mistake, if there were any
  void refuse() const {
    std::string text;
    for (const std::string& mistake : told_) text += (text.empty() ? "" : "\n") + mistake;
    if (kept_.size() > told_.size()) {
      text += std::string("\nand ") + (has_more_ ? "at least " : "") +
              std::to_string(kept_.size() - told_.size()) + " more";
    }
    if (!told_.empty()) throw InputError(text);
  }

 private:
  static constexpr std::size_t most_told = 20;
  static constexpr std::size_t most_kept = 1000;  ///< bounds the time that a file full of mistakes takes
  std::set<std::string> kept_;                    ///< each once
  std::vector<std::string> told_;                 ///< the first ones, in the order of the plan
  bool has_more_ = false;
};

}  // namespace gaussweep::io
