// Compiles the CPU microkernels of tile_steps.hpp for several instruction sets and selects one at run time.

#include "kernels/check/tile.hpp"

namespace gaussweep::tiles {
namespace {

using Four __attribute__((vector_size(4 * sizeof(double)), aligned(8), may_alias)) = double;

namespace baseline {
using Lanes = Four;
#include "kernels/check/tile_steps.hpp"
}  // namespace baseline

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define GAUSSWEEP_HAS_WIDE_TILES
namespace avx2 {
#pragma GCC push_options
#pragma GCC target("avx2")
using Lanes = Four;
#include "kernels/check/tile_steps.hpp"
#pragma GCC pop_options
}  // namespace avx2
namespace avx512 {
#pragma GCC push_options
#pragma GCC target("avx512f")
using Lanes __attribute__((vector_size(8 * sizeof(double)), aligned(8), may_alias)) = double;
#include "kernels/check/tile_steps.hpp"
#pragma GCC pop_options
}  // namespace avx512

/// Returns the widest microkernel that this processor supports and that uses at most `lanes` doubles.
AddProducts widest(int lanes, AddProducts wide, AddProducts narrow, AddProducts portable) {
  if (lanes >= 8 && __builtin_cpu_supports("avx512f") != 0) return wide;
  return lanes >= 4 && __builtin_cpu_supports("avx2") != 0 ? narrow : portable;
}
#endif

}  // namespace

AddProducts split_products([[maybe_unused]] int lanes) {
#ifdef GAUSSWEEP_HAS_WIDE_TILES
  return widest(lanes, avx512::add_split_products, avx2::add_split_products, baseline::add_split_products);
#else
  return baseline::add_split_products;
#endif
}

AddProducts plain_products([[maybe_unused]] int lanes) {
#ifdef GAUSSWEEP_HAS_WIDE_TILES
  return widest(lanes, avx512::add_plain_products, avx2::add_plain_products, baseline::add_plain_products);
#else
  return baseline::add_plain_products;
#endif
}

}  // namespace gaussweep::tiles
