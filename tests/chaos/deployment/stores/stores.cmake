# The stores that latchkey_chaos is built with: those whose client libraries are found.
set(latchkey_includes "")
set(latchkey_registrations "")
set(latchkey_cases "")
foreach(store IN LISTS LATCHKEY_STORES)
  if(NOT latchkey_chaos_${store}_sources)
    continue()  # it is no part of the campaign
  endif()
  target_sources(latchkey_chaos PRIVATE ${latchkey_chaos_${store}_sources})
  target_link_libraries(latchkey_chaos PRIVATE latchkey::${store} latchkey::${store}_client)
  string(APPEND latchkey_includes "#include <latchkey/${store}.hpp>\n")
  string(APPEND latchkey_registrations "  register_${store}();\n")
  string(APPEND latchkey_cases "  if (kind == DeploymentKind::${store}) return make_${store}();\n")
endforeach()
include(FerretDb)
if(TARGET latchkey_ferretdb AND "mongodb" IN_LIST LATCHKEY_STORES)
  add_dependencies(latchkey_chaos latchkey_ferretdb)
  target_compile_definitions(latchkey_chaos PRIVATE LATCHKEY_FERRETDB="${LATCHKEY_FERRETDB}")
endif()
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/generated/chaos_stores.cpp" @ONLY CONTENT
"// Made by tests/chaos/deployment/stores/stores.cmake: the stores that the campaign was built with.
#include <stdexcept>
#include <string>

#include \"chaos/deployment/stores/stores.hpp\"

@latchkey_includes@
namespace latchkey::chaos {

void register_stores() {
@latchkey_registrations@}

std::unique_ptr<Deployment> make_store(DeploymentKind kind) {
@latchkey_cases@  throw std::runtime_error(std::string(\"this program was built without the client library of \") +
                           name_of(kind) + \": run \`make chaos-stores\`, which installs it\");
}

}  // namespace latchkey::chaos
")
target_sources(latchkey_chaos PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/generated/chaos_stores.cpp")
