# Finds latchkey's dependencies: where a *_ROOT or CMAKE_PREFIX_PATH points, then in the system, then
# in LATCHKEY_DEPS. A missing one stops the configure step with one sentence that explains the cure.

set(latchkey_default_deps "${PROJECT_SOURCE_DIR}/build/deps")
if(DEFINED ENV{LATCHKEY_DEPS})
  set(latchkey_default_deps "$ENV{LATCHKEY_DEPS}")
endif()
set(LATCHKEY_DEPS "${latchkey_default_deps}" CACHE PATH
  "Libraries that are newer than the system's: what `make deps` fills, or a prefix of your own")
# Every find_... of latchkey looks there last.
list(APPEND CMAKE_SYSTEM_PREFIX_PATH "${LATCHKEY_DEPS}" "${LATCHKEY_DEPS}/root/usr")

# latchkey_need(<condition> <what> <Debian packages> [<variable that points to it>]): an error of one
# sentence unless the condition holds.
#   condition: TARGET <target> | FILE <path>
function(latchkey_need kind subject what packages)
  if(kind STREQUAL "TARGET" AND TARGET ${subject})
    return()
  elseif(kind STREQUAL "FILE" AND subject AND EXISTS "${subject}")
    return()
  endif()
  set(or "")
  if(ARGC GREATER 4)
    set(or ", or set ${ARGV4} to the folder that it is installed in")
  endif()
  message(FATAL_ERROR
    "latchkey needs ${what}: run `make deps` in ${PROJECT_SOURCE_DIR} (Debian: ${packages})${or}.")
endfunction()

# latchkey_roots(<variable> <name>...): the folders in which to look for a library that has no CMake
# package: only <name>_ROOT if it is set, as a variable or in the environment; otherwise
# CMAKE_PREFIX_PATH and CMAKE_SYSTEM_PREFIX_PATH, whose last folders are those of LATCHKEY_DEPS.
function(latchkey_roots variable)
  foreach(name IN LISTS ARGN)
    foreach(root "${${name}_ROOT}" "$ENV{${name}_ROOT}")
      if(root)
        set(${variable} "${root}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
  cmake_path(CONVERT "$ENV{CMAKE_PREFIX_PATH}" TO_CMAKE_PATH_LIST environment)
  set(roots ${CMAKE_PREFIX_PATH} ${environment} ${CMAKE_SYSTEM_PREFIX_PATH})
  list(REMOVE_DUPLICATES roots)
  set(${variable} "${roots}" PARENT_SCOPE)
endfunction()

include(Dependencies/Pfr)
include(Dependencies/Hiredis)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

latchkey_roots(roots range-v3 RANGES)
find_path(LATCHKEY_RANGES_INCLUDE range/v3/range_fwd.hpp
  PATHS ${roots} PATH_SUFFIXES include NO_DEFAULT_PATH)
mark_as_advanced(LATCHKEY_RANGES_INCLUDE)
latchkey_need(FILE "${LATCHKEY_RANGES_INCLUDE}" "range-v3 >= 0.12" "librange-v3-dev" range-v3_ROOT)

if(LATCHKEY_POLICIES)
  find_package(yaml-cpp QUIET)
  if(TARGET yaml-cpp AND NOT TARGET yaml-cpp::yaml-cpp)
    add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
  endif()
  latchkey_need(TARGET yaml-cpp::yaml-cpp
    "yaml-cpp (for policy files; LATCHKEY_POLICIES=OFF does without)" "libyaml-cpp-dev" yaml-cpp_ROOT)
endif()

if(LATCHKEY_TLS)
  find_package(OpenSSL 3 QUIET)
  latchkey_need(TARGET OpenSSL::SSL
    "OpenSSL >= 3 (for rediss://; LATCHKEY_TLS=OFF does without)" "libssl-dev" OPENSSL_ROOT_DIR)
endif()

# Links latchkey, or a library of the same objects, with its dependencies. Consumers only see PFR's
# renamed headers.
function(latchkey_link_dependencies target)
  target_include_directories(${target} SYSTEM PUBLIC "$<BUILD_INTERFACE:${LATCHKEY_PFR_INCLUDE}>")
  target_include_directories(${target} SYSTEM PRIVATE
    "${LATCHKEY_RANGES_INCLUDE}" "${LATCHKEY_HIREDIS_INCLUDE}")
  target_sources(${target} PRIVATE "${LATCHKEY_HIREDIS_OBJECT}")
  target_link_libraries(${target} PUBLIC Threads::Threads)
  if(LATCHKEY_POLICIES)
    target_link_libraries(${target} PRIVATE yaml-cpp::yaml-cpp)
  endif()
  if(LATCHKEY_TLS)
    target_link_libraries(${target} PRIVATE OpenSSL::SSL OpenSSL::Crypto)
  endif()
endfunction()
