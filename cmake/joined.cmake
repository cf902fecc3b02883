# joined(RESULT NAME FILES): a file NAME in the build that includes FILES, paths from the root of the tree. Their headers take
# longer to compile than they themselves, and templates that they share are compiled once. CMake itself joins no files with
# options of their own.
function(joined result name files)
  list(TRANSFORM files REPLACE "(.+)" "#include \"\\1\"\n")
  string(CONCAT text ${files})
  file(CONFIGURE OUTPUT ${name} CONTENT "${text}")
  set(${result} ${CMAKE_CURRENT_BINARY_DIR}/${name} PARENT_SCOPE)
endfunction()
