// A backend on one page: it keeps locks in the files of a folder, for the processes of one machine.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <latchkey/options.hpp>
#include <latchkey/registry.hpp>
#include <latchkey/simple_backend.hpp>

namespace demo {

/// The row of one key: a file that says who holds it and until when, locked by flock while it is
/// looked at. A process that dies lets go of the flock, and its row ends with its lease.
class Row {
 public:
  explicit Row(const std::filesystem::path& path) : path_(path) {
    for (;;) {
      file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (file_ < 0) fail("open");
      while (::flock(file_, LOCK_EX) != 0) {
        if (errno != EINTR) fail("lock");
      }
      struct stat now{};
      if (::fstat(file_, &now) != 0) fail("look at");
      if (now.st_nlink > 0) break;
      ::close(file_);  // its last holder took it away while this one waited for it
    }
    char text[128] = {};
    const ssize_t size = ::pread(file_, text, sizeof text - 1, 0);
    if (size < 0) fail("read");
    char holder[64] = {};
    long long ends = 0;
    if (std::sscanf(text, "%63s %lld", holder, &ends) != 2) return;  // nobody's, or half written
    holder_ = holder;
    ends_ = latchkey::Clock::time_point(std::chrono::nanoseconds(ends));
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  ~Row() { ::close(file_); }

  [[nodiscard]] bool held(latchkey::Clock::time_point now) const { return ends_ > now; }
  [[nodiscard]] bool held_by(const std::string& who, latchkey::Clock::time_point now) const {
    return held(now) && holder_ == who;
  }
  [[nodiscard]] const std::string& holder() const { return holder_; }
  [[nodiscard]] latchkey::Clock::time_point ends() const { return ends_; }

  void write(const std::string& who, latchkey::Clock::time_point ends) {
    const std::string text = who + " " + std::to_string(ends.time_since_epoch().count()) + "\n";
    // Shorter first: half a row is nobody's, never somebody else's.
    if (::ftruncate(file_, 0) != 0) fail("write");
    if (::pwrite(file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      fail("write");
    }
  }
  void remove() {
    if (::unlink(path_.c_str()) != 0) fail("remove");
  }

 private:
  [[noreturn]] void fail(const char* what) {
    const std::system_error error(errno, std::generic_category(),
                                  std::string("cannot ") + what + " " + path_.string());
    if (file_ >= 0) ::close(file_);
    throw error;  // nobody can tell who holds the lock
  }

  std::filesystem::path path_;
  int file_ = -1;
  std::string holder_;
  latchkey::Clock::time_point ends_{};
};

/// `file:/run/bank` keeps its rows in that folder, which must lie on this machine, and which a
/// restart of the machine must empty: the clock that leases are measured by begins anew then.
class FileBackend final : public latchkey::SimpleBackend {
 public:
  FileBackend(std::filesystem::path folder, latchkey::Clock& clock)
      : SimpleBackend(clock), folder_(std::move(folder)), clock_(clock) {
    std::filesystem::create_directories(folder_);
  }
  std::string describe() const override { return "file:" + folder_.string(); }

 protected:
  latchkey::Outcome acquire(const latchkey::Request& ask) override {
    Row row(path_of(ask.key));
    const auto now = clock_.now();
    const std::string me = ask.id.text();
    if (row.held(now) && row.holder() != me) {
      return busy(std::chrono::ceil<std::chrono::milliseconds>(row.ends() - now), row.holder());
    }
    const auto least = row.held_by(me, now) ? row.ends() : now;
    row.write(me, std::max(least, latchkey::later(now, ask.lease)));
    return granted();
  }
  latchkey::Outcome renew(const latchkey::Request& ask) override {
    Row row(path_of(ask.key));
    const auto now = clock_.now();
    const std::string me = ask.id.text();
    if (!row.held_by(me, now)) return gone(row, now);
    row.write(me, std::max(row.ends(), latchkey::later(now, ask.lease)));
    return granted();
  }
  latchkey::Outcome verify(const latchkey::Request& ask) override {
    Row row(path_of(ask.key));
    const auto now = clock_.now();
    return row.held_by(ask.id.text(), now) ? granted() : gone(row, now);
  }
  latchkey::Outcome release(const latchkey::Request& ask) override {
    Row row(path_of(ask.key));
    const auto now = clock_.now();
    if (!row.held_by(ask.id.text(), now)) return gone(row, now);
    row.remove();
    return granted();
  }

 private:
  /// Who looks for a row makes one: it goes where nobody holds it.
  latchkey::Outcome gone(Row& row, latchkey::Clock::time_point now) {
    if (!row.held(now)) row.remove();
    return SimpleBackend::gone();
  }

  /// Any key as a file's name, two keys never as the same: what is no letter or digit is %XX. Names
  /// end at 255 bytes, so long ones are cut into folders.
  std::filesystem::path path_of(std::string_view key) const {
    std::string name;
    std::filesystem::path path = folder_;
    for (const char c : key) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      char hex[4] = {c, '\0'};
      if (!plain) std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned char>(c));
      name += hex;
      if (name.size() < 200) continue;
      path /= name + "~";
      std::filesystem::create_directories(path);
      name.clear();
    }
    return path / (name + ".lock");
  }

  const std::filesystem::path folder_;
  latchkey::Clock& clock_;
};

/// For register_backend("file", ...): from then on Locks::connect and latchkey.yaml know file:.
inline std::unique_ptr<latchkey::Backend> make_file_backend(std::string_view uri,
                                                            const latchkey::Options& options) {
  const std::string_view folder = uri.substr(uri.find(':') + 1);
  if (folder.empty()) {
    throw std::invalid_argument("'file:' names no folder: write file:/run/bank");
  }
  latchkey::Clock& clock = options.clock != nullptr ? *options.clock : latchkey::Clock::system();
  return std::make_unique<FileBackend>(folder, clock);
}

}  // namespace demo
