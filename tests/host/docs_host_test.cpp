// The example of docs/stores/host.md.
#include <gtest/gtest.h>

#include <filesystem>

#include <latchkey/locks.hpp>

#include "host/segment/segment_file.hpp"

namespace {

TEST(DocsHost, TheFirstProcessMakesTheSegment) {
  const std::string path = latchkey::detail::host::SegmentPlace::parse("host:orders").path;
  const bool was_there = std::filesystem::exists(path);
  {
    const latchkey::Locks locks = latchkey::Locks::connect("host:orders");
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  if (!was_there) std::filesystem::remove(path);
}

}  // namespace
