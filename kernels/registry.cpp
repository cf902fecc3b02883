#include "kernels/tables.hpp"

namespace gaussweep {

Registry builtin_registry() {
  std::vector<Method> all;
  for (auto table : {gemm_methods, trsv_methods, gesv_methods, getrf_methods, potrf_methods, trtri_methods,
                     geinv_methods, poinv_methods}) {
    for (Method& method : table()) all.push_back(std::move(method));
  }
  return Registry(std::move(all));
}

}  // namespace gaussweep
