# Boost.PFR >= 2.2 under latchkey's own name, from the system's Boost >= 1.84 or from build/deps.
# Gives LATCHKEY_PFR_INCLUDE: the directory of <latchkey/third_party/pfr.hpp>.

find_file(LATCHKEY_SYSTEM_PFR_CORE_NAME boost/pfr/core_name.hpp)
mark_as_advanced(LATCHKEY_SYSTEM_PFR_CORE_NAME)

if(LATCHKEY_SYSTEM_PFR_CORE_NAME)
  set(LATCHKEY_PFR_INCLUDE "${PROJECT_BINARY_DIR}/third_party/pfr")
  cmake_path(GET LATCHKEY_SYSTEM_PFR_CORE_NAME PARENT_PATH boost_root)
  cmake_path(GET boost_root PARENT_PATH boost_root)
  cmake_path(GET boost_root PARENT_PATH boost_root)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DFROM=${boost_root}" "-DTO=${LATCHKEY_PFR_INCLUDE}"
    -P "${CMAKE_CURRENT_LIST_DIR}/../rewrite_pfr.cmake" COMMAND_ERROR_IS_FATAL ANY)
else()
  set(LATCHKEY_PFR_INCLUDE "${LATCHKEY_DEPS}/include")
endif()
latchkey_need(FILE "${LATCHKEY_PFR_INCLUDE}/latchkey/third_party/pfr.hpp"
  "Boost.PFR >= 2.2" "libboost-dev >= 1.84, taken from Debian 13")
