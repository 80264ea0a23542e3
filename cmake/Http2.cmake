# HTTP/2 over libnghttp2 and OpenSSL, for the stores whose servers speak it: part of the development
# files of latchkey, so that a program may link several of these stores.
#   latchkey_uses_http2(<store>): the store, if it is built, calls it
latchkey_find_store_library(http2)
set(latchkey_http2_sources
  src/stores/http2/byte_stream.cpp
  src/stores/http2/http2_session.cpp
  src/stores/http2/http_connection.cpp
  src/stores/http2/http_transport.cpp
  src/stores/http2/tls_filter.cpp)
if(TARGET latchkey::http2_client)
  latchkey_library(latchkey_http2 http2 "${latchkey_http2_sources}" "")
  target_link_libraries(latchkey_http2 PUBLIC latchkey PRIVATE latchkey::http2_client)
  if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(latchkey_http2 PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()

macro(latchkey_uses_http2 store)
  if(TARGET latchkey_${store})
    target_link_libraries(latchkey_${store} PRIVATE latchkey_http2)
  endif()
endmacro()
