# Embeds lua/fences/run_fenced.lua: gives LATCHKEY_FENCES_SOURCE, which defines what
# latchkey/fences/redis_script.hpp declares. The backend does not run this script.
set(LATCHKEY_FENCES_SOURCE "${PROJECT_BINARY_DIR}/generated/fence_script.cpp")

function(latchkey_embed_fence_script file output)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"// Made by cmake/Fences.cmake from lua/fences/run_fenced.lua: change it there.
#include <latchkey/fences/redis_script.hpp>

namespace latchkey::inline v1::redis {

std::string_view fence_script() noexcept { return R\"lua(@text@)lua\"; }

}  // namespace latchkey::inline v1::redis
")
endfunction()

latchkey_embed_fence_script("${PROJECT_SOURCE_DIR}/lua/fences/run_fenced.lua" "${LATCHKEY_FENCES_SOURCE}")
