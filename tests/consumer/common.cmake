# What both consumer projects build: latchkey beside the system's own Boost and hiredis.
find_path(system_boost boost/version.hpp REQUIRED)
find_path(system_hiredis hiredis/hiredis.h REQUIRED)
find_library(system_hiredis_library hiredis REQUIRED)

# Warnings are a consumer's errors: latchkey's headers must not cause any.
set(consumer_options -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)

add_executable(consumer "${CMAKE_CURRENT_LIST_DIR}/consumer.cpp")
target_compile_options(consumer PRIVATE ${consumer_options})
target_include_directories(consumer SYSTEM PRIVATE "${system_boost}" "${system_hiredis}")
target_link_libraries(consumer PRIVATE latchkey::latchkey "${system_hiredis_library}")

if(TARGET latchkey::testing)
  add_executable(consumer_testing "${CMAKE_CURRENT_LIST_DIR}/consumer_testing.cpp")
  target_compile_options(consumer_testing PRIVATE ${consumer_options})
  target_link_libraries(consumer_testing PRIVATE latchkey::testing)
endif()

if(TARGET latchkey::asio)
  add_executable(consumer_asio "${CMAKE_CURRENT_LIST_DIR}/consumer_asio.cpp")
  target_compile_options(consumer_asio PRIVATE ${consumer_options})
  target_link_libraries(consumer_asio PRIVATE latchkey::asio)
endif()

# The testing kit for other frameworks than GoogleTest.
find_path(doctest_include doctest/doctest.h)
find_path(catch2_include catch2/catch.hpp)
foreach(framework doctest catch2)
  if(${framework}_include)
    add_executable(consumer_${framework} "${CMAKE_CURRENT_LIST_DIR}/consumer_${framework}.cpp")
    target_compile_options(consumer_${framework} PRIVATE ${consumer_options})
    target_include_directories(consumer_${framework} SYSTEM PRIVATE "${${framework}_include}")
    target_link_libraries(consumer_${framework} PRIVATE latchkey::testing_core)
  endif()
endforeach()
