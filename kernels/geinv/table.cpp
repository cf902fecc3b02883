#include "kernels/tables.hpp"

namespace gaussweep {

std::vector<Method> geinv_methods() {
  return {};
}

}  // namespace gaussweep
