// An object that is made of files, and made again when one of them has changed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace latchkey::inline v1::detail {

/// Which content a path leads to. It differs after the file was written or replaced, and after a
/// symbolic link on the way was made to lead elsewhere, as Kubernetes does.
struct FileVersion {
  std::uint64_t device = 0, number = 0;
  std::int64_t size = -1;  ///< -1: there is no file
  std::int64_t changed_seconds = 0, changed_nanoseconds = 0;

  [[nodiscard]] static FileVersion of(const std::string& path) noexcept {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return {};
    return {found.st_dev, found.st_ino, found.st_size, found.st_ctim.tv_sec, found.st_ctim.tv_nsec};
  }
  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

/// An object that is made of files, such as a certificate and its key. A renewed certificate takes
/// the place of the old file, and the object is made again. One thread at a time.
template <class Made>
class MadeOfFiles {
 public:
  /// Throws std::invalid_argument if a file cannot be used.
  using Make = std::function<Made()>;

  /// Empty paths are left out. Throws what `make` throws.
  MadeOfFiles(std::vector<std::string> paths, Make make)
      : paths_(std::move(paths)), make_(std::move(make)), versions_(versions()), made_(make_()) {}

  /// The object made of the files as they are now. If these cannot be used, the last object stays,
  /// and `problem` says why: a certificate and its key are not replaced in one step.
  [[nodiscard]] const Made& current() {
    std::vector<FileVersion> found = versions();
    if (found == versions_) return made_;
    try {
      made_ = make_();
      versions_ = std::move(found);
      problem_.clear();
    } catch (const std::invalid_argument& unusable) {
      problem_ = unusable.what();
    }
    return made_;
  }
  /// Why the files cannot be used, as a sentence; empty: they can.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  [[nodiscard]] std::vector<FileVersion> versions() const {
    std::vector<FileVersion> found;
    for (const std::string& path : paths_) {
      if (!path.empty()) found.push_back(FileVersion::of(path));
    }
    return found;
  }

  const std::vector<std::string> paths_;
  const Make make_;
  std::vector<FileVersion> versions_;
  Made made_;
  std::string problem_;
};

}  // namespace latchkey::inline v1::detail
