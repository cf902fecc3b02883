# version.hpp: the version, the git commit and whether the tree has changes, updated at every build. In a tree without git
# (an unpacked archive) the commit is "unknown", or that of the archive.
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
