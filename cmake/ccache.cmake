# Uses ccache if it is installed. Clones in other folders share its results.
find_program(GAUSSWEEP_CCACHE ccache)
if(GAUSSWEEP_CCACHE)
  # ccache caches precompiled headers only with this sloppiness
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${GAUSSWEEP_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
endif()
