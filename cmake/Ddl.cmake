# Embeds the statements that make a store's tables, for the store and for `latchkey ddl`.

# latchkey_split_ddl(<text> <variable>): definitions of `statements` and `creation`, if lines with "//"
# separate the statements of the text; otherwise nothing.
function(latchkey_split_ddl text arrays)
  set(begin "DELIMITER //\n")
  set(end "\n//\n")
  set(statements "")
  set(creation "")
  string(FIND "${text}" "${begin}" at)
  if(at EQUAL -1)
    set(${arrays} "" PARENT_SCOPE)
    return()
  endif()
  string(LENGTH "${begin}" skipped)
  while(TRUE)
    math(EXPR at "${at} + ${skipped}")
    string(SUBSTRING "${text}" ${at} -1 rest)
    string(FIND "${rest}" "${end}" length)
    if(length EQUAL -1)
      break()
    endif()
    string(SUBSTRING "${rest}" 0 ${length} statement)
    string(APPEND statements "    ddl_text.substr(${at}, ${length}),\n")
    if(NOT statement MATCHES "\nDROP PROCEDURE")
      string(APPEND creation "    ddl_text.substr(${at}, ${length}),\n")
    endif()
    string(LENGTH "${end}" skipped)
    math(EXPR at "${at} + ${length}")
  endwhile()
  set(definitions "")
  foreach(name statements creation)
    string(APPEND definitions "
static constexpr std::string_view all_${name}[] = {
${${name}}};
const std::span<const std::string_view> ${name}(all_${name});
")
  endforeach()
  set(${arrays} "${definitions}" PARENT_SCOPE)
endfunction()

# latchkey_embed_ddl(<store> <file.sql> <header that declares it> <namespace>) gives
# LATCHKEY_<STORE>_DDL_SOURCE
function(latchkey_embed_ddl store file header namespace)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  latchkey_split_ddl("${text}" arrays)
  # A literal may have 64 KiB, and compilers warn from there on.
  string(REPLACE "\n\n" ")sql\"\n    R\"sql(\n\n" text "${text}")
  set(output "${PROJECT_BINARY_DIR}/generated/${store}_ddl.cpp")
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE shown)
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"// Made by cmake/Ddl.cmake from @shown@: change it there.
#include \"@header@\"

namespace @namespace@ {

namespace {
constexpr std::string_view ddl_text = R\"sql(@text@)sql\";
}  // namespace

const std::string_view ddl = ddl_text;
@arrays@
}  // namespace @namespace@
")
  string(TOUPPER "${store}" upper)
  set(LATCHKEY_${upper}_DDL_SOURCE "${output}" PARENT_SCOPE)
endfunction()

latchkey_embed_ddl(postgresql "${PROJECT_SOURCE_DIR}/src/stores/postgresql/ddl.sql"
  "stores/postgresql/ddl.hpp" "latchkey::inline v1::detail::postgresql")
latchkey_embed_ddl(mysql "${PROJECT_SOURCE_DIR}/src/stores/mysql/ddl.sql"
  "stores/mysql/ddl.hpp" "latchkey::inline v1::detail::mysql")
