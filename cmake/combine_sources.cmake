# combine_sources(RESULT NAME FILES): writes a file NAME in the build folder that includes FILES (paths from the source root). Their
# headers take longer to compile than the files themselves, and shared templates are compiled once. CMake's unity builds
# exclude files with options of their own.
function(combine_sources result name files)
  list(TRANSFORM files REPLACE "(.+)" "#include \"\\1\"\n")
  string(CONCAT text ${files})
  file(CONFIGURE OUTPUT ${name} CONTENT "${text}")
  set(${result} ${CMAKE_CURRENT_BINARY_DIR}/${name} PARENT_SCOPE)
endfunction()
