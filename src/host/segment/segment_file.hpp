// The file of a segment: made, opened, checked, and made larger.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/file_descriptor.hpp"
#include "host/segment/mapping_guard.hpp"
#include "host/segment/segment_format.hpp"

namespace latchkey::inline v1::detail::host {

/// Where a segment lies, and who may use it.
struct SegmentPlace {
  std::string description;  ///< of the URI, for messages
  std::string path;
  std::optional<gid_t> group;            ///< empty: its user alone
  std::uint64_t most_size = 256U << 20;  ///< of a segment that is made

  [[nodiscard]] mode_t mode() const noexcept { return group ? 0660 : 0600; }
  [[nodiscard]] gid_t shared_with() const noexcept { return group.value_or(0); }

  /// The place of `host:name` or `host:/path`, with its options. Throws std::invalid_argument.
  [[nodiscard]] static SegmentPlace parse(std::string_view uri);
};

/// A segment that is mapped. Its address stays the same while it grows.
class SegmentFile {
 public:
  /// Opens the segment, or makes it. One of an earlier boot is replaced by a new one. Follows no
  /// link. Throws Unusable (no room, no permission, somebody else's file), Damaged (it is none, or
  /// its version is another).
  [[nodiscard]] static SegmentFile open(const SegmentPlace& place);
  /// As it is, with no check but that it can be mapped; for a repair. Empty: there is none.
  [[nodiscard]] static std::optional<SegmentFile> open_any(const SegmentPlace& place);
  /// Puts a new segment in the place of `old`, whose processes learn of it. Fencing tokens go on
  /// from `last_token` or, if that is less, from the time of day.
  static void replace(const SegmentPlace& place, SegmentFile& old, std::uint64_t last_token);

  SegmentFile(SegmentFile&& other) noexcept;
  SegmentFile& operator=(SegmentFile&& other) noexcept;
  ~SegmentFile();

  [[nodiscard]] Layout& layout() const noexcept { return *static_cast<Layout*>(address_); }
  /// Whether the file has a header that can be read.
  [[nodiscard]] bool has_header() const noexcept { return file_size_ >= sizeof(Layout); }
  /// Why the file is no segment that this version can use; empty: it is one.
  [[nodiscard]] std::string problem() const;

  /// Makes the file larger, to at least `least` bytes. Throws Unusable. With the segment's lock.
  void grow(std::uint64_t least);
  /// Whether the path leads to this file still.
  [[nodiscard]] bool is_in_place(const SegmentPlace& place) const noexcept;
  /// Whether this process has met a part of the file that was cut off. What it sees since is a
  /// damaged segment of its own.
  [[nodiscard]] bool was_truncated() const noexcept { return guard_.has_lost_file(); }

 private:
  SegmentFile(FileDescriptor file, std::uint64_t file_size);
  void map(std::uint64_t size);
  void unmap() noexcept;

  static FileDescriptor open_existing(const SegmentPlace& place);
  static void make(const SegmentPlace& place, bool over_another, std::uint64_t last_token);
  [[nodiscard]] bool is_of_this_boot() const noexcept;

  FileDescriptor file_;
  void* address_ = nullptr;
  std::uint64_t file_size_ = 0;  ///< when it was opened
  std::uint64_t mapped_ = 0;
  MappingGuard guard_;
};

}  // namespace latchkey::inline v1::detail::host
