# version.hpp: the version, the git commit and whether the tree was dirty, looked up at every build. A tree
# without git (an unpacked archive) says "unknown".
set(GAUSSWEEP_GENERATED ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${GAUSSWEEP_GENERATED})
set(GAUSSWEEP_BUILD ${CMAKE_BUILD_TYPE})
if(GAUSSWEEP_SLOW_KERNELS)
  string(APPEND GAUSSWEEP_BUILD "/slow-kernels")
endif()
add_custom_target(gaussweep_version
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${GAUSSWEEP_GENERATED}/version.hpp
          -DVERSION=${PROJECT_VERSION} -DBUILD=${GAUSSWEEP_BUILD}
          -P ${CMAKE_SOURCE_DIR}/cmake/write_version.cmake
  BYPRODUCTS ${GAUSSWEEP_GENERATED}/version.hpp)
