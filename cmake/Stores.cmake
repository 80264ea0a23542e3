# Stores: each is a target of its own, built only if its client library is found.
#   latchkey_store(<name> <library target> <sources> <headers>): latchkey::<name>, LATCHKEY_STORES
# Each file in cmake/stores looks for the library of one store and lists its sources.
option(LATCHKEY_STORES_WANTED "Build the stores whose client libraries are found" ON)
set(LATCHKEY_STORES "")
if(NOT LATCHKEY_STORES_WANTED)
  return()
endif()

function(latchkey_store name library sources headers)
  latchkey_library(latchkey_${name} ${name} "${sources}" "${headers}")
  target_link_libraries(latchkey_${name} PUBLIC latchkey PRIVATE ${library})
  set(LATCHKEY_STORES "${LATCHKEY_STORES};${name}" PARENT_SCOPE)
endfunction()

find_package(PkgConfig QUIET)
file(GLOB stores CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/stores/*.cmake")
foreach(store IN LISTS stores)
  include("${store}")
endforeach()
list(REMOVE_ITEM LATCHKEY_STORES "")
