# The client library of each store, for the build of latchkey and for programs that use it: installed
# beside latchkey-config.cmake.
#   latchkey_find_store_library(<store>): the target latchkey::<store>_client, if it is found
set(latchkey_postgresql_needs "libpq>=14" libpq-dev)
set(latchkey_mysql_needs "libmariadb>=3.3" libmariadb-dev)
set(latchkey_http2_needs "libnghttp2>=1.41 openssl>=3.0" "libnghttp2-dev libssl-dev")
set(latchkey_etcd_needs "libnghttp2>=1.41 openssl>=3.0" "libnghttp2-dev libssl-dev")
set(latchkey_kubernetes_needs "libnghttp2>=1.41 openssl>=3.0" "libnghttp2-dev libssl-dev")
set(latchkey_mongodb_needs "libmongoc-1.0>=1.17" libmongoc-dev)
set(latchkey_zookeeper_needs zookeeper_st libzookeeper-st-dev)

macro(latchkey_find_store_library store)
  list(GET latchkey_${store}_needs 0 latchkey_modules)
  separate_arguments(latchkey_modules)
  if(NOT TARGET latchkey::${store}_client AND "${store}" STREQUAL "zookeeper")
    # It comes without a file for pkg-config.
    find_path(LATCHKEY_ZOOKEEPER_INCLUDE zookeeper/zookeeper.h)
    find_library(LATCHKEY_ZOOKEEPER_LIBRARY zookeeper_st)
    mark_as_advanced(LATCHKEY_ZOOKEEPER_INCLUDE LATCHKEY_ZOOKEEPER_LIBRARY)
    if(LATCHKEY_ZOOKEEPER_INCLUDE AND LATCHKEY_ZOOKEEPER_LIBRARY)
      add_library(latchkey::zookeeper_client INTERFACE IMPORTED GLOBAL)
      target_include_directories(latchkey::zookeeper_client
        INTERFACE "${LATCHKEY_ZOOKEEPER_INCLUDE}")
      target_link_libraries(latchkey::zookeeper_client INTERFACE "${LATCHKEY_ZOOKEEPER_LIBRARY}")
    endif()
  elseif(NOT TARGET latchkey::${store}_client)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
      pkg_check_modules(latchkey_${store}_client QUIET IMPORTED_TARGET GLOBAL ${latchkey_modules})
    endif()
    if(latchkey_${store}_client_FOUND)
      add_library(latchkey::${store}_client INTERFACE IMPORTED GLOBAL)
      target_link_libraries(latchkey::${store}_client INTERFACE
        PkgConfig::latchkey_${store}_client)
    endif()
  endif()
endmacro()
