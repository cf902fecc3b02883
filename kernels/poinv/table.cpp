#include "kernels/tables.hpp"

namespace gaussweep {

std::vector<Method> poinv_methods() {
  return {};
}

}  // namespace gaussweep
