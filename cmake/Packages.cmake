# Debian packages by CPack: `make packages`, or configure with -DLATCHKEY_PACKAGES=ON
# -DLATCHKEY_SHARED=ON -DCMAKE_INSTALL_PREFIX=/usr and run cpack. One package for each install
# component: the shared library, everything for development, the tool, the documentation.
option(LATCHKEY_PACKAGES "Install what Debian's policy demands, too, and configure CPack" OFF)
set(LATCHKEY_MAINTAINER "latchkey maintainers <maintainers@latchkey.example>" CACHE STRING
  "Who answers for the packages")
if(NOT LATCHKEY_PACKAGES)
  return()
endif()
if(NOT LATCHKEY_SHARED OR NOT LATCHKEY_CLI OR NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR "packages need LATCHKEY_SHARED=ON, LATCHKEY_CLI=ON and "
    "CMAKE_INSTALL_PREFIX=/usr.")
endif()

set(packaging "${PROJECT_SOURCE_DIR}/packaging/debian")
set(latchkey_runtime "liblatchkey${latchkey_abi}")
set(names runtime ${latchkey_runtime} dev liblatchkey-dev tool latchkey doc latchkey-doc)
foreach(store IN LISTS LATCHKEY_STORES)
  list(APPEND names ${store} liblatchkey-${store}-dev)
endforeach()

# Each package has a copyright and a changelog, and the time of both is that of the sources.
set(revision 1)
string(TIMESTAMP LATCHKEY_CHANGELOG_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file("${packaging}/changelog.in" "${PROJECT_BINARY_DIR}/changelog.Debian" @ONLY)
find_program(LATCHKEY_GZIP gzip REQUIRED)
mark_as_advanced(LATCHKEY_GZIP)
execute_process(COMMAND "${LATCHKEY_GZIP}" -9nf "${PROJECT_BINARY_DIR}/changelog.Debian"
  COMMAND_ERROR_IS_FATAL ANY)
set(rest ${names})
while(rest)
  list(POP_FRONT rest component package)
  install(FILES "${packaging}/copyright" "${PROJECT_BINARY_DIR}/changelog.Debian.gz"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}" COMPONENT ${component})
  if(EXISTS "${packaging}/${component}.lintian-overrides")
    configure_file("${packaging}/${component}.lintian-overrides"
      "${PROJECT_BINARY_DIR}/overrides/${package}" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/overrides/${package}"
      DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" COMPONENT ${component})
  endif()
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
endwhile()
install(DIRECTORY docs ops examples
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/latchkey-doc" COMPONENT doc)
install(FILES README.md SECURITY.md
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/latchkey-doc" COMPONENT doc)
configure_file(CHANGELOG.md "${PROJECT_BINARY_DIR}/changelog" COPYONLY)
execute_process(COMMAND "${LATCHKEY_GZIP}" -9nf "${PROJECT_BINARY_DIR}/changelog"
  COMMAND_ERROR_IS_FATAL ANY)
install(FILES "${PROJECT_BINARY_DIR}/changelog.gz"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/latchkey-doc" COMPONENT doc)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME latchkey)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGE_CONTACT "${LATCHKEY_MAINTAINER}")
set(CPACK_PACKAGE_VENDOR latchkey)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime dev tool doc ${LATCHKEY_STORES})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${revision})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# latchkey_package(<component> <section> <summary> <line>...): its description.
function(latchkey_package component section summary)
  string(TOUPPER ${component} upper)
  list(JOIN ARGN "\n" lines)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}
latchkey is a C++20 library for distributed locks: in memory, on Redis or
on Valkey, where it shares locks with Java programs that use Redisson.

${lines}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
endfunction()
latchkey_package(runtime libs "distributed locks for C++ - shared library"
  "This package contains the shared library.")
latchkey_package(dev libdevel "distributed locks for C++ - development files"
  "This package contains the headers, the static library, the testing kit"
  "and the files for CMake, pkg-config and gdb.")
latchkey_package(tool utils "run commands under a distributed lock, watch and inspect locks"
  "This package contains the command line tool.")
foreach(store IN LISTS LATCHKEY_STORES)
  latchkey_package(${store} libdevel "distributed locks for C++ - locks in ${store}"
    "This package contains the store ${store}: its header and static library.")
  string(TOUPPER ${store} upper)
  list(GET latchkey_${store}_needs 1 client)
  string(REPLACE " " ", " client "${client}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS
    "liblatchkey-dev (= ${PROJECT_VERSION}-${revision}), ${client}, pkg-config")
endforeach()
latchkey_package(doc doc "distributed locks for C++ - documentation"
  "This package contains the documentation, the examples, a Grafana"
  "dashboard and alert rules for Prometheus.")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${packaging}/triggers")
# CPack adds scripts that call ldconfig; Debian wants the trigger alone.
set(CPACK_POST_BUILD_SCRIPTS "${packaging}/without_maintainer_scripts.cmake")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "${latchkey_runtime} (= ${PROJECT_VERSION}-${revision}), libyaml-cpp-dev, libssl-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "latchkey-doc, libgmock-dev, libspdlog-dev, prometheus-cpp-dev")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
include(CPack)
