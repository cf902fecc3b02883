# The files of `cmake --install`: the program with manual page and completion, the report, plans and Slurm scripts, the
# documentation, and the methods as a CMake package (find_package(gaussweep), target gaussweep::kernels).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(share ${CMAKE_INSTALL_DATADIR}/gaussweep)
set_target_properties(gaussweep PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
# The program writes its manual page and completion, because its parser knows every command and option.
set(manual ${CMAKE_BINARY_DIR}/generated/gaussweep.1)
set(completion ${CMAKE_BINARY_DIR}/generated/gaussweep.bash)
install(CODE "
  set(program \"$<TARGET_FILE:gaussweep>\")
  if(NOT EXISTS \"\${program}\")
    message(FATAL_ERROR \"no program to install; first: cmake --build ${CMAKE_BINARY_DIR} --target gaussweep\")
  endif()
  execute_process(COMMAND \"\${program}\" help --man OUTPUT_FILE \"${manual}\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND \"\${program}\" help --bash OUTPUT_FILE \"${completion}\" COMMAND_ERROR_IS_FATAL ANY)")
install(TARGETS gaussweep)
install(DIRECTORY analysis jobs DESTINATION ${share} USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
install(FILES README.md CONTRIBUTING.md CHANGELOG.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES io/SCHEMA.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/io)  # the pages link to these files there
install(FILES tests/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/tests)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The loader as a Python package. Below /usr Debian's python3 finds it, elsewhere PYTHONPATH must name the folder.
set(GAUSSWEEP_PYTHON_DIR lib/python3/dist-packages CACHE STRING "folder of the Python package, below the prefix")
install(FILES analysis/__init__.py analysis/loader.py analysis/conditions.py analysis/hdf5.py analysis/identity.py
  analysis/restorations.py analysis/rounds.py analysis/runs.py analysis/words.py
  DESTINATION ${GAUSSWEEP_PYTHON_DIR}/gaussweep)

file(RELATIVE_PATH report ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/gaussweep/analysis/report)
file(CREATE_LINK ${report} ${CMAKE_BINARY_DIR}/generated/gaussweep-report SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/generated/gaussweep-report DESTINATION ${CMAKE_INSTALL_BINDIR})

install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME gaussweep)

set(kernels gaussweep_kernels)
set_target_properties(gaussweep_kernels PROPERTIES EXPORT_NAME kernels)
if(GAUSSWEEP_HAS_CUDA)
  list(APPEND kernels gaussweep_kernels_cuda)
endif()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gaussweep)
install(TARGETS ${kernels} gaussweep_c EXPORT gaussweep)
if(TARGET gaussweep_cusolver)
  install(TARGETS gaussweep_cusolver DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY kernels DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gaussweep FILES_MATCHING PATTERN "*.hpp")
install(FILES kernels/gaussweep.hpp apps/c_api/gaussweep.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gaussweep)
install(FILES kernels/registry/gaussweep_method.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gaussweep RENAME method.h)
file(RELATIVE_PATH GAUSSWEEP_UP_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(apps/c_api/gaussweep.pc.in generated/gaussweep.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/gaussweep.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT gaussweep NAMESPACE gaussweep:: FILE gaussweepTargets.cmake DESTINATION ${package})
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/gaussweepConfig.cmake @ONLY CONTENT [[
include(CMakeFindDependencyMacro)
find_dependency(Threads)
if("@GAUSSWEEP_HAS_CUDA@")
  find_dependency(CUDAToolkit)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/gaussweepTargets.cmake)
]])
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/gaussweepConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/gaussweepConfig.cmake ${CMAKE_BINARY_DIR}/generated/gaussweepConfigVersion.cmake
  DESTINATION ${package})
