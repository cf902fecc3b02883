// Defines the default `problem_tables`, in a separate file so that a program can replace it. If the program
// defines the function itself (a test does, to add a table), the linker ignores this object file.

#include "kernels/tables.hpp"

namespace gaussweep {

std::vector<ProblemTable> problem_tables() {
  return builtin_tables();
}

}  // namespace gaussweep
