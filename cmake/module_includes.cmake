# Dependency rules between modules (docs/architecture.md): what a module (a top-level folder) may include.
#
# gaussweep_module(TARGET MODULE FORBIDDEN header...) gives TARGET
#   - an include root that contains this module alone (modules that it links add theirs), and
#   - before every other include directory, a directory in which each forbidden header is an #error, so that an installed
#     system library cannot be included by mistake.

function(gaussweep_module target module)
  cmake_parse_arguments(ARG "" "" "FORBIDDEN" ${ARGN})
  set(root ${CMAKE_BINARY_DIR}/doors/${module})
  get_filename_component(parent ${root}/include/${module} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${module} ${root}/include/${module} SYMBOLIC)
  foreach(header ${ARG_FORBIDDEN})
    file(CONFIGURE OUTPUT ${root}/forbidden/${header}
         CONTENT "#error \"${module}/ must not include <${header}>: see the modules in docs/architecture.md\"\n")
  endforeach()
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${root}/include> $<INSTALL_INTERFACE:include/gaussweep>
    $<INSTALL_INTERFACE:include>)
  target_include_directories(${target} BEFORE PRIVATE ${root}/forbidden)
endfunction()

set(GAUSSWEEP_CUDA_HEADERS cuda.h cuda_runtime.h cuda_runtime_api.h cublas_v2.h cusolverDn.h)
set(GAUSSWEEP_IO_HEADERS hdf5.h H5Cpp.h yaml-cpp/yaml.h nlohmann/json.hpp nlohmann/json_fwd.hpp png.h netpbm/pgm.h sqlite3.h)
set(GAUSSWEEP_DRIVER_HEADERS mpi.h CLI/CLI.hpp spdlog/spdlog.h fmt/core.h fmt/format.h)
