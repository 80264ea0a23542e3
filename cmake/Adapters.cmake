# Adapters: each is a target of its own, built only if the library that it adapts to is found.
#   latchkey_adapter(<name> <package> <target>): latchkey::<name>, LATCHKEY_ADAPTERS
# Its files are latchkey_<name>_sources and latchkey_<name>_headers of Sources.cmake or, without
# these, one of each in the folders of the adapters.
set(LATCHKEY_ADAPTERS "")

# CMake's own module also finds headers without a package file; newer releases warn if nobody says so.
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 OLD)
endif()

function(latchkey_adapter name package target)
  separate_arguments(package)
  find_package(${package} QUIET)
  if(NOT TARGET ${target})
    return()
  endif()
  if(NOT latchkey_${name}_sources)
    set(latchkey_${name}_sources "${PROJECT_SOURCE_DIR}/src/adapters/${name}.cpp")
    set(latchkey_${name}_headers "${PROJECT_SOURCE_DIR}/include/latchkey/adapters/${name}.hpp")
  endif()
  latchkey_library(latchkey_${name} ${name}
    "${latchkey_${name}_sources}" "${latchkey_${name}_headers}")
  target_link_libraries(latchkey_${name} PUBLIC latchkey ${target})
  list(APPEND LATCHKEY_ADAPTERS "${name}")
  set(LATCHKEY_ADAPTERS "${LATCHKEY_ADAPTERS}" PARENT_SCOPE)
endfunction()

latchkey_adapter(asio "Boost 1.81" Boost::headers)
latchkey_adapter(spdlog spdlog spdlog::spdlog)
latchkey_adapter(prometheus prometheus-cpp prometheus-cpp::core)

# opentelemetry-cpp's package accepts no version but its own, so the version is compared here.
find_package(opentelemetry-cpp CONFIG QUIET)
if(opentelemetry-cpp_FOUND AND opentelemetry-cpp_VERSION VERSION_LESS 1.9)
  message(STATUS "latchkey::opentelemetry needs opentelemetry-cpp >= 1.9: it is left out")
else()
  # The headers of the API, without an SDK, are enough to compile and test the adapter. It is not installed
  # then: it would have to be compiled as the SDK of a program was, which is not known here.
  find_path(LATCHKEY_OPENTELEMETRY_INCLUDE opentelemetry/version.h
    PATHS "${LATCHKEY_DEPS}/opentelemetry/include" NO_DEFAULT_PATH)
  mark_as_advanced(LATCHKEY_OPENTELEMETRY_INCLUDE)
  if(NOT TARGET opentelemetry-cpp::api AND LATCHKEY_OPENTELEMETRY_INCLUDE AND PROJECT_IS_TOP_LEVEL)
    add_library(opentelemetry-cpp::api INTERFACE IMPORTED)
    target_include_directories(opentelemetry-cpp::api SYSTEM INTERFACE
      "${LATCHKEY_OPENTELEMETRY_INCLUDE}")
  endif()
  latchkey_adapter(opentelemetry opentelemetry-cpp opentelemetry-cpp::api)
  if(NOT opentelemetry-cpp_FOUND)
    list(REMOVE_ITEM LATCHKEY_ADAPTERS opentelemetry)
  endif()
endif()
