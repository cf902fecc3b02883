#pragma once
/// The plan reader with names of some problems; the io module itself knows none.

#include "io/plan/plan.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {

inline const std::vector<std::string>& some_problems() {
  static const std::vector<std::string> names{"gemm", "trsv", "gesv"};
  return names;
}

inline Plan parse_plan(const std::string& text, const std::string& file) {
  return parse_plan(text, file, some_problems());
}

inline Plan read_plan(const std::filesystem::path& path) {
  return read_plan(path, some_problems());
}

}  // namespace gaussweep::io
