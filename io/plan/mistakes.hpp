#pragma once
/// The mistakes of one plan, told together: who mends it sees all of them at once.

#include <algorithm>
#include <string>
#include <vector>

#include "io/files/errors.hpp"

namespace gaussweep::io {

class Mistakes {
 public:
  /// Does it; an InputError is kept. @return whether there was none
  template <class Action>
  bool attempt(Action&& action) {
    try {
      action();
      return true;
    } catch (const InputError& e) {
      // An alias repeats what it stands for, mistakes too.
      if (std::find(all_.begin(), all_.end(), e.what()) == all_.end()) all_.emplace_back(e.what());
      return false;
    }
  }
  /// @throws InputError with a line a mistake, where there were any
  void refuse() const {
    constexpr std::size_t most_told = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(all_.size(), most_told); ++i) text += (i == 0 ? "" : "\n") + all_[i];
    if (all_.size() > most_told) text += "\nand " + std::to_string(all_.size() - most_told) + " more";
    if (!all_.empty()) throw InputError(text);
  }

 private:
  std::vector<std::string> all_;
};

}  // namespace gaussweep::io
