# Compiles through ccache if it is installed.
find_program(LATCHKEY_CCACHE ccache)
mark_as_advanced(LATCHKEY_CCACHE)
if(LATCHKEY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache caches precompiled headers only if it may ignore their timestamps. CCACHE_DEPEND has it
  # compare the headers themselves, not what the preprocessor leaves of them: `#pragma once` knows a
  # precompiled header by its bytes, comments included. The namespace leaves out what was cached
  # without that.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
    CCACHE_NAMESPACE=latchkey "${LATCHKEY_CCACHE}")
endif()
