// The service of this program.
#include <string>

#include "stores/fences/servers.hpp"
#include "support/polling.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {

std::string fenced_service_path(bool guarded) {
  static const TemporaryFolder folder;
  static const Process service({LATCHKEY_FENCED_SERVICE, "--serve", "0"}, folder.file("log"));
  await("the service",
        [] { return folder.read("log").ends_with('\n') ? "" : "it has not printed its port"; });
  const std::string log = folder.read("log");
  return log.substr(0, log.find('\n')) + (guarded ? "/orders" : "/drafts");
}

}  // namespace latchkey::tests
