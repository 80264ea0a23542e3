# Whether the compiler has what <latchkey/annotations.hpp> needs: LATCHKEY_REFLECTION_OPTIONS are the
# options that turn it on, or empty.
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)

set(LATCHKEY_REFLECTION_OPTIONS "")
cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_FLAGS "-std=c++26 -freflection")
check_cxx_source_compiles("
  #include <meta>
  #if !defined(__cpp_impl_reflection) || !defined(__cpp_expansion_statements)
  #error no reflection
  #endif
  struct Mark { int value; };
  [[=Mark{1}]] int marked();
  static_assert(annotations_of(^^marked).size() == 1);
  int main() {}" LATCHKEY_HAS_REFLECTION)
cmake_pop_check_state()
if(LATCHKEY_HAS_REFLECTION)
  set(LATCHKEY_REFLECTION_OPTIONS -std=c++26 -freflection)
endif()
