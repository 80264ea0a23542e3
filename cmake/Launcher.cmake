# Compiles through ccache where there is one.
find_program(LATCHKEY_CCACHE ccache)
mark_as_advanced(LATCHKEY_CCACHE)
if(LATCHKEY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache takes precompiled headers where it need not care when they were made.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${LATCHKEY_CCACHE}")
endif()
