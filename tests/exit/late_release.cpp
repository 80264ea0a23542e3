// A program that releases locks after main has returned or after its thread has ended. Tests run it
// as `late_release <uri> <case>`. After each case nothing must be left on the server.
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/latchkey.hpp>

namespace {

using namespace std::chrono_literals;

/// Acquires and releases in its destructor.
struct LocksInItsDestructor {
  std::optional<latchkey::Locks> locks;
  ~LocksInItsDestructor() {
    if (!locks) return;
    latchkey::Lock lock = locks->lock("k");
    const auto hold = lock.try_acquire(5s, 30s);
    lock.lock();
    lock.unlock();
    if (!hold || hold->lost()) std::_Exit(3);
  }
};

// Destroyed in reverse order, so the holds are destroyed last.
std::optional<latchkey::Hold> static_hold;
LocksInItsDestructor static_locker;
std::optional<latchkey::Locks> static_locks;
thread_local std::optional<latchkey::Hold> thread_hold;
thread_local LocksInItsDestructor thread_locker;

latchkey::Locks connect(const std::string& uri) { return latchkey::Locks::connect(uri); }

/// Constructs them before the library's own thread_local objects.
void touch_thread_locals() {
  thread_hold.reset();
  thread_locker.locks.reset();
}

void in_thread(const std::function<void()>& body) {
  std::thread([&] {
    touch_thread_locals();
    body();
  }).join();
}

const std::map<std::string, void (*)(const std::string&)> cases{
    {"static-hold",
     [](const std::string& uri) {
       static_hold = connect(uri).lock("k").acquire(latchkey::forever);
     }},
    {"static-locks",
     [](const std::string& uri) {
       static_locks = connect(uri);
       static_hold = static_locks->lock("k", latchkey::LockType::WRITE).acquire(5s, 30s);
     }},
    {"static-composite",
     [](const std::string& uri) {
       static_locks = connect(uri);
       static_hold = static_locks->all_of({static_locks->lock("k"), static_locks->lock("l")})
                         .acquire(5s, 30s);
     }},
    {"static-locker", [](const std::string& uri) { static_locker.locks = connect(uri); }},
    {"main-thread-hold",
     [](const std::string& uri) {
       touch_thread_locals();
       thread_hold = connect(uri).lock("k", latchkey::LockType::FAIR).acquire(latchkey::forever);
     }},
    {"thread-hold",
     [](const std::string& uri) {
       in_thread([&] { thread_hold = connect(uri).lock("k").acquire(latchkey::forever); });
     }},
    {"thread-locker",
     [](const std::string& uri) {
       in_thread([&] {
         thread_locker.locks = connect(uri);
         if (!thread_locker.locks->lock("k").acquire(latchkey::forever).release()) std::_Exit(4);
       });
     }},
    {"exit-in-a-thread",
     [](const std::string& uri) {
       in_thread([&] {
         static_hold = connect(uri).lock("k").acquire(latchkey::forever);
         std::exit(0);  // NOLINT(concurrency-mt-unsafe): the case that is tested
       });
     }},
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3 || !cases.contains(arguments[2])) {
    std::fprintf(stderr, "usage: late_release <uri> <case>\n");
    return 2;
  }
  try {
    cases.at(arguments[2])(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
