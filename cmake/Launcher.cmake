# Compiles through ccache if it is installed.
find_program(LATCHKEY_CCACHE ccache)
mark_as_advanced(LATCHKEY_CCACHE)
if(LATCHKEY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache caches precompiled headers only if it may ignore their timestamps.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${LATCHKEY_CCACHE}")
endif()
