# Applies every mutation of this folder to a copy of the sources that it names.
#
#   cmake -D SOURCE_DIR=... -D OUTPUT_DIR=... -P mutate.cmake
#
# A mutation is a file <name>.mutation: a sentence that says what is wrong, then one or more changes:
#
#   @@ <file, from the root of the repository>
#   <<<<
#   <text that occurs in the file exactly once>
#   ====
#   <text that replaces it, in which `mutated("<name>")` selects the wrong behaviour>
#   >>>>
#
# Writes the changed copies to OUTPUT_DIR, and mutations.inc: a line `"<name>",` for each mutation.
cmake_policy(VERSION 3.25)

# Cuts `text` at the first `mark`: the part before it is stored in `before`, the rest in `text`.
macro(cut text mark before)
  string(FIND "${${text}}" "${mark}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "${mutation}: '${mark}' is missing")
  endif()
  string(SUBSTRING "${${text}}" 0 ${position} ${before})
  string(LENGTH "${mark}" length)
  math(EXPR position "${position} + ${length}")
  string(SUBSTRING "${${text}}" ${position} -1 ${text})
endmacro()

# Replaces `old`, which must occur in the copy of `file` exactly once.
function(change file old new)
  set(copy "${OUTPUT_DIR}/${file}")
  if(EXISTS "${copy}")
    file(READ "${copy}" content)
  else()
    file(READ "${SOURCE_DIR}/${file}" content)
    string(PREPEND content "#include \"sim/mutations/mutated.hpp\"\n")
  endif()
  cut(content "${old}" before)
  string(FIND "${content}" "${old}" again)
  if(NOT again EQUAL -1)
    message(FATAL_ERROR "${mutation}: the text stands twice in ${file}:\n${old}")
  endif()
  file(WRITE "${copy}" "${before}${new}${content}")
endfunction()

file(REMOVE_RECURSE "${OUTPUT_DIR}/src")
file(GLOB mutations "${CMAKE_CURRENT_LIST_DIR}/*.mutation")
set(names "")
foreach(mutation IN LISTS mutations)
  get_filename_component(name "${mutation}" NAME_WE)
  string(APPEND names "\"${name}\",\n")
  file(READ "${mutation}" rest)
  string(FIND "${rest}" "\n@@ " position)
  while(NOT position EQUAL -1)
    cut(rest "\n@@ " ignored)
    cut(rest "\n<<<<\n" file)
    cut(rest "\n====\n" old)
    cut(rest "\n>>>>\n" new)
    change("${file}" "${old}" "${new}")
    string(FIND "\n${rest}" "\n@@ " position)
    string(PREPEND rest "\n")
  endwhile()
endforeach()
file(WRITE "${OUTPUT_DIR}/mutations.inc" "${names}")
