// This definition has a file of its own, so that a program can replace it: if the program defines
// `problem_tables` (a test does, to add a table), the linker does not take this file from the static library.

#include "kernels/tables.hpp"

namespace gaussweep {

std::vector<ProblemTable> problem_tables() {
  return builtin_tables();
}

}  // namespace gaussweep
