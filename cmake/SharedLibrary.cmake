# The shared library, of the same objects as the static one: target latchkey::shared. A program links
# one of the two. The testing kit and the adapters are static libraries and link the static one.

add_library(latchkey_shared SHARED $<TARGET_OBJECTS:latchkey>)
add_library(latchkey::shared ALIAS latchkey_shared)
latchkey_link_dependencies(latchkey_shared)
target_compile_features(latchkey_shared PUBLIC cxx_std_20)
target_include_directories(latchkey_shared INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:include>")

# While the major number is 0, each minor number may break the ABI.
set(latchkey_abi ${PROJECT_VERSION_MAJOR})
if(latchkey_abi EQUAL 0)
  set(latchkey_abi 0.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(latchkey_shared PROPERTIES
  OUTPUT_NAME latchkey
  EXPORT_NAME shared
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${latchkey_abi})

# Only latchkey's own names leave the library: not those of hiredis, nor instances of std templates.
set(exports "${PROJECT_SOURCE_DIR}/cmake/exports.map")
target_link_options(latchkey_shared PRIVATE "LINKER:--version-script=${exports}" LINKER:-z,defs
  LINKER:--as-needed)
set_target_properties(latchkey_shared PROPERTIES LINK_DEPENDS "${exports}")
