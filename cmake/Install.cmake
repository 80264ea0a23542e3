# Installs latchkey so that find_package(latchkey CONFIG) finds it without setting any variable.
include(CMakePackageConfigHelpers)

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/latchkey")

install(TARGETS latchkey EXPORT latchkey-targets FILE_SET HEADERS)
install(DIRECTORY "${LATCHKEY_PFR_INCLUDE}/latchkey/third_party"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/latchkey")
install(EXPORT latchkey-targets NAMESPACE latchkey:: DESTINATION "${config_dir}")

if(TARGET latchkey_testing)
  install(TARGETS latchkey_testing EXPORT latchkey-testing-targets FILE_SET HEADERS)
  install(EXPORT latchkey-testing-targets NAMESPACE latchkey:: DESTINATION "${config_dir}")
endif()

foreach(adapter IN LISTS LATCHKEY_ADAPTERS)
  install(TARGETS latchkey_${adapter} EXPORT latchkey-${adapter}-targets FILE_SET HEADERS)
  install(EXPORT latchkey-${adapter}-targets NAMESPACE latchkey:: DESTINATION "${config_dir}")
endforeach()

configure_package_config_file(cmake/latchkey-config.cmake.in
  "${PROJECT_BINARY_DIR}/latchkey-config.cmake" INSTALL_DESTINATION "${config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/latchkey-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/latchkey-config.cmake"
  "${PROJECT_BINARY_DIR}/latchkey-config-version.cmake" DESTINATION "${config_dir}")
