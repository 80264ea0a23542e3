// Documents of keys that latchkey has not written so: the key is neither held nor free.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "fake_server.hpp"
#include "stores/mongodb/lock_document.hpp"

namespace latchkey::tests {
namespace {

using namespace detail::mongodb;

LockDocument document_of(const std::string& json) {
  const std::string bytes = bson_of(json);
  bson_t view;
  EXPECT_TRUE(
      ::bson_init_static(&view, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  return LockDocument(Bson(view));
}

TEST(MongoDbDocument, WhatLatchkeyWritesIsRead) {
  const LockDocument held = document_of(R"({"_id": "k", "owner": "o", "type": "WRITE",
      "since": {"$date": {"$numberLong": "1000"}}, "lease": {"$numberLong": "500"}, "fence": 7})");
  EXPECT_EQ(held.wrong_field, "");
  EXPECT_TRUE(held.held({1'500}));
  EXPECT_FALSE(held.held({1'501}));
  EXPECT_EQ(held.fence, 7);
  const LockDocument read = document_of(
      R"({"readers": [{"owner": "o", "ends": {"$date": {"$numberLong": "9"}}}], "fence": 2.0})");
  EXPECT_EQ(read.wrong_field, "");
  EXPECT_EQ(read.fence, 2);
}

// A hold whose end overflowed, or could not be read, had ended, and the lock was granted again.
TEST(MongoDbDocument, AHoldWithAWrongFieldHasNotEnded) {
  const std::string since = R"("since": {"$date": {"$numberLong": "1000"}})";
  for (const auto& [field, json] : std::initializer_list<std::pair<std::string, std::string>>{
           {"owner", R"({"owner": 5, "lease": 1, )" + since + '}'},
           {"since", R"({"owner": "o", "lease": 1})"},
           {"since", R"({"owner": "o", "lease": 1, "since": 7})"},
           {"since", R"({"owner": "o", "lease": 1,
                         "since": {"$date": {"$numberLong": "9223372036854775807"}}})"},
           {"lease", R"({"owner": "o", )" + since + '}'},
           {"lease", R"({"owner": "o", "lease": "1", )" + since + '}'},
           {"lease", R"({"owner": "o", "lease": -1, )" + since + '}'},
           {"lease", R"({"owner": "o", "lease": 1e300, )" + since + '}'},
           {"lease",
            R"({"owner": "o", "lease": {"$numberLong": "9223372036854775807"}, )" + since + '}'},
           {"readers", R"({"readers": 1})"},
           {"readers", R"({"readers": [1]})"},
           {"readers", R"({"readers": [{"owner": "o"}]})"},
           {"readers", R"({"readers": [{"owner": "o", "ends": 1}]})"},
           {"fence", R"({"fence": "1"})"},
           {"fence", R"({"fence": -1})"},
           {"fence", R"({"fence": {"$numberLong": "9223372036854775807"}})"},
           {"writer", R"({"readers": [], "writer": true})"}}) {
    SCOPED_TRACE(json);
    const LockDocument document = document_of(json);
    EXPECT_EQ(document.wrong_field, field);
    EXPECT_TRUE(document.held({2'000}));
  }
}

}  // namespace
}  // namespace latchkey::tests
