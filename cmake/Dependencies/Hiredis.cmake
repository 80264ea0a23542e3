# hiredis >= 1.1 with hiredis_ssl, linked in with renamed symbols: a program that uses latchkey may
# link any hiredis as well.
#
# Gives LATCHKEY_HIREDIS_OBJECT (both libraries in one object file, every symbol renamed to
# latchkey_<symbol>) and LATCHKEY_HIREDIS_INCLUDE (the directory of <latchkey_hiredis/hiredis.h> and
# <latchkey_hiredis/hiredis_ssl.h>, which rename in the same way).

# The newest of the candidates is used; Debian 12's own 0.14 is too old.
set(places /usr/local /usr "${LATCHKEY_DEPS}/root/usr")
foreach(place IN LISTS places)
  set(header "${place}/include/hiredis/hiredis.h")
  if(NOT EXISTS "${header}" OR NOT EXISTS "${place}/include/hiredis/hiredis_ssl.h")
    continue()
  endif()
  file(STRINGS "${header}" version REGEX "#define HIREDIS_(MAJOR|MINOR) ")
  list(TRANSFORM version REPLACE "[^0-9]" "")
  list(JOIN version "." version)
  file(GLOB archives "${place}/lib/libhiredis*.a" "${place}/lib/*/libhiredis*.a"
    "${place}/lib64/libhiredis*.a")
  list(LENGTH archives count)
  if(version VERSION_GREATER_EQUAL 1.1 AND count EQUAL 2)
    set(LATCHKEY_HIREDIS_ROOT "${place}")
    set(LATCHKEY_HIREDIS_ARCHIVES ${archives})
    break()
  endif()
endforeach()
latchkey_need(FILE "${LATCHKEY_HIREDIS_ROOT}" "hiredis >= 1.1 with its static libraries"
  "libhiredis-dev, taken from Debian 13")

set(LATCHKEY_HIREDIS_INCLUDE "${PROJECT_BINARY_DIR}/third_party/hiredis")
set(renames "${LATCHKEY_HIREDIS_INCLUDE}/latchkey_hiredis")
set(LATCHKEY_HIREDIS_OBJECT "${PROJECT_BINARY_DIR}/third_party/hiredis.o")

# Renames every global symbol of the two libraries and every struct of their headers: otherwise C++
# sees two definitions of one type in a program with two versions.
execute_process(COMMAND "${CMAKE_NM}" --defined-only -g -P ${LATCHKEY_HIREDIS_ARCHIVES}
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

list(TRANSFORM symbols REPLACE "^(.+)$" "\\1 latchkey_\\1" OUTPUT_VARIABLE pairs)
list(JOIN pairs "\n" pairs)
file(CONFIGURE OUTPUT "${renames}/symbols.map" CONTENT "${pairs}\n" @ONLY)
set(defines ${symbols} ${structs})
list(TRANSFORM defines REPLACE "^(.+)$" "#define \\1 latchkey_\\1")
list(JOIN defines "\n" defines)
file(CONFIGURE OUTPUT "${renames}/rename.h" CONTENT "#pragma once\n${defines}\n" @ONLY)
foreach(header hiredis hiredis_ssl)
  file(CONFIGURE OUTPUT "${renames}/${header}.h" @ONLY CONTENT
"#pragma once
#include <latchkey_hiredis/rename.h>
#include \"${LATCHKEY_HIREDIS_ROOT}/include/hiredis/${header}.h\"
")
endforeach()

add_custom_command(OUTPUT "${LATCHKEY_HIREDIS_OBJECT}"
  COMMAND "${CMAKE_LINKER}" -r --whole-archive ${LATCHKEY_HIREDIS_ARCHIVES}
    -o "${LATCHKEY_HIREDIS_OBJECT}"
  COMMAND "${CMAKE_OBJCOPY}" "--redefine-syms=${renames}/symbols.map" "${LATCHKEY_HIREDIS_OBJECT}"
  DEPENDS ${LATCHKEY_HIREDIS_ARCHIVES} "${renames}/symbols.map"
  COMMENT "Renaming hiredis's symbols" VERBATIM)
