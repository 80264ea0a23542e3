// The guard for a file: written whole, and only under a fence that is not too old.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>

#include <latchkey/fence.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// A file that one lock guards. The highest fence is kept beside it, in `<path>.fence`; writers
/// lock that file (flock) while they compare, write `<path>.new` and rename it. Readers see the old
/// content or the new one, never a part.
///
/// Not promised: writes that do not use this class; a network file system without working flock;
/// and the content of `<path>` if somebody deletes `<path>.fence`, because then every fence is new.
///
/// Thread-safe: it only keeps the path, and each write locks by a descriptor of its own.
class FencedFile {
 public:
  /// Opens nothing yet. The folder of `path` must exist when something is written.
  explicit FencedFile(std::filesystem::path path);

  /// Remembers the fence and writes nothing: call it before you read what you will change, so that
  /// no earlier holder can write any more. Throws FenceRejected and Error as write does.
  void admit(const Fence& fence,
             std::chrono::milliseconds patience = std::chrono::seconds(10)) const;

  /// Replaces the content. Throws FenceRejected, and leaves the file as it is, if a higher token
  /// has written before. An equal token writes: it is the same holder. On return file and token are
  /// on the disk (fsync). A new file gets the permissions of the old one.
  ///
  /// Throws Error if another writer holds the lock of `<path>.fence` for all of `patience`, if that
  /// file is about another key or is not one of this class, and if the system reports an error;
  /// the file then has the old content or the new one, and the token may be remembered.
  void write(const Fence& fence, std::string_view content,
             std::chrono::milliseconds patience = std::chrono::seconds(10)) const;

  /// The fence of the last holder that wrote or was admitted; empty: there was none. Throws Error
  /// as write does.
  [[nodiscard]] std::optional<Fence> highest() const;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
