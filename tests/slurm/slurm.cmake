# Tests on a real Slurm: each starts a cluster of two virtual nodes on loopback and stops it. They mostly
# wait.
foreach(name limits nodes array sweep)
  add_test(NAME slurm.${name} COMMAND ${CMAKE_CURRENT_LIST_DIR}/../run_python.sh ${CMAKE_CURRENT_LIST_DIR}/test_${name}.py)
  set_tests_properties(slurm.${name} PROPERTIES LABELS slurm TIMEOUT 900 COST 300 SKIP_RETURN_CODE 77
    ENVIRONMENT "GAUSSWEEP_BUILD=${CMAKE_BINARY_DIR}")
endforeach()
set_tests_properties(slurm.limits PROPERTIES LABELS "slurm;slow")  # jobs restart many times
