# The C interface: liblatchkey_c.so, target latchkey::c, which contains latchkey and exports the functions
# of latchkey/latchkey.h alone. A program in another language loads it, beside whatever else it has. The
# Debian packages do not have it.
if(NOT LATCHKEY_C OR LATCHKEY_PACKAGES)
  return()
endif()
option(LATCHKEY_C_STATIC "Link yaml-cpp and the C++ runtime into liblatchkey_c.so" OFF)

add_library(latchkey_c SHARED ${latchkey_c_sources})
add_library(latchkey::c ALIAS latchkey_c)
target_include_directories(latchkey_c PRIVATE "${PROJECT_SOURCE_DIR}/src")
latchkey_compile_as_own(latchkey_c)
target_sources(latchkey_c PUBLIC
  FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${latchkey_c_headers})
# The folders of latchkey's own libraries, whose names its header hides from a user of this one.
target_link_libraries(latchkey_c PRIVATE "$<BUILD_INTERFACE:latchkey>")
set_target_properties(latchkey_c PROPERTIES
  CXX_VISIBILITY_PRESET hidden
  EXPORT_NAME c
  VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL}
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

set(exports "${PROJECT_SOURCE_DIR}/cmake/c_exports.map")
target_link_options(latchkey_c PRIVATE "LINKER:--version-script=${exports}" LINKER:--as-needed)
set_target_properties(latchkey_c PROPERTIES LINK_DEPENDS "${exports}")
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_link_options(latchkey_c PRIVATE LINKER:-z,defs)
endif()
# The archive comes before the shared library of the same name, which is then not needed.
if(LATCHKEY_C_STATIC)
  target_link_options(latchkey_c PRIVATE -static-libstdc++ -static-libgcc)
  find_library(LATCHKEY_YAML_ARCHIVE libyaml-cpp.a)
  mark_as_advanced(LATCHKEY_YAML_ARCHIVE)
  if(LATCHKEY_POLICIES AND LATCHKEY_YAML_ARCHIVE)
    target_link_libraries(latchkey_c PRIVATE "${LATCHKEY_YAML_ARCHIVE}")
  endif()
endif()
