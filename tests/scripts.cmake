# Tests that are scripts, and the settings that Open MPI needs to start on one machine (see
# jobs/mpi_environment.sh).
set(GAUSSWEEP_MPI_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none)

# These tests do not depend on the build, so they run once, in the build without sanitizers.
if(NOT GAUSSWEEP_SANITIZE)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME source.dependencies COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/dependencies_test.py ${CMAKE_BINARY_DIR})
  add_test(NAME source.style COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/style_test.sh)
  add_test(NAME source.setup COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/setup_test.sh)
  add_test(NAME source.data COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/data_test.sh)
  add_test(NAME source.install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install_test.sh ${CMAKE_BINARY_DIR})
  set_tests_properties(source.dependencies source.style source.setup source.data source.install PROPERTIES
    LABELS unit TIMEOUT 900 SKIP_RETURN_CODE 77)
  set_tests_properties(source.dependencies source.style PROPERTIES COST 110)  # rather long: not alone at the end
  add_test(NAME quickstart
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/quickstart_test.sh ${CMAKE_BINARY_DIR} ${CMAKE_BINARY_DIR}/quickstart_test)
  set_tests_properties(quickstart PROPERTIES LABELS mpi TIMEOUT 900 RUN_SERIAL TRUE)
  file(GLOB files CONFIGURE_DEPENDS analysis/test_*.py)
  foreach(file ${files})
    string(REGEX REPLACE ".*/test_(.*)\\.py" "\\1" name ${file})
    add_test(NAME analysis.${name}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_python.sh ${CMAKE_CURRENT_SOURCE_DIR}/analysis/run.py ${name})
    set_tests_properties(analysis.${name} PROPERTIES LABELS analysis TIMEOUT 900 COST 120
      ENVIRONMENT "GAUSSWEEP=$<TARGET_FILE:gaussweep>")
  endforeach()
  set_tests_properties(analysis.sizes PROPERTIES LABELS "analysis;slow")
  # Compares the pages with the program.
  foreach(name commands pages plan_page)
    add_test(NAME docs.${name}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_python.sh ${CMAKE_CURRENT_SOURCE_DIR}/docs/test_${name}.py)
    set_tests_properties(docs.${name} PROPERTIES LABELS unit TIMEOUT 900 ENVIRONMENT "GAUSSWEEP_BUILD=${CMAKE_BINARY_DIR}")
  endforeach()
  # Matrix files of other writers, against their libraries. The long version is 300 files by hand.
  add_test(NAME io.odd_files COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_python.sh
    ${CMAKE_CURRENT_SOURCE_DIR}/io/matrix/odd_files.py $<TARGET_FILE:gaussweep> --files 40)
  set_tests_properties(io.odd_files PROPERTIES LABELS unit TIMEOUT 900)
  # Tests the gateway to MATLAB and Octave in Octave.
  add_test(NAME mex.octave COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/apps/mex/run.sh ${CMAKE_BINARY_DIR})
  set_tests_properties(mex.octave PROPERTIES LABELS unit TIMEOUT 1800 COST 110 SKIP_RETURN_CODE 77)
  if(NOT TEST slurm.limits)
    include(slurm/slurm.cmake)
  endif()
endif()
