// A backend of your own: it keeps locks in files, is registered for a URI scheme, and is named in a
// policy file.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "file_locks/file_backend.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int processes = 4;
constexpr int turns = 50;

/// A number in a file that several processes increment. Reading and writing it are two steps.
class Counter {
 public:
  explicit Counter(fs::path file) : file_(std::move(file)) {}

  void raise(const std::string& name) {
    LOCKED_BY("counter") AROUND(name) {
      const int value = read();
      std::ofstream(file_) << value + 1;
    };
  }
  [[nodiscard]] int read() const {
    int value = 0;
    std::ifstream(file_) >> value;
    return value;
  }

 private:
  fs::path file_;
};

/// The work of one process, with Locks of its own.
int raise_counter(const fs::path& file) {
  try {
    latchkey::register_backend("file", demo::make_file_backend);
    latchkey::install_from("file_locks.yaml");
    Counter counter(file);
    for (int turn = 0; turn < turns; ++turn) counter.raise("visits");
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "file_locks: {}\n", error.what());
    return 1;
  }
}

int run() {
  std::string name = (fs::temp_directory_path() / "latchkey-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const fs::path folder = name;
  ::setenv("COUNTER_LOCKS", ("file:" + (folder / "locks").string()).c_str(), 1);
  std::vector<pid_t> children;
  for (int number = 0; number < processes; ++number) {
    const pid_t child = ::fork();
    if (child == -1) throw std::runtime_error("no process for a counter");
    if (child == 0) ::_exit(raise_counter(folder / "counter"));
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    good = ::waitpid(child, &status, 0) == child && status == 0 && good;
  }
  const int value = Counter(folder / "counter").read();
  const bool clean = fs::is_empty(folder / "locks");
  fmt::print("{} processes raised a counter {} times each: it is {}.{}\n", processes, turns, value,
             clean ? " No lock was left behind." : " Locks were left behind.");
  fs::remove_all(folder);
  return good && clean && value == processes * turns ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "file_locks: {}\n", error.what());
    return 2;
  }
}
