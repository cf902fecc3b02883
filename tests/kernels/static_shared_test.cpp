// Tests that the emulation fills static shared memory with NaN before every block. This file registers the
// arrays of all emulated kernels with the scheduler, so this happens in all tests of the program.

#include "kernels/simt/emulated_static_shared.hpp"

#include <elf.h>

#include "kernels/simt/simt.hpp"
#include "tests/kernels/simt_testing.hpp"
#include "tests/testing.hpp"

namespace gaussweep::emulated {
namespace {

/// Returns the `__shared__` arrays of this program. In its symbol table they are the zero-initialised static
/// variables of functions in this namespace.
std::vector<simt::StaticArray> static_arrays() {
  const std::string program = file_text("/proc/self/exe");
  const auto at = [&](std::size_t offset, auto& record) {
    std::memcpy(&record, program.data() + offset, sizeof(record));
  };
  Elf64_Ehdr header;
  at(0, header);
  const auto section = [&](std::size_t index) {
    Elf64_Shdr found;
    at(header.e_shoff + index * sizeof(found), found);
    return found;
  };
  std::vector<simt::StaticArray> arrays;
  std::ptrdiff_t load_address = 0;
  for (std::size_t s = 0; s < header.e_shnum; ++s) {
    const Elf64_Shdr symbols = section(s);
    if (symbols.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr names = section(symbols.sh_link);
    for (std::size_t k = 0; k < symbols.sh_size / sizeof(Elf64_Sym); ++k) {
      Elf64_Sym symbol;
      at(symbols.sh_offset + k * sizeof(symbol), symbol);
      const std::string name = program.data() + names.sh_offset + symbol.st_name;
      if (name == "_ZN9gaussweep8emulated4simt6detail8progressE") {
        load_address = reinterpret_cast<char*>(&simt::detail::progress) - static_cast<char*>(nullptr) -
                       static_cast<std::ptrdiff_t>(symbol.st_value);
      }
      const bool is_local_static =
          name.rfind("_ZZN9gaussweep8emulated", 0) == 0 && name.rfind("_ZZN9gaussweep8emulated4simt", 0) != 0;
      if (!is_local_static || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= SHN_LORESERVE)
        continue;
      if (section(symbol.st_shndx).sh_type != SHT_NOBITS) continue;
      arrays.push_back({static_cast<unsigned char*>(nullptr) + symbol.st_value, symbol.st_size});
    }
  }
  for (simt::StaticArray& array : arrays) array.data += load_address;
  return arrays;
}

const bool is_filled = [] {
  simt::fill_static_shared(static_arrays());
  return true;
}();

/// Reverses the order of 32 numbers; only threads before `writers` store theirs.
__global__ void reverse(float* out, int writers) {
  __shared__ float numbers[32];
  const int i = static_cast<int>(threadIdx.x);
  if (i < writers) numbers[i] = static_cast<float>(i);
  __syncthreads();
  out[static_cast<int>(blockIdx.x) * 32 + i] = numbers[31 - i];
}

TEST(StaticShared, HoldsNanWhereNoThreadOfTheBlockWrote) {
  ASSERT_TRUE(is_filled);
  EXPECT_GT(static_arrays().size(), 300u);
  const auto device = test_device();
  Context context(*device);
  const DeviceArray<float> out(*device, 64);
  for (const int writers : {32, 32, 16, 16}) {
    simt::launch(context, reverse, dim3(2), dim3(32), 0, out.data(), writers);
    const std::vector<float> values = out.values();
    for (int k = 0; k < 64; ++k) {
      const int from = 31 - k % 32;
      EXPECT_EQ(std::isnan(values[static_cast<std::size_t>(k)]), from >= writers) << k << ", " << writers;
    }
  }
}

}  // namespace
}  // namespace gaussweep::emulated
