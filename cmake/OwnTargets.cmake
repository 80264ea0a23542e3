# Compiler options of latchkey's own targets.

# Adds a library of latchkey, installable, with its headers as a verifiable file set:
#   latchkey_library(<target> <name behind latchkey::> <sources> <headers>)
function(latchkey_library target name sources headers)
  set(scope PUBLIC)
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    latchkey_compile_as_own(${target})
    # latchkey's functions are not interposed when a program is loaded. With this option GCC inlines
    # them in position-independent code too, as clang does.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
    # What a public header declares leaves the shared library (#pragma GCC visibility), nothing else.
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden)
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(latchkey::${name} ALIAS ${target})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL}
    POSITION_INDEPENDENT_CODE ON)
endfunction()

# Warnings are only for developers of latchkey; their presets make warnings errors
# (CMAKE_COMPILE_WARNING_AS_ERROR).
function(latchkey_compile_as_own target)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wshadow -Wconversion
      # clang checks the annotations of what a mutex guards.
      $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
      # GCC 12 warns of overlapping copies inside std::string::insert that never happen (PR 105651).
      $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
  endif()
  if(LATCHKEY_UNITY)
    latchkey_compile_modules_at_once(${target})
  endif()
endfunction()

# latchkey_module_of(<source> <variable>): what is compiled as one in a unity build: a module of the library,
# such as src/redis, or a folder of tests.
function(latchkey_module_of source variable)
  cmake_path(GET source PARENT_PATH folder)
  string(REGEX REPLACE "(^|/)(src/[a-z_]+)/.*" "\\1\\2" module "${folder}")
  string(MAKE_C_IDENTIFIER "${module}" module)
  set(${variable} "${module}" PARENT_SCOPE)
endfunction()

# A unity build: the sources of each module are compiled as one, which takes a tenth of the time when
# everything has to be compiled. Names of one file may then hide names of another, harmlessly.
function(latchkey_compile_modules_at_once target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    latchkey_module_of("${source}" module)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${module}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wno-shadow)
endfunction()
