// The guard for a file: the token beside it, the lock, and the rename.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/fences/fenced_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <latchkey/clock.hpp>
#include <latchkey/detail/in_quotes.hpp>
#include <latchkey/error.hpp>

#include "core/file_descriptor.hpp"
#include "core/text/printable.hpp"

namespace latchkey::inline v1 {
namespace {

using detail::FileDescriptor;
using std::chrono::milliseconds;

constexpr mode_t default_mode = 0666;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error(detail::printable("the fenced file " + detail::in_quotes(path) + ": " + why));
}

[[noreturn]] void fail_to(const char* what, const std::string& path) {
  const std::error_code error(errno, std::generic_category());
  fail(path, std::string("cannot ") + what + ": " + error.message());
}

FileDescriptor open_file(const std::string& path, int flags) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, default_mode));
  if (!file.valid()) fail_to("open it", path);
  return file;
}

void write_all(const FileDescriptor& file, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t size = ::write(file.get(), content.data(), content.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail_to("write it", path);
    content.remove_prefix(static_cast<std::size_t>(size));
  }
}

void sync_to_disk(const FileDescriptor& file, const std::string& path) {
  if (::fsync(file.get()) != 0) fail_to("write it to the disk", path);
}

/// flock has no timeout, so this asks again every few milliseconds.
void lock_file(const FileDescriptor& file, milliseconds patience, const std::string& path) {
  constexpr milliseconds pause{5};
  Clock& clock = Clock::system();
  const Clock::time_point end = later(clock.now(), patience);
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail_to("lock it", path);
    if (clock.now() >= end) {
      fail(path, "another writer has locked it for the whole wait of " +
                     std::to_string(patience.count()) + " ms");
    }
    std::this_thread::sleep_for(pause);
  }
}

/// The fence in the first line; what follows it is the rest of a longer one.
std::optional<Fence> read_fence(const FileDescriptor& file, const std::string& path) {
  constexpr std::size_t longest = 4096;  // a key of 1 KiB, each byte of it escaped, and the rest
  std::string text(longest, '\0');
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  if (size < 0) fail_to("read it", path);
  if (size == 0) return std::nullopt;
  text.resize(std::min(static_cast<std::size_t>(size), text.find('\n')));
  try {
    return Fence::parse(text);
  } catch (const FenceError& error) {
    fail(path, std::string(error.what()) + "; delete the file once nobody writes " +
                   "under an older fence");
  }
}

/// One write, so that a crash leaves the old line or the new one.
void write_fence(const FileDescriptor& file, const Fence& fence, const std::string& path) {
  const std::string line = fence.text() + '\n';
  const ssize_t written = ::pwrite(file.get(), line.data(), line.size(), 0);
  if (written != static_cast<ssize_t>(line.size())) fail_to("write it", path);
  if (::ftruncate(file.get(), static_cast<off_t>(line.size())) != 0) fail_to("shorten it", path);
  sync_to_disk(file, path);
}

void replace_file(const std::string& path, std::string_view content) {
  const std::string fresh = path + ".new";
  const FileDescriptor file = open_file(fresh, O_WRONLY | O_CREAT | O_TRUNC);
  struct stat old{};
  if (::stat(path.c_str(), &old) == 0 && ::fchmod(file.get(), old.st_mode & 07777U) != 0) {
    fail_to("give it the permissions of the old file", fresh);
  }
  write_all(file, content, fresh);
  sync_to_disk(file, fresh);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) fail_to("replace it", path);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  sync_to_disk(open_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY), folder);
}

/// Locks the file at `beside`, and remembers the fence there. The lock lasts as long as the result.
FileDescriptor admit_locked(const std::string& beside, const Fence& fence, milliseconds patience) {
  FileDescriptor file = open_file(beside, O_RDWR | O_CREAT);
  lock_file(file, patience, beside);
  const std::optional<Fence> last = read_fence(file, beside);
  if (last && last->key != fence.key) {
    fail(beside, "it is about the key " + detail::in_quotes(last->escaped_key()) +
                     "; expected that of the fence " + fence.text());
  }
  if (last && last->is_newer_than(fence)) {
    throw FenceRejected(fence.key, fence.token, last->token);
  }
  if (last != fence) write_fence(file, fence, beside);
  return file;
}

std::string beside(const std::filesystem::path& path) { return path.string() + ".fence"; }

}  // namespace

FencedFile::FencedFile(std::filesystem::path path) : path_(std::move(path)) {}

void FencedFile::admit(const Fence& fence, milliseconds patience) const {
  admit_locked(beside(path_), fence, patience);
}

// The token goes to the disk first: after a crash in between, the old content is there, and only
// this holder or a later one can write.
void FencedFile::write(const Fence& fence, std::string_view content, milliseconds patience) const {
  const FileDescriptor locked = admit_locked(beside(path_), fence, patience);
  replace_file(path_.string(), content);
}

std::optional<Fence> FencedFile::highest() const {
  const std::string name = beside(path_);
  const FileDescriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() && errno == ENOENT) return std::nullopt;
  if (!file.valid()) fail_to("open it", name);
  return read_fence(file, name);
}

}  // namespace latchkey::inline v1
