# Stores: each is a target of its own, built only if its client library is found.
#   latchkey_store(<name> <sources> <headers>): latchkey::<name>, LATCHKEY_STORES
# Each file in cmake/stores lists the sources of one store.
option(LATCHKEY_STORES_WANTED "Build the stores whose client libraries are found" ON)
set(LATCHKEY_STORES "")
if(NOT LATCHKEY_STORES_WANTED)
  return()
endif()
include(StoreLibraries)

macro(latchkey_store name sources headers)
  latchkey_find_store_library(${name})
  if(TARGET latchkey::${name}_client)
    latchkey_library(latchkey_${name} ${name} "${sources}" "${headers}")
    target_link_libraries(latchkey_${name} PUBLIC latchkey PRIVATE latchkey::${name}_client)
    list(APPEND LATCHKEY_STORES ${name})
    if(NOT PROJECT_IS_TOP_LEVEL)  # compiled if the program links it
      set_target_properties(latchkey_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
  endif()
endmacro()

file(GLOB stores CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/stores/*.cmake")
include("${PROJECT_SOURCE_DIR}/cmake/Http2.cmake")
foreach(store IN LISTS stores)
  include("${store}")
endforeach()
