# Embeds the statements that make a store's tables, for the store and for `latchkey ddl`:
#   latchkey_embed_ddl(<store> <file.sql> <header that declares `ddl`> <namespace>) gives
#   LATCHKEY_<STORE>_DDL_SOURCE
function(latchkey_embed_ddl store file header namespace)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  # A literal may have 64 KiB, and compilers warn from there on.
  string(REPLACE "\n\n" ")sql\"\n    R\"sql(\n\n" text "${text}")
  set(output "${PROJECT_BINARY_DIR}/generated/${store}_ddl.cpp")
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE shown)
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"// Made by cmake/Ddl.cmake from @shown@: change it there.
#include \"@header@\"

namespace @namespace@ {

const std::string_view ddl = R\"sql(@text@)sql\";

}  // namespace @namespace@
")
  string(TOUPPER "${store}" upper)
  set(LATCHKEY_${upper}_DDL_SOURCE "${output}" PARENT_SCOPE)
endfunction()

latchkey_embed_ddl(postgresql "${PROJECT_SOURCE_DIR}/src/stores/postgresql/ddl.sql"
  "stores/postgresql/ddl.hpp" "latchkey::inline v1::detail::postgresql")
latchkey_embed_ddl(mysql "${PROJECT_SOURCE_DIR}/src/stores/mysql/ddl.sql"
  "stores/mysql/ddl.hpp" "latchkey::inline v1::detail::mysql")
