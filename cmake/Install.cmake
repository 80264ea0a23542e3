# Installs latchkey so that find_package(latchkey CONFIG) and pkg-config find it without setting any
# variable. The install components become packages (cmake/Packages.cmake): runtime is the shared
# library, tool the command line tool, dev everything else.
include(CMakePackageConfigHelpers)

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/latchkey")

# latchkey_install(<name behind latchkey-> <target>... [COMPONENT <component>]): with a file of targets
# of its own, which the configuration file includes if their dependencies are found.
function(latchkey_install name)
  cmake_parse_arguments(PARSE_ARGV 1 its "" COMPONENT "")
  if(NOT its_COMPONENT)
    set(its_COMPONENT dev)
  endif()
  install(TARGETS ${its_UNPARSED_ARGUMENTS} EXPORT latchkey-${name}
    ARCHIVE COMPONENT ${its_COMPONENT}
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev
    FILE_SET HEADERS COMPONENT ${its_COMPONENT}
    FILE_SET fences COMPONENT ${its_COMPONENT}
    FILE_SET reflection COMPONENT ${its_COMPONENT})
  install(EXPORT latchkey-${name} NAMESPACE latchkey:: DESTINATION "${config_dir}"
    COMPONENT ${its_COMPONENT})
endfunction()

latchkey_install(targets latchkey latchkey_testing_core)
if(TARGET latchkey_shared)
  latchkey_install(shared-targets latchkey_shared)
endif()
if(TARGET latchkey_c)
  latchkey_install(c-targets latchkey_c)
endif()
if(TARGET latchkey_testing)
  latchkey_install(testing-targets latchkey_testing)
endif()
foreach(adapter IN LISTS LATCHKEY_ADAPTERS)
  latchkey_install(${adapter}-targets latchkey_${adapter})
endforeach()
if(NOT PROJECT_IS_TOP_LEVEL)
  set(LATCHKEY_STORES "")  # not compiled unless the program links them
endif()
if(PROJECT_IS_TOP_LEVEL AND TARGET latchkey_http2)
  latchkey_install(http2-targets latchkey_http2)
endif()
foreach(store IN LISTS LATCHKEY_STORES)
  latchkey_install(${store}-targets latchkey_${store} COMPONENT ${store})
endforeach()

install(DIRECTORY "${LATCHKEY_PFR_INCLUDE}/latchkey/third_party"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/latchkey" COMPONENT dev)

configure_package_config_file(cmake/latchkey-config.cmake.in
  "${PROJECT_BINARY_DIR}/latchkey-config.cmake" INSTALL_DESTINATION "${config_dir}")
# While the major number is 0, each minor number may break programs.
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/latchkey-config-version.cmake"
  COMPATIBILITY ${compatibility})
install(FILES
  "${PROJECT_BINARY_DIR}/latchkey-config.cmake"
  "${PROJECT_BINARY_DIR}/latchkey-config-version.cmake"
  cmake/StoreLibraries.cmake
  modules/LatchkeyModule.cmake
  modules/latchkey.cppm
  DESTINATION "${config_dir}" COMPONENT dev)

# pkg-config finds the prefix from the place of the file, so the installed tree may be moved.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${pc_dir}" OUTPUT_VARIABLE LATCHKEY_PC_PREFIX)
set(LATCHKEY_PC_REQUIRES "")
if(LATCHKEY_POLICIES)
  list(APPEND LATCHKEY_PC_REQUIRES yaml-cpp)
endif()
if(LATCHKEY_TLS)
  list(APPEND LATCHKEY_PC_REQUIRES "openssl >= 3")
endif()
list(JOIN LATCHKEY_PC_REQUIRES ", " LATCHKEY_PC_REQUIRES)
# What a program that links the static library needs is private if there is a shared one.
set(LATCHKEY_PC_PRIVATE "")
if(LATCHKEY_SHARED)
  set(LATCHKEY_PC_PRIVATE ".private")
endif()
configure_file(cmake/latchkey.pc.in "${PROJECT_BINARY_DIR}/latchkey.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/latchkey.pc" DESTINATION "${pc_dir}" COMPONENT dev)
if(TARGET latchkey_c)
  configure_file(cmake/latchkey_c.pc.in "${PROJECT_BINARY_DIR}/latchkey_c.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/latchkey_c.pc" DESTINATION "${pc_dir}" COMPONENT dev)
endif()

install(FILES debug/latchkey_printers.py debug/latchkey.skip
  DESTINATION "${CMAKE_INSTALL_DATADIR}/latchkey/gdb" COMPONENT dev)
install(DIRECTORY ops DESTINATION "${CMAKE_INSTALL_DATADIR}/latchkey" COMPONENT tool)
if(NOT LATCHKEY_PACKAGES)  # Debian's packages have it in a place of Debian's
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/latchkey" COMPONENT dev)
endif()
