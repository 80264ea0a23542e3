// The file of a segment: made, opened, checked, and made larger.
// SPDX-License-Identifier: BSL-1.0
#include "host/segment/segment_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <system_error>
#include <utility>

#include <latchkey/clock.hpp>
#include <latchkey/hold_id.hpp>

namespace latchkey::inline v1::detail::host {
namespace {

std::string reason_of(int error) { return std::generic_category().message(error); }

std::string in_quotes(const SegmentPlace& place) { return "'" + place.path + "'"; }

std::array<std::uint64_t, 2> boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  file >> text;
  const std::optional<HoldId> id = HoldId::parse(text + ":1");
  return id ? id->space : std::array<std::uint64_t, 2>{};
}

std::uint64_t time_namespace() noexcept {
  struct stat its{};
  return ::stat("/proc/self/ns/time", &its) == 0 ? its.st_ino : 0;
}

/// Throws Unusable unless the file is one that this process may trust.
void require_own(const SegmentPlace& place, int file) {
  struct stat its{};
  if (::fstat(file, &its) != 0) throw Unusable(in_quotes(place) + ": " + reason_of(errno));
  if (!S_ISREG(its.st_mode)) throw Unusable(in_quotes(place) + " is no regular file");
  if (place.group) {
    if (its.st_gid != *place.group) {
      throw Unusable(in_quotes(place) + " belongs to group " + std::to_string(its.st_gid) +
                     ", not to group " + std::to_string(*place.group) + " of the URI");
    }
  } else if (its.st_uid != ::geteuid()) {
    throw Unusable(in_quotes(place) + " belongs to user " + std::to_string(its.st_uid) +
                   ", not to user " + std::to_string(::geteuid()) +
                   " of this process; remove it, or share it by group= in the URI");
  }
  if ((its.st_mode & 0777 & ~place.mode()) != 0) {
    throw Unusable(in_quotes(place) + " can be used by others; expected mode " +
                   (place.group ? "0660" : "0600") + ": chmod it, or remove it");
  }
}

/// Makes it a segment that nobody may use, without a word by which a lock could be taken.
void mark_damaged(void* memory) noexcept {
  Layout& segment = *static_cast<Layout*>(memory);
  segment.header.state.store(static_cast<std::uint64_t>(State::damaged));
  for (Word& word : segment.thin) word.store(ThinWord::in_table, std::memory_order_relaxed);
}

}  // namespace

SegmentFile::SegmentFile(FileDescriptor file, std::uint64_t file_size)
    : file_(std::move(file)), file_size_(file_size) {
  map(std::max<std::uint64_t>(file_size_, 4096));
  if (!has_header() || layout().header.magic != format_magic) return;
  // From here on the file may grow as far as its header allows: the address space is there.
  const std::uint64_t most = layout().header.most_size.load(std::memory_order_relaxed);
  if (most <= mapped_ || most > std::uint64_t{1} << 40) return;
  unmap();
  map(most);
}

void SegmentFile::map(std::uint64_t size) {
  void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (mapped == MAP_FAILED) throw Unusable("cannot map it: " + reason_of(errno));
  address_ = mapped;
  mapped_ = size;
  guard_ = MappingGuard(address_, mapped_, mark_damaged);
}

void SegmentFile::unmap() noexcept {
  guard_ = {};
  if (address_ != nullptr) ::munmap(std::exchange(address_, nullptr), mapped_);
}

SegmentFile::SegmentFile(SegmentFile&& other) noexcept
    : file_(std::move(other.file_)),
      address_(std::exchange(other.address_, nullptr)),
      file_size_(other.file_size_),
      mapped_(other.mapped_),
      guard_(std::move(other.guard_)) {}

SegmentFile& SegmentFile::operator=(SegmentFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(address_, other.address_);
  std::swap(file_size_, other.file_size_);
  std::swap(mapped_, other.mapped_);
  std::swap(guard_, other.guard_);
  return *this;
}

SegmentFile::~SegmentFile() { unmap(); }

FileDescriptor SegmentFile::open_existing(const SegmentPlace& place) {
  FileDescriptor file(
      ::open(place.path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.valid()) {
    require_own(place, file.get());
    return file;
  }
  if (errno == ENOENT) return file;
  if (errno == ELOOP) throw Unusable(in_quotes(place) + " is a symbolic link; expected a file");
  throw Unusable("cannot open " + in_quotes(place) + ": " + reason_of(errno));
}

std::optional<SegmentFile> SegmentFile::open_any(const SegmentPlace& place) {
  FileDescriptor file = open_existing(place);
  if (!file.valid()) return std::nullopt;
  struct stat its{};
  ::fstat(file.get(), &its);
  return SegmentFile(std::move(file), static_cast<std::uint64_t>(its.st_size));
}

// A few rounds: another process may make, replace or remove it meanwhile.
SegmentFile SegmentFile::open(const SegmentPlace& place) {
  for (int round = 0; round < 100; ++round) {
    std::optional<SegmentFile> segment = open_any(place);
    if (!segment) {
      make(place, false, 0);
      continue;
    }
    if (const std::string problem = segment->problem(); !problem.empty()) throw Damaged(problem);
    if (segment->layout().header.state.load() == static_cast<std::uint64_t>(State::replaced)) {
      continue;
    }
    if (segment->is_of_this_boot()) return std::move(*segment);
    replace(place, *segment, segment->layout().header.last_token.load());
  }
  throw Unusable(in_quotes(place) + " is replaced again and again");
}

std::string SegmentFile::problem() const {
  const auto repair = [](const std::string& what) { return what + "; " + repair_hint; };
  if (!has_header()) {
    return repair("it has " + std::to_string(file_size_) + " bytes, fewer than any segment");
  }
  const Header& header = layout().header;
  if (header.magic != format_magic) return repair("it is no segment of latchkey");
  if (header.version != format_version) {
    return "its format is version " + std::to_string(header.version) + ", and this latchkey has " +
           std::to_string(format_version) + ": use one version on a machine, or two names";
  }
  const std::uint64_t size = header.size.load();
  if (size > file_size_ || size < sizeof(Layout) || size > header.most_size.load() ||
      header.cell_bytes != cell_size) {
    return repair("it was truncated: it has " + std::to_string(file_size_) + " bytes of " +
                  std::to_string(size));
  }
  if (header.state.load() == static_cast<std::uint64_t>(State::damaged)) {
    return repair("a process has found it damaged");
  }
  const std::uint64_t here = time_namespace();
  if (header.time_namespace != 0 && here != 0 && header.time_namespace != here) {
    return "it is of another time namespace, whose clock is another: leases need one for all";
  }
  return {};
}

bool SegmentFile::is_of_this_boot() const noexcept { return layout().header.boot == boot_id(); }

bool SegmentFile::is_in_place(const SegmentPlace& place) const noexcept {
  struct stat there{}, mine{};
  return ::lstat(place.path.c_str(), &there) == 0 && ::fstat(file_.get(), &mine) == 0 &&
         there.st_ino == mine.st_ino && there.st_dev == mine.st_dev;
}

// A segment is complete before it has its name: nobody sees a part of one.
void SegmentFile::make(const SegmentPlace& place, bool over_another, std::uint64_t last_token) {
  const std::string unfinished =
      place.path + ".new" + HoldId{HoldId::new_space(), 1}.text().substr(0, 8);
  FileDescriptor file(
      ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) throw Unusable("cannot make " + in_quotes(place) + ": " + reason_of(errno));
  struct Remove {
    const std::string& path;
    ~Remove() { ::unlink(path.c_str()); }
  } const remove{unfinished};
  if (place.group && (::fchown(file.get(), static_cast<uid_t>(-1), *place.group) != 0 ||
                      ::fchmod(file.get(), place.mode()) != 0)) {
    throw Unusable("cannot give " + in_quotes(place) + " to group " + std::to_string(*place.group) +
                   ": " + reason_of(errno));
  }
  if (const int error = ::posix_fallocate(file.get(), 0, first_size); error != 0) {
    throw Unusable("no room for " + in_quotes(place) + ": " + reason_of(error));
  }
  const int raw = ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0);
  if (raw < 0) throw Unusable("cannot make " + in_quotes(place) + ": " + reason_of(errno));
  SegmentFile segment(FileDescriptor(raw), first_size);
  auto* const made = ::new (static_cast<void*>(&segment.layout())) Layout;
  Header& header = made->header;
  header.magic = format_magic;
  header.version = format_version;
  header.cell_bytes = cell_size;
  header.size = first_size;
  header.most_size = std::max<std::uint64_t>(place.most_size, first_size);
  header.boot = boot_id();
  header.time_namespace = time_namespace();
  header.fresh_cell = 1;
  // Tokens rise also if the segment was lost with the machine's memory.
  const auto day =
      std::chrono::floor<std::chrono::microseconds>(Clock::system().wall().time_since_epoch());
  header.last_token = std::max(last_token, static_cast<std::uint64_t>(day.count()));
  header.state = static_cast<std::uint64_t>(State::ready);
  const int placed = over_another ? ::rename(unfinished.c_str(), place.path.c_str())
                                  : ::link(unfinished.c_str(), place.path.c_str());
  if (placed != 0 && errno != EEXIST) {
    throw Unusable("cannot make " + in_quotes(place) + ": " + reason_of(errno));
  }
}

void SegmentFile::replace(const SegmentPlace& place, SegmentFile& old, std::uint64_t last_token) {
  if (::flock(old.file_.get(), LOCK_EX) != 0) {
    throw Unusable("cannot replace " + in_quotes(place) + ": " + reason_of(errno));
  }
  if (old.is_in_place(place)) {
    make(place, true, last_token);
    if (old.has_header() && old.layout().header.magic == format_magic) {
      old.layout().header.state = static_cast<std::uint64_t>(State::replaced);
    }
  }
  ::flock(old.file_.get(), LOCK_UN);
}

void SegmentFile::grow(std::uint64_t least) {
  Header& header = layout().header;
  const std::uint64_t size = header.size.load();
  const std::uint64_t most = std::min(header.most_size.load(), mapped_);
  if (least > most) {
    throw Unusable("the segment is full: it may have " + std::to_string(most) +
                   " bytes; give a new one more by size= in the URI");
  }
  const std::uint64_t wanted =
      std::min(std::max(least, size + size / 2), most) & ~std::uint64_t{4095};
  const std::uint64_t larger = std::max(wanted, least);
  if (const int error = ::posix_fallocate(file_.get(), static_cast<off_t>(size),
                                          static_cast<off_t>(larger - size));
      error != 0) {
    throw Unusable("no room for a larger segment: " + reason_of(error));
  }
  header.size.store(larger);
}

}  // namespace latchkey::inline v1::detail::host
