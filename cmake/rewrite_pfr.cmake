# Writes a copy of Boost.PFR that can coexist with another version of it in one translation unit.
#
#   cmake -DFROM=<dir with boost/pfr.hpp> -DTO=<include dir> -P rewrite_pfr.cmake
#
# boost::pfr becomes latchkey::third_party::pfr, <boost/pfr/...> becomes
# <latchkey/third_party/pfr/...>, and every macro BOOST_PFR_... becomes LATCHKEY_PFR_... The ABI's
# namespace lets two versions of latchkey bring two of PFR.
# The names in PFR's own parser of function signatures are rewritten too, so that field names are
# correct.
#
# PFR's functions for structures of more than 64 fields are dropped: every file that includes
# latchkey would parse them, a megabyte of source. reflect/aggregate.hpp rejects such structures with
# a message of its own.

# Drops the overloads of tie_as_tuple for more than 64 fields. The last overload, for any number,
# stays.
function(drop_large_structures variable)
  set(start "template <class T>\nconstexpr auto tie_as_tuple(T& val, size_t_<65>)")
  set(end "template <class T, std::size_t I>\nconstexpr void tie_as_tuple(T& /*val*/, size_t_<I>)")
  string(FIND "${${variable}}" "${start}" first)
  string(FIND "${${variable}}" "${end}" last)
  if(first EQUAL -1 OR last LESS first)
    message(STATUS "Boost.PFR looks different from 1.84 to 1.88: its headers are used in full")
    return()
  endif()
  string(SUBSTRING "${${variable}}" 0 ${first} before)
  string(SUBSTRING "${${variable}}" ${last} -1 after)
  set(${variable} "${before}${after}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE headers RELATIVE "${FROM}/boost" "${FROM}/boost/pfr/*.hpp")
list(APPEND headers pfr.hpp)
foreach(header IN LISTS headers)
  # Reading by configure_file's rules would lose semicolons and brackets; file(READ) keeps them.
  file(READ "${FROM}/boost/${header}" text)
  string(REPLACE "namespace boost {" "namespace latchkey::inline v1::third_party {" text "${text}")
  string(REPLACE "boost::pfr" "latchkey::third_party::pfr" text "${text}")
  string(REPLACE "boost/pfr" "latchkey/third_party/pfr" text "${text}")
  string(REPLACE "BOOST_PFR_" "LATCHKEY_PFR_" text "${text}")
  string(REPLACE "BOOST_MAGIC_GET_" "LATCHKEY_MAGIC_GET_" text "${text}")
  if(header STREQUAL "pfr/detail/core17_generated.hpp")
    drop_large_structures(text)
  endif()
  set(first "// Boost.PFR (Boost Software License 1.0), renamed by latchkey to stand beside any other.\n")
  string(APPEND first "#pragma GCC system_header\n")
  file(CONFIGURE OUTPUT "${TO}/latchkey/third_party/${header}" CONTENT "${first}${text}" @ONLY)
endforeach()
