// The two processes, and the pipes by which they wait for each other.
#include "stores/fences/late_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>

#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/locks.hpp>

#include "core/file_descriptor.hpp"
#include "stores/fences/resource.hpp"
#include "support/process.hpp"
#include "support/servers/redis_server.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::FileDescriptor;

constexpr int rejected_status = 3;
/// So that B need not wait for long, and A, while it runs, keeps the lock.
constexpr auto watchdog = 1s;
constexpr auto patience = 60s;

/// A pipe with a name: one process waits for the other one's byte.
class PipeEvent {
 public:
  explicit PipeEvent(const std::string& path) {
    ::mkfifo(path.c_str(), 0600);  // the other process may have made it
    pipe_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!pipe_.valid()) throw std::runtime_error("cannot open " + path);
  }
  void notify() const {
    if (::write(pipe_.get(), "x", 1) != 1) throw std::runtime_error("cannot write to a pipe");
  }
  /// False: nothing came for a minute.
  [[nodiscard]] bool wait() const {
    pollfd wanted{.fd = pipe_.get(), .events = POLLIN, .revents = 0};
    const int limit = static_cast<int>(std::chrono::milliseconds(patience).count());
    char byte = 0;
    return ::poll(&wanted, 1, limit) == 1 && ::read(pipe_.get(), &byte, 1) == 1;
  }

 private:
  FileDescriptor pipe_;
};

Lock make_lock(const std::string& uri) {
  const Locks locks = Locks::connect(uri, {.watchdog = watchdog});
  return locks.lock(late_writer_key, LockType::FENCED);
}

std::optional<Fence> fence_of(const Hold& hold, bool guarded) {
  return guarded ? hold.fence() : std::nullopt;
}

}  // namespace

LateWrite run_late_write(const std::string& kind, const std::string& where, bool guarded) {
  const RedisServer locks_server;
  const std::string uri = locks_server.unix_uri();
  const TemporaryFolder folder;
  const PipeEvent holding(folder.file("holding")), written(folder.file("written"));
  const std::unique_ptr<Resource> resource = open_resource(kind, where);
  resource->prepare();
  Process late({std::filesystem::read_symlink("/proc/self/exe"), late_writer_word, kind, where, uri,
                guarded ? "guarded" : "unguarded", folder.file("holding"), folder.file("written")},
               folder.file("log"));
  if (!holding.wait()) throw std::runtime_error("A has no lock: " + folder.read("log"));
  late.stop();
  const Hold hold = make_lock(uri).acquire(patience);  // when A's lease has ended
  resource->write(resource->read() + "B", fence_of(hold, guarded));
  written.notify();
  late.resume();
  const int status = late.wait();
  LateWrite end{resource->read(), status == rejected_status, folder.read("log")};
  if (status != 0 && !end.rejected) throw std::runtime_error("A failed: " + end.printed);
  return end;
}

int run_late_writer(const std::vector<std::string>& arguments) {
  if (arguments.size() != 7 || arguments[0] != late_writer_word) return 64;
  const std::unique_ptr<Resource> resource = open_resource(arguments[1], arguments[2]);
  const bool guarded = arguments[4] == "guarded";
  const PipeEvent holding(arguments[5]), written(arguments[6]);
  const auto print = [](const std::exception& error, int status) {
    std::cout << error.what() << '\n';
    return status;
  };
  try {
    const Hold hold = make_lock(arguments[3]).acquire(patience);
    const std::string before = resource->read();
    holding.notify();
    if (!written.wait()) throw std::runtime_error("nobody has written meanwhile");
    resource->write(before + "A", fence_of(hold, guarded));
    return 0;
  } catch (const FenceRejected& error) {
    return print(error, rejected_status);
  } catch (const RejectedByService& error) {
    return print(error, rejected_status);
  } catch (const std::exception& error) {
    return print(error, 1);
  }
}

}  // namespace latchkey::tests
