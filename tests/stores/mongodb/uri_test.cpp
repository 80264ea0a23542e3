// mongodb: URIs and the sentences about wrong ones.
// SPDX-License-Identifier: BSL-1.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include "stores/mongodb/uri.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using namespace detail::mongodb;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& uri) {
  try {
    static_cast<void>(parse_uri(uri, 2s));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

std::string option(const Settings& settings, const char* name) {
  return std::to_string(::mongoc_uri_get_option_as_int32(settings.uri.get(), name, -1));
}

TEST(MongoDbUri, OwnOptionsAreTakenAndTheRestIsLibmongocs) {
  const Settings settings = parse_uri(
      "mongodb://alice:s%40cret@h1:27018,h2/bank?collection=my%20locks&replicaSet=rs0"
      "&authSource=admin",
      1'500ms);
  EXPECT_EQ(settings.database, "bank");
  EXPECT_EQ(settings.collection, "my locks");
  EXPECT_EQ(settings.schema, detail::LockSchema::latchkey);
  EXPECT_EQ(settings.description, "mongodb://h1:27018,h2:27017/bank");
  EXPECT_STREQ(::mongoc_uri_get_username(settings.uri.get()), "alice");
  EXPECT_STREQ(::mongoc_uri_get_password(settings.uri.get()), "s@cret");
  EXPECT_STREQ(::mongoc_uri_get_replica_set(settings.uri.get()), "rs0");
  EXPECT_STREQ(::mongoc_uri_get_auth_source(settings.uri.get()), "admin");
}

TEST(MongoDbUri, TheDefaultsAreMajorityOneAttemptAndTheCommandTimeout) {
  const Settings settings = parse_uri("mongodb://h/bank", 1'500ms);
  EXPECT_EQ(settings.collection, "latchkey_locks");
  for (const char* const name : {MONGOC_URI_CONNECTTIMEOUTMS, MONGOC_URI_SOCKETTIMEOUTMS,
                                 MONGOC_URI_SERVERSELECTIONTIMEOUTMS}) {
    EXPECT_EQ(option(settings, name), "1500") << name;
  }
  const auto* const uri = settings.uri.get();
  EXPECT_FALSE(::mongoc_uri_get_option_as_bool(uri, MONGOC_URI_RETRYWRITES, true));
  EXPECT_FALSE(::mongoc_uri_get_option_as_bool(uri, MONGOC_URI_RETRYREADS, true));
  const mongoc_write_concern_t* const concern = ::mongoc_uri_get_write_concern(uri);
  EXPECT_TRUE(::mongoc_write_concern_get_wmajority(concern));
  EXPECT_EQ(::mongoc_write_concern_get_wtimeout(concern), 1'500);
}

TEST(MongoDbUri, WhatTheUriSaysOfWritesAndRetriesIsKept) {
  const Settings settings = parse_uri("mongodb://h/bank?w=2&retryWrites=true&retryReads=true", 2s);
  EXPECT_EQ(::mongoc_write_concern_get_w(::mongoc_uri_get_write_concern(settings.uri.get())), 2);
  EXPECT_TRUE(::mongoc_uri_get_option_as_bool(settings.uri.get(), MONGOC_URI_RETRYWRITES, false));
  EXPECT_TRUE(::mongoc_uri_get_option_as_bool(settings.uri.get(), MONGOC_URI_RETRYREADS, false));
}

TEST(MongoDbUri, ShedLocksCollectionIsTheDefaultOfItsSchema) {
  const Settings settings = parse_uri("mongodb://h/bank?schema=shedlock", 2s);
  EXPECT_EQ(settings.schema, detail::LockSchema::shedlock);
  EXPECT_EQ(settings.collection, "shedLock");
}

TEST(MongoDbUri, AWrongUriIsOneSentenceThatNamesTheWordAndTheCure) {
  EXPECT_THAT(refusal("mongodb://h"), HasSubstr("names no database; expected mongodb://"));
  EXPECT_THAT(
      refusal("mongodb://h/db?schema=spring"),
      HasSubstr("invalid value 'spring' of the option 'schema' in the MongoDB URI; expected "
                "latchkey or shedlock"));
  EXPECT_THAT(refusal("mongodb://h/db?colection=x"),
              HasSubstr("unknown option 'colection'; expected collection, schema"));
  EXPECT_THAT(refusal("mongodb://h/db?socketTimeoutMS=5"),
              HasSubstr("'socketTimeoutMS' is not offered; set Options::command_timeout"));
  EXPECT_THAT(refusal("mongodb://h/db?collection=a$b"), HasSubstr("the collection 'a$b'"));
  EXPECT_THAT(refusal("mongodb://h/db?w=0"), HasSubstr("leave it out for w=majority"));
  EXPECT_THAT(refusal("mongodb://h:port/db"), HasSubstr("expected mongodb://"));
}

TEST(MongoDbUri, TlsOptionsAreGivenToLibmongocByItsNames) {
  const auto files = [](const std::string& options) {
    const Settings settings = parse_uri("mongodb://h/db?" + options, 2s);
    const auto text = [&](const char* name) {
      return ::mongoc_uri_get_option_as_utf8(settings.uri.get(), name, "none");
    };
    return std::string(settings.tls ? "" : "no TLS, ") + text(MONGOC_URI_TLSCAFILE) + ' ' +
           text(MONGOC_URI_TLSCERTIFICATEKEYFILE);
  };
  EXPECT_EQ(files("tls_ca=/ca.pem&tls_cert=%2Fboth.pem"), "/ca.pem /both.pem");
  EXPECT_EQ(files("tls=true&tls_ca=/ca.pem"), "/ca.pem none");
  EXPECT_EQ(files("tls_cert=/both.pem&tls_key=/both.pem"), "none /both.pem");
  EXPECT_EQ(files("tls=true&tlsCAFile=/ca.pem"), "/ca.pem none");
  EXPECT_EQ(files("w=2"), "no TLS, none none");
  EXPECT_THAT(refusal("mongodb://h/db?tls_cert=/c&tls_key=/k"),
              HasSubstr("reads the certificate and its key from one file; expected tls_cert"));
  EXPECT_THAT(refusal("mongodb://h/db?tls_key=/k"),
              HasSubstr("the option 'tls_key' of the MongoDB URI needs 'tls_cert'"));
  EXPECT_THAT(refusal("mongodb://h/db?tls_ca=/a&tlsCAFile=/b"),
              HasSubstr("is libmongoc's; beside tls_ca and tls_cert leave it out"));
  EXPECT_THAT(refusal("mongodb://h/db?tls=false&tls_ca=/a"), HasSubstr("tls=false contradicts"));
}

// The clock of a secondary decided whether a lease had ended, and a check read an old document.
TEST(MongoDbUri, AReadPreferenceThatLeavesThePrimaryIsRefused) {
  for (const char* const mode :
       {"nearest", "primaryPreferred", "secondary", "secondaryPreferred"}) {
    const std::string preference = std::string("readPreference=") + mode;
    for (const char* const more : {"", "&readPreferenceTags=dc:ny", "&maxStalenessSeconds=120"}) {
      EXPECT_THAT(refusal("mongodb://h/db?" + preference + more),
                  AllOf(HasSubstr('\'' + preference + '\''), HasSubstr("leave it out for primary")))
          << more;
    }
  }
  EXPECT_THAT(refusal("mongodb://h/db?readpreference=n%65arest"), HasSubstr("leave it out"));
  EXPECT_EQ(refusal("mongodb://h/db?readPreference=primary"), "");
  EXPECT_EQ(refusal("mongodb://h/db?maxStalenessSeconds=-1"), "");
}

TEST(MongoDbUri, NoSentenceContainsUserOrPassword) {
  for (const char* const rest :
       {"@h", "@h:port/db", "@h/db?schema=x", "@h/db?what=x", "%zz@h/db", "@", "@@h/db?w=0"}) {
    const std::string text = refusal(std::string("mongodb://alice:secret") + rest);
    EXPECT_THAT(text, AllOf(Not(HasSubstr("alice")), Not(HasSubstr("secret")), Not(""))) << rest;
  }
}

}  // namespace
}  // namespace latchkey::tests
