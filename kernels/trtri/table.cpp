#include "kernels/tables.hpp"

namespace gaussweep {

std::vector<Method> trtri_methods() {
  return {};
}

}  // namespace gaussweep
