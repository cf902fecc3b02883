// The rows of the methods of cheats.cu and changed.cu. Each is a copy of the row that it imitates.
#include "kernels/tables.hpp"
#include "tests/faults/faults.hpp"

GAUSSWEEP_DECLARE_PORTABLE(cheat_keeps_in_workspace)
GAUSSWEEP_DECLARE_PORTABLE(cheat_keeps)
GAUSSWEEP_DECLARE_PORTABLE(cheat_keeps_both)
GAUSSWEEP_DECLARE_PORTABLE(cheat_right_in_sixth)
GAUSSWEEP_DECLARE_PORTABLE(cheat_wrong_in_fifth)
GAUSSWEEP_DECLARE_PORTABLE(cheat_overwrites)
GAUSSWEEP_DECLARE_PORTABLE(cheat_writes_behind)
GAUSSWEEP_DECLARE_PORTABLE(cheat_sloppy)
GAUSSWEEP_DECLARE_PORTABLE(cheat_reads_other_triangle)
GAUSSWEEP_DECLARE_PORTABLE(cheat_writes_other_triangle)
GAUSSWEEP_DECLARE_PORTABLE(cheat_info_seven)
GAUSSWEEP_DECLARE_PORTABLE(cheat_info_zero)
GAUSSWEEP_DECLARE_PORTABLE(gemm_fault_changed)

namespace gaussweep::faults {
namespace {

/// Returns the row of the correct method that the cheat imitates, with the cheat's entries.
Method cheat(const char* problem, const char* honest, const char* variant, const char* summary,
             PortableEntries entries) {
  static const Registry registry = builtin_registry();
  Method method = *registry.find(Problem::named(problem), honest);
  method.variant = variant;
  method.summary = summary;
  method.cuda = entries.cuda;
  method.emulated = entries.emulated;
  return method;
}

}  // namespace

Method changed_method() {
  Method method = cheat("gemm", "shared", "fault_changed", "slower where the environment says so",
                        GAUSSWEEP_ENTRIES(gemm_fault_changed));
  method.parameters.push_back(integer_parameter("steps", 0, 0, 1 << 30, "products one after another"));
  method.parameters.push_back(integer_parameter("launches", 1, 1, 4096, "kernels that share them"));
  method.parameters.push_back(integer_parameter("waits", 0, 0, 4096, "times that the host reads an element"));
  return method;
}

std::vector<Method> cheats() {
  Method in_workspace =
      cheat("gemm", "direct", "cheat_keeps_in_workspace", "keeps its answer in its workspace",
            GAUSSWEEP_ENTRIES(cheat_keeps_in_workspace));
  in_workspace.workspace_bytes = [](const Shape& s, const Parameters&, std::size_t element) {
    return aligned_workspace_bytes(s.m * s.n, element);
  };
  return {
      std::move(in_workspace),
      cheat("gemm", "direct", "cheat_keeps", "keeps its answer", GAUSSWEEP_ENTRIES(cheat_keeps)),
      cheat("gemm", "direct", "cheat_keeps_both", "keeps an answer for either sign",
            GAUSSWEEP_ENTRIES(cheat_keeps_both)),
      cheat("gemm", "direct", "cheat_right_in_sixth", "right in every sixth run",
            GAUSSWEEP_ENTRIES(cheat_right_in_sixth)),
      cheat("gemm", "direct", "cheat_wrong_in_fifth", "wrong in every fifth run",
            GAUSSWEEP_ENTRIES(cheat_wrong_in_fifth)),
      cheat("gemm", "direct", "cheat_overwrites", "writes into B", GAUSSWEEP_ENTRIES(cheat_overwrites)),
      cheat("gemm", "direct", "cheat_writes_behind", "writes behind B",
            GAUSSWEEP_ENTRIES(cheat_writes_behind)),
      cheat("trsv", "column_sweep", "cheat_sloppy", "off by 1e-13", GAUSSWEEP_ENTRIES(cheat_sloppy)),
      cheat("trsv", "column_sweep", "cheat_reads_other_triangle", "reads the other triangle",
            GAUSSWEEP_ENTRIES(cheat_reads_other_triangle)),
      cheat("potrf", "blocked", "cheat_writes_other_triangle", "writes into the other triangle",
            GAUSSWEEP_ENTRIES(cheat_writes_other_triangle)),
      cheat("getrf", "recursive", "cheat_info_seven", "info = 7, always",
            GAUSSWEEP_ENTRIES(cheat_info_seven)),
      cheat("getrf", "recursive", "cheat_info_zero", "info = 0, always", GAUSSWEEP_ENTRIES(cheat_info_zero))};
}

}  // namespace gaussweep::faults
