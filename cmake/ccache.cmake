# A compiler cache, where there is one: nothing depends on it.
find_program(GAUSSWEEP_CCACHE ccache)
if(GAUSSWEEP_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${GAUSSWEEP_CCACHE})
  # precompiled headers are cached only when told so
  set(GAUSSWEEP_CCACHE ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${GAUSSWEEP_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GAUSSWEEP_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${GAUSSWEEP_CCACHE})
endif()
