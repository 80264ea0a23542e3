// Segments for tests: each has a name of its own, and is removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

#include "host/host_backend.hpp"
#include "host/segment/segment_file.hpp"

namespace latchkey::tests {

/// For requests that are answered at once.
struct Nobody final : Sink {
  void completed(Request&, Outcome&&) noexcept override {}
  void notified(const Notification&) noexcept override {}
};

/// A segment that no other test uses.
class TestSegment {
 public:
  explicit TestSegment(const std::string& options = {})
      : name_("t" + std::to_string(::getpid()) + "-" + std::to_string(++last())),
        uri_("host:" + name_ + options) {}
  TestSegment(const TestSegment&) = delete;
  TestSegment& operator=(const TestSegment&) = delete;
  ~TestSegment() { remove(); }

  [[nodiscard]] const std::string& uri() const noexcept { return uri_; }
  [[nodiscard]] detail::host::SegmentPlace place() const {
    return detail::host::SegmentPlace::parse(uri_);
  }
  [[nodiscard]] std::string path() const { return place().path; }
  [[nodiscard]] std::unique_ptr<Backend> backend(const Options& options = {}) const {
    return detail::host::make_host_backend(uri_, options);
  }
  /// The segment and its FIFOs.
  void remove() const {
    const std::filesystem::path file = path();
    for (const auto& each : std::filesystem::directory_iterator(file.parent_path())) {
      if (each.path().filename().string().starts_with(file.filename().string())) {
        std::filesystem::remove(each.path());
      }
    }
  }
  /// How many files there are beside the segment.
  [[nodiscard]] int files() const {
    const std::filesystem::path file = path();
    int count = 0;
    for (const auto& each : std::filesystem::directory_iterator(file.parent_path())) {
      if (each.path().filename().string().starts_with(file.filename().string())) ++count;
    }
    return count;
  }

 private:
  static std::atomic<int>& last() {
    static std::atomic<int> number = 0;
    return number;
  }
  const std::string name_, uri_;
};

}  // namespace latchkey::tests
