# Boost.PFR >= 2.2 under latchkey's own name, from a Boost >= 1.84 or, renamed already, from
# LATCHKEY_DEPS. Gives LATCHKEY_PFR_INCLUDE: the directory of <latchkey/third_party/pfr.hpp>.

latchkey_roots(roots Boost BOOST PFR)
set(boost_include "")
foreach(root IN LISTS roots)
  # A Boost that was unpacked and not installed has its headers in its topmost folder.
  foreach(include "${root}/include" "${root}")
    if(NOT boost_include AND EXISTS "${include}/boost/pfr/core_name.hpp")
      set(boost_include "${include}")
    endif()
  endforeach()
endforeach()

if(boost_include)
  set(LATCHKEY_PFR_INCLUDE "${PROJECT_BINARY_DIR}/third_party/pfr")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DFROM=${boost_include}" "-DTO=${LATCHKEY_PFR_INCLUDE}"
    -P "${CMAKE_CURRENT_LIST_DIR}/../rewrite_pfr.cmake" COMMAND_ERROR_IS_FATAL ANY)
else()
  set(LATCHKEY_PFR_INCLUDE "${LATCHKEY_DEPS}/include")
endif()
list(JOIN roots ", " roots)
latchkey_need(FILE "${LATCHKEY_PFR_INCLUDE}/latchkey/third_party/pfr.hpp"
  "Boost >= 1.84 (its Boost.PFR), and looked in ${roots}"
  "libboost-dev >= 1.84; that of Debian 12 is older" Boost_ROOT)
