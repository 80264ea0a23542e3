# Writes a copy of Boost.PFR that can coexist with another version of it in one translation unit.
#
#   cmake -DFROM=<dir with boost/pfr.hpp> -DTO=<include dir> -P rewrite_pfr.cmake
#
# boost::pfr becomes latchkey::third_party::pfr, <boost/pfr/...> becomes
# <latchkey/third_party/pfr/...>, and every macro BOOST_PFR_... becomes LATCHKEY_PFR_...
# The names in PFR's own parser of function signatures are rewritten too, so that field names are
# correct.

file(GLOB_RECURSE headers RELATIVE "${FROM}/boost" "${FROM}/boost/pfr/*.hpp")
list(APPEND headers pfr.hpp)
foreach(header IN LISTS headers)
  # Reading by configure_file's rules would lose semicolons and brackets; file(READ) keeps them.
  file(READ "${FROM}/boost/${header}" text)
  string(REPLACE "namespace boost {" "namespace latchkey::third_party {" text "${text}")
  string(REPLACE "boost::pfr" "latchkey::third_party::pfr" text "${text}")
  string(REPLACE "boost/pfr" "latchkey/third_party/pfr" text "${text}")
  string(REPLACE "BOOST_PFR_" "LATCHKEY_PFR_" text "${text}")
  string(REPLACE "BOOST_MAGIC_GET_" "LATCHKEY_MAGIC_GET_" text "${text}")
  set(first "// Boost.PFR (Boost Software License 1.0), renamed by latchkey to stand beside any other.\n")
  string(APPEND first "#pragma GCC system_header\n")
  file(CONFIGURE OUTPUT "${TO}/latchkey/third_party/${header}" CONTENT "${first}${text}" @ONLY)
endforeach()
