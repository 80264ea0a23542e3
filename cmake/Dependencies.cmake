# Finds latchkey's dependencies: in the system first, then in build/deps (see scripts/deps.sh). A
# missing one stops the configure step with one sentence that explains how to install it.

set(LATCHKEY_DEPS "${PROJECT_SOURCE_DIR}/build/deps")

# latchkey_need(<condition> <what> <Debian packages>): an error of one sentence unless the condition
# holds.
#   condition: TARGET <target> | FILE <path>
function(latchkey_need kind subject what packages)
  if(kind STREQUAL "TARGET" AND TARGET ${subject})
    return()
  elseif(kind STREQUAL "FILE" AND subject AND EXISTS "${subject}")
    return()
  endif()
  message(FATAL_ERROR
    "latchkey needs ${what}: run `make deps` in ${PROJECT_SOURCE_DIR} (Debian: ${packages}).")
endfunction()

include(Dependencies/Pfr)
include(Dependencies/Hiredis)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

find_path(LATCHKEY_RANGES_INCLUDE range/v3/range_fwd.hpp)
mark_as_advanced(LATCHKEY_RANGES_INCLUDE)
latchkey_need(FILE "${LATCHKEY_RANGES_INCLUDE}" "range-v3 >= 0.12" "librange-v3-dev")

find_package(yaml-cpp QUIET)
if(TARGET yaml-cpp AND NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
latchkey_need(TARGET yaml-cpp::yaml-cpp "yaml-cpp" "libyaml-cpp-dev")

find_package(OpenSSL QUIET)
latchkey_need(TARGET OpenSSL::SSL "OpenSSL >= 3" "libssl-dev")

# Links latchkey with its dependencies. Consumers only see PFR's renamed headers.
function(latchkey_link_dependencies target)
  target_include_directories(${target} SYSTEM PUBLIC "$<BUILD_INTERFACE:${LATCHKEY_PFR_INCLUDE}>")
  target_include_directories(${target} SYSTEM PRIVATE
    "${LATCHKEY_RANGES_INCLUDE}" "${LATCHKEY_HIREDIS_INCLUDE}")
  target_sources(${target} PRIVATE "${LATCHKEY_HIREDIS_OBJECT}")
  target_link_libraries(${target}
    PUBLIC Threads::Threads
    PRIVATE yaml-cpp::yaml-cpp OpenSSL::SSL OpenSSL::Crypto)
endfunction()
