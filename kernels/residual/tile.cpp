#include "kernels/residual/tile.hpp"

namespace gaussweep::tiles {
namespace {

using Lanes __attribute__((vector_size(4 * sizeof(double)), aligned(8), may_alias)) = double;

namespace anywhere {
#include "kernels/residual/tile_steps.hpp"
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define GAUSSWEEP_HAS_AVX2_TILES
namespace avx2 {
#pragma GCC push_options
#pragma GCC target("avx2")
#include "kernels/residual/tile_steps.hpp"
#pragma GCC pop_options
}  // namespace avx2
#endif

#ifdef GAUSSWEEP_HAS_AVX2_TILES
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0;
}
#endif

}  // namespace

AddProducts split_products([[maybe_unused]] bool portable) {
#ifdef GAUSSWEEP_HAS_AVX2_TILES
  if (!portable && has_avx2()) return avx2::add_split_products;
#endif
  return anywhere::add_split_products;
}

AddProducts plain_products([[maybe_unused]] bool portable) {
#ifdef GAUSSWEEP_HAS_AVX2_TILES
  if (!portable && has_avx2()) return avx2::add_plain_products;
#endif
  return anywhere::add_plain_products;
}

}  // namespace gaussweep::tiles
