# Embeds lua/*.lua and lua/set/*.lua: gives LATCHKEY_LUA_SOURCE, which defines what
# src/redis/protocol/scripts.hpp declares. The script of lua/set/<name>.lua is called set_<name>.
#
# A line `--#include parts/<name>.lua` is replaced by that file. Such a line may be indented, and may be
# in a part. The digest is what the server answers to SCRIPT LOAD of the same text, so EVALSHA works from
# the first call on a server that knows it.

set(LATCHKEY_LUA_SOURCE "${PROJECT_BINARY_DIR}/generated/lua_scripts.cpp")

function(latchkey_embed_lua folder output)
  file(GLOB scripts CONFIGURE_DEPENDS "${folder}/*.lua")
  file(GLOB set_scripts CONFIGURE_DEPENDS "${folder}/set/*.lua")
  list(APPEND scripts ${set_scripts})
  file(GLOB parts CONFIGURE_DEPENDS "${folder}/parts/*.lua")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${scripts} ${parts})
  set(definitions "")
  set(names "")
  foreach(path IN LISTS scripts)
    cmake_path(GET path STEM name)
    if(path IN_LIST set_scripts)
      string(PREPEND name set_)
    endif()
    file(READ "${path}" text)
    foreach(round 1 2)  # a part may include another one
      foreach(part IN LISTS parts)
        cmake_path(GET part FILENAME part_name)
        file(READ "${part}" part_text)
        string(REPLACE "--#include parts/${part_name}\n" "${part_text}" text "${text}")
      endforeach()
    endforeach()
    if(text MATCHES "\n *--#include ([^\n]*)")
      message(FATAL_ERROR "${path} includes ${CMAKE_MATCH_1}, which is no file of ${folder}/parts, "
        "or is included by a part of a part.")
    endif()
    string(SHA1 digest "${text}")
    string(APPEND definitions
      "constinit const Script ${name}{\"${name}\", R\"lua(${text})lua\", \"${digest}\"};\n")
    string(APPEND names "&${name}, ")
  endforeach()
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"// Made by cmake/LuaScripts.cmake from lua/: change it there.
#include \"redis/protocol/scripts.hpp\"

namespace latchkey::inline v1::detail::redis::scripts {

${definitions}
std::span<const Script* const> all() noexcept {
  static constexpr const Script* scripts[] = {${names}};
  return scripts;
}

}  // namespace latchkey::inline v1::detail::redis::scripts
")
endfunction()

latchkey_embed_lua("${PROJECT_SOURCE_DIR}/lua" "${LATCHKEY_LUA_SOURCE}")
