# Compiles through ccache if it is installed.
find_program(LATCHKEY_CCACHE ccache)
mark_as_advanced(LATCHKEY_CCACHE)
if(LATCHKEY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/ccache.sh" "${LATCHKEY_CCACHE}")
endif()
