#include "kernels/tables.hpp"

namespace gaussweep {

std::vector<Method> getrf_methods() { return {}; }

}  // namespace gaussweep
