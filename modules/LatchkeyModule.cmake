# latchkey_add_module(<target>): a static library with the module latchkey, for targets that link it and
# `import latchkey;`. Compilers read a module only if it was compiled with the options of the program,
# so each program makes its own. Needs CMake 3.28 and Ninja, and GCC 16 or clang 22.
function(latchkey_add_module target)
  if(CMAKE_VERSION VERSION_LESS 3.28)
    message(FATAL_ERROR "latchkey_add_module needs CMake 3.28 or newer; this is ${CMAKE_VERSION}")
  endif()
  add_library(${target} STATIC)
  target_sources(${target} PUBLIC FILE_SET CXX_MODULES
    BASE_DIRS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}"
    FILES "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/latchkey.cppm")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC latchkey::latchkey)
  # Compiler caches do not know the files of modules.
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CXX_COMPILER_LAUNCHER "")
endfunction()
