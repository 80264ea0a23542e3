# The command line tool `latchkey`. The library does not need it.
option(LATCHKEY_CLI "Build the command line tool" ${PROJECT_IS_TOP_LEVEL})
if(NOT LATCHKEY_CLI)
  return()
endif()
foreach(package CLI11 nlohmann_json fmt)
  find_package(${package} QUIET)
endforeach()
latchkey_need(TARGET CLI11::CLI11 "CLI11 (for the command line tool, LATCHKEY_CLI)" "libcli11-dev")
latchkey_need(TARGET nlohmann_json::nlohmann_json
  "nlohmann-json (for the command line tool, LATCHKEY_CLI)" "nlohmann-json3-dev")
latchkey_need(TARGET fmt::fmt "fmt (for the command line tool, LATCHKEY_CLI)" "libfmt-dev")

set(latchkey_cli_sources
  src/cli/connection.cpp
  src/cli/ddl_command.cpp
  src/cli/host_command.cpp
  src/cli/list/list_command.cpp
  src/cli/list/scan.cpp
  src/cli/look/lock_state.cpp
  src/cli/look/look_commands.cpp
  src/cli/main.cpp
  src/cli/manual_commands.cpp
  src/cli/output.cpp
  src/cli/parse.cpp
  src/cli/policy/explanation.cpp
  src/cli/policy/policy_commands.cpp
  src/cli/policy/sites_file.cpp
  src/cli/poll_events.cpp
  src/cli/run/acquisition.cpp
  src/cli/run/child_process.cpp
  src/cli/run/child_supervisor.cpp
  src/cli/run/descendants.cpp
  src/cli/run/job_control.cpp
  src/cli/run/once_command.cpp
  src/cli/run/run.cpp
  src/cli/run/run_command.cpp
  src/cli/run/run_options.cpp
  src/cli/top/full_screen.cpp
  src/cli/top/lock_row.cpp
  src/cli/top/observed_locks.cpp
  src/cli/top/sampler.cpp
  src/cli/top/top.cpp
  src/cli/top/top_command.cpp
  src/cli/top/top_controls.cpp
  src/cli/top/top_once.cpp
  src/cli/top/top_view.cpp)
# The statements of `latchkey ddl`, without the stores' client libraries.
add_executable(latchkey_cli ${latchkey_cli_sources}
  "${LATCHKEY_POSTGRESQL_DDL_SOURCE}" "${LATCHKEY_MYSQL_DDL_SOURCE}")
latchkey_compile_as_own(latchkey_cli)
target_include_directories(latchkey_cli PRIVATE "${PROJECT_SOURCE_DIR}/src")
# fmt::fmt is a shared library, which a static program cannot be linked with.
set(latchkey_cli_fmt fmt::fmt)
if(CMAKE_EXE_LINKER_FLAGS MATCHES "-static")
  set(latchkey_cli_fmt fmt::fmt-header-only)
endif()
target_link_libraries(latchkey_cli PRIVATE
  latchkey CLI11::CLI11 nlohmann_json::nlohmann_json ${latchkey_cli_fmt})
# The tool knows every store that was built.
option(LATCHKEY_CLI_STORES "Link the stores into the command line tool" ON)
set(latchkey_includes "")
set(latchkey_calls "")
if(LATCHKEY_CLI_STORES)
  foreach(store IN LISTS LATCHKEY_STORES)
    target_link_libraries(latchkey_cli PRIVATE latchkey::${store})
    string(APPEND latchkey_includes "#include <latchkey/${store}.hpp>\n")
    string(APPEND latchkey_calls "  register_${store}();\n")
  endforeach()
endif()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/cli_stores.cpp" @ONLY CONTENT
"// Made by cmake/CommandLine.cmake: the stores that the command line tool was built with.
#include \"cli/commands.hpp\"

@latchkey_includes@
namespace latchkey::inline v1::cli {

void register_stores() {
@latchkey_calls@}

}  // namespace latchkey::inline v1::cli
")
target_sources(latchkey_cli PRIVATE "${PROJECT_BINARY_DIR}/generated/cli_stores.cpp")
# They take seconds to read: once for all files.
target_precompile_headers(latchkey_cli PRIVATE <CLI/CLI.hpp> <nlohmann/json.hpp>)
set_target_properties(latchkey_cli PROPERTIES OUTPUT_NAME latchkey)
install(TARGETS latchkey_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tool)

# The manual page and the completions are printed by the tool itself.
set(latchkey_cli_share "${PROJECT_BINARY_DIR}/share")
add_custom_command(TARGET latchkey_cli POST_BUILD
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${latchkey_cli_share}"
  COMMAND latchkey_cli man > "${latchkey_cli_share}/latchkey.1"
  COMMAND latchkey_cli completion bash > "${latchkey_cli_share}/latchkey.bash"
  COMMAND latchkey_cli completion zsh > "${latchkey_cli_share}/_latchkey"
  COMMAND latchkey_cli completion fish > "${latchkey_cli_share}/latchkey.fish"
  VERBATIM)
set(latchkey_cli_manual "${latchkey_cli_share}/latchkey.1")
if(LATCHKEY_PACKAGES)  # Debian compresses manual pages
  add_custom_command(TARGET latchkey_cli POST_BUILD COMMAND gzip -9nfk "${latchkey_cli_manual}" VERBATIM)
  string(APPEND latchkey_cli_manual ".gz")
endif()
install(FILES "${latchkey_cli_manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
  COMPONENT tool)
install(FILES "${latchkey_cli_share}/latchkey.bash" RENAME latchkey
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT tool)
install(FILES "${latchkey_cli_share}/_latchkey"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT tool)
install(FILES "${latchkey_cli_share}/latchkey.fish"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT tool)
