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

/// The row of one key: a file with the holder and the end of its lease, locked by flock during
/// access. If a process dies, the kernel releases its flock, and its row ends with its lease.
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
      ::close(file_);  // the last holder removed it while this process waited for it
    }
    char text[128] = {};
    const ssize_t size = ::pread(file_, text, sizeof text - 1, 0);
    if (size < 0) fail("read");
    char holder[64] = {};
    long long ends = 0;
    if (std::sscanf(text, "%63s %lld", holder, &ends) != 2) return;  // no holder, or half written
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
    // Truncates first: a half-written row has no holder, never a wrong one.
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
    throw error;  // the outcome is unknown
  }

  std::filesystem::path path_;
  int file_ = -1;
  std::string holder_;
  latchkey::Clock::time_point ends_{};
};

/// `file:/run/bank` keeps its rows in that folder. The folder must be on this machine, and a
/// restart of the machine must empty it, because the clock that measures leases starts again then.
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
  /// Opening a row creates its file; the file is removed if nobody holds the key.
  latchkey::Outcome gone(Row& row, latchkey::Clock::time_point now) {
    if (!row.held(now)) row.remove();
    return SimpleBackend::gone();
  }

  /// Maps any key to a unique file name: bytes other than letters and digits become %XX. A name may
  /// have at most 255 bytes, so long names are split into folders.
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

/// For register_backend("file", ...), after which Locks::connect and latchkey.yaml accept file:
/// URIs.
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
