#pragma once
/// The texts that `gaussweep methods --template` prints. CMake copies them from the files named below.

namespace gaussweep::driver {

extern const char* const method_header;         ///< kernels/registry/gaussweep_method.h
extern const char* const method_template_c;     ///< docs/methods/mine.c
extern const char* const method_template_cuda;  ///< docs/methods/mine.cu
extern const char* const method_template_plan;  ///< docs/methods/plan.yaml

}  // namespace gaussweep::driver
