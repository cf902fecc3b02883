# Run at build time by version.cmake.
set(commit unknown)
set(dirty false)
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE head RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed EQUAL 0)
  set(commit ${head})
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(NOT changes STREQUAL "")
    set(dirty true)
  endif()
else()
  # git archive writes the commit to this file
  file(STRINGS ${SOURCE}/cmake/commit.txt line LIMIT_COUNT 1)
  if(line MATCHES "^[0-9a-f]+$")
    set(commit ${line})
  endif()
endif()
set(text "#pragma once
/// Written by cmake/write_version.cmake.
namespace gaussweep {
inline constexpr const char* version_string = \"${VERSION}\";
inline constexpr const char* version_commit = \"${commit}\";
inline constexpr bool version_dirty = ${dirty};
inline constexpr const char* version_build = \"${BUILD}\";
}  // namespace gaussweep
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
