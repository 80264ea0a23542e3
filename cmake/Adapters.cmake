# Adapters: each is a target of its own, built only if the library that it adapts to is found.
#   latchkey_adapter(<name> <package> <target>): latchkey::<name>, LATCHKEY_ADAPTERS
set(LATCHKEY_ADAPTERS "")

function(latchkey_adapter name package target)
  find_package(${package} QUIET)
  if(NOT TARGET ${target})
    return()
  endif()
  latchkey_library(latchkey_${name} ${name} "${PROJECT_SOURCE_DIR}/src/adapters/${name}.cpp"
    "${PROJECT_SOURCE_DIR}/include/latchkey/adapters/${name}.hpp")
  target_link_libraries(latchkey_${name} PUBLIC latchkey ${target})
  list(APPEND LATCHKEY_ADAPTERS "${name}")
  set(LATCHKEY_ADAPTERS "${LATCHKEY_ADAPTERS}" PARENT_SCOPE)
endfunction()

latchkey_adapter(spdlog spdlog spdlog::spdlog)
latchkey_adapter(prometheus prometheus-cpp prometheus-cpp::core)
