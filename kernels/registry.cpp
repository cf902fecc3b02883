// The list of all problems, and the registry of all methods.

#include "kernels/tables.hpp"

#include <stdexcept>

#include "kernels/registry/problem_check.hpp"

namespace gaussweep {

// The only list of problems. A new problem needs a declaration here and an element in builtin_tables.
ProblemTable gemm_table();
ProblemTable trsv_table();
ProblemTable gesv_table();
ProblemTable getrf_table();
ProblemTable potrf_table();
ProblemTable posv_table();
ProblemTable trtri_table();
ProblemTable geinv_table();
ProblemTable poinv_table();

std::vector<ProblemTable> builtin_tables() {
  return {gemm_table(), trsv_table(),  gesv_table(),  getrf_table(), potrf_table(),
          posv_table(), trtri_table(), geinv_table(), poinv_table()};
}

const std::vector<Problem>& all_problems() {
  static const std::vector<Problem> all = [] {
    std::vector<Problem> listed;
    for (const ProblemTable& table : problem_tables()) {
      validate(table.problem.row());
      for (const Problem other : listed) {
        if (other->name == table.problem->name)
          throw std::logic_error("the row of problem '" + other->name +
                                 "': there already is a problem of this name");
      }
      listed.push_back(table.problem);
    }
    return listed;
  }();
  return all;
}

Registry builtin_registry() {
  std::vector<Method> all;
  for (const ProblemTable& table : problem_tables()) {
    for (Method& method : table.methods()) all.push_back(std::move(method));
  }
  return Registry(std::move(all));
}

}  // namespace gaussweep
