#include "kernels/tables.hpp"

namespace gaussweep {

// The list of problems, a line each here and below; there is no other.
ProblemTable gemm_table();
ProblemTable trsv_table();
ProblemTable gesv_table();
ProblemTable getrf_table();
ProblemTable potrf_table();
ProblemTable trtri_table();
ProblemTable geinv_table();
ProblemTable poinv_table();

std::vector<ProblemTable> builtin_tables() {
  return {gemm_table(),  trsv_table(),  gesv_table(),  getrf_table(),
          potrf_table(), trtri_table(), geinv_table(), poinv_table()};
}

Registry builtin_registry() {
  std::vector<Method> all;
  for (const ProblemTable& table : problem_tables()) {
    for (Method& method : table.methods()) all.push_back(std::move(method));
  }
  return Registry(std::move(all));
}

}  // namespace gaussweep
