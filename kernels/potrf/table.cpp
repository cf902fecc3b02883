#include "kernels/tables.hpp"

namespace gaussweep {

std::vector<Method> potrf_methods() {
  return {};
}

}  // namespace gaussweep
