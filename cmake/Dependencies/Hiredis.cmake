# hiredis >= 1.1, linked in with renamed symbols: a program that uses latchkey may link any hiredis as
# well.
#
# Gives LATCHKEY_HIREDIS_OBJECT (the library as one object file, every symbol renamed to
# latchkey_v1_<symbol>, after the namespace of the ABI) and LATCHKEY_HIREDIS_INCLUDE (the directory of
# <latchkey_hiredis/hiredis.h>, which renames in the same way).

# The first that is new enough is used; Debian 12's own 0.14 is too old.
latchkey_roots(roots hiredis HIREDIS)
foreach(root IN LISTS roots)
  set(header "${root}/include/hiredis/hiredis.h")
  if(NOT EXISTS "${header}")
    continue()
  endif()
  file(STRINGS "${header}" version REGEX "#define HIREDIS_(MAJOR|MINOR) ")
  list(TRANSFORM version REPLACE "[^0-9]" "")
  list(JOIN version "." version)
  file(GLOB archives "${root}/lib/libhiredis.a" "${root}/lib/*/libhiredis.a"
    "${root}/lib64/libhiredis.a" "${root}/lib/libhiredis_static.a")
  if(version VERSION_GREATER_EQUAL 1.1 AND archives)
    set(LATCHKEY_HIREDIS_ROOT "${root}")
    list(GET archives 0 LATCHKEY_HIREDIS_ARCHIVE)
    break()
  endif()
endforeach()
list(JOIN roots ", " roots)
latchkey_need(FILE "${LATCHKEY_HIREDIS_ROOT}"
  "hiredis >= 1.1 with its static library (libhiredis.a), and looked in ${roots}"
  "libhiredis-dev; that of Debian 12 is older" hiredis_ROOT)

set(LATCHKEY_HIREDIS_INCLUDE "${PROJECT_BINARY_DIR}/third_party/hiredis")
set(renames "${LATCHKEY_HIREDIS_INCLUDE}/latchkey_hiredis")
set(LATCHKEY_HIREDIS_OBJECT "${PROJECT_BINARY_DIR}/third_party/hiredis.o")

# Renames every global symbol of the library and every struct of its headers: otherwise C++ sees two
# definitions of one type in a program with two versions.
execute_process(COMMAND "${CMAKE_NM}" --defined-only -g -P ${LATCHKEY_HIREDIS_ARCHIVE}
  OUTPUT_VARIABLE listing ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[A-Za-z_][A-Za-z0-9_]* [A-TV-Z] " symbols "${listing}")
list(TRANSFORM symbols REPLACE "^[\n]*([A-Za-z0-9_]+) .*$" "\\1")
list(REMOVE_DUPLICATES symbols)
set(structs "")
file(GLOB headers "${LATCHKEY_HIREDIS_ROOT}/include/hiredis/*.h")
foreach(header IN LISTS headers)
  file(STRINGS "${header}" lines REGEX "struct +redis[A-Za-z]+")
  string(REGEX MATCHALL "struct +redis[A-Za-z]+" found "${lines}")
  list(TRANSFORM found REPLACE "struct +" "")
  list(APPEND structs ${found})
endforeach()
list(REMOVE_DUPLICATES structs)
list(REMOVE_ITEM structs ${symbols})

list(TRANSFORM symbols REPLACE "^(.+)$" "\\1 latchkey_v1_\\1" OUTPUT_VARIABLE pairs)
list(JOIN pairs "\n" pairs)
file(CONFIGURE OUTPUT "${renames}/symbols.map" CONTENT "${pairs}\n" @ONLY)
set(defines ${symbols} ${structs})
list(TRANSFORM defines REPLACE "^(.+)$" "#define \\1 latchkey_v1_\\1")
list(JOIN defines "\n" defines)
file(CONFIGURE OUTPUT "${renames}/rename.h" CONTENT "#pragma once\n${defines}\n" @ONLY)
file(CONFIGURE OUTPUT "${renames}/hiredis.h" @ONLY CONTENT
"#pragma once
#include <latchkey_hiredis/rename.h>
#include \"${LATCHKEY_HIREDIS_ROOT}/include/hiredis/hiredis.h\"
")

add_custom_command(OUTPUT "${LATCHKEY_HIREDIS_OBJECT}"
  COMMAND "${CMAKE_LINKER}" -r --whole-archive ${LATCHKEY_HIREDIS_ARCHIVE}
    -o "${LATCHKEY_HIREDIS_OBJECT}"
  COMMAND "${CMAKE_OBJCOPY}" "--redefine-syms=${renames}/symbols.map" "${LATCHKEY_HIREDIS_OBJECT}"
  DEPENDS ${LATCHKEY_HIREDIS_ARCHIVE} "${renames}/symbols.map"
  COMMENT "Renaming hiredis's symbols" VERBATIM)
