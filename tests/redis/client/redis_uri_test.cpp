// Redis URIs, and the messages of malformed ones.
#include "redis/uri/redis_uri.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace latchkey::detail::redis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Endpoint = RedisUri::Endpoint;

std::string refusal_of(std::string_view text) {
  try {
    const RedisUri uri = RedisUri::parse(text);
    return "taken: " + uri.describe();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(RedisUri, HostPortAndDatabase) {
  const RedisUri uri = RedisUri::parse("redis://example.org:7000/3");
  EXPECT_EQ(uri.transport, RedisUri::Transport::tcp);
  EXPECT_EQ(uri.endpoint.host, "example.org");
  EXPECT_EQ(uri.endpoint.port, 7000);
  EXPECT_EQ(uri.database, 3);
  EXPECT_FALSE(uri.logs_in());
  EXPECT_EQ(uri.client_name, "latchkey");
}

TEST(RedisUri, SetLocksHaveAFormat) {
  const RedisUri uri = RedisUri::parse("redis+set://example.org/3");
  EXPECT_EQ(uri.locks, RedisUri::Locks::set);
  EXPECT_EQ(uri.owners, OwnerFormat::hold_id);
  EXPECT_EQ(uri.describe(), "redis+set://example.org:6379/3");
  EXPECT_EQ(RedisUri::parse("redis://h").locks, RedisUri::Locks::redisson);
  const RedisUri tls = RedisUri::parse("rediss+set://h:7000?tls_server_name=x&format=redlock");
  EXPECT_EQ(tls.transport, RedisUri::Transport::tls);
  EXPECT_EQ(tls.tls_name(), "x");
  EXPECT_EQ(tls.owners, OwnerFormat::redlock);
  EXPECT_EQ(&tls.layout(), &set_layout(OwnerFormat::redlock));
  EXPECT_THAT(refusal_of("redis+set://h?format=base64"), HasSubstr("'base64'"));
  EXPECT_THAT(refusal_of("redis+set://h?formt=redlock"),
              HasSubstr("client_name, min_replicas, format"));
}

TEST(RedisUri, OmittedPartsHaveDefaults) {
  const RedisUri uri = RedisUri::parse("redis://localhost");
  EXPECT_EQ(uri.endpoint.port, 6379);
  EXPECT_EQ(uri.database, 0);
  EXPECT_EQ(RedisUri::parse("redis://localhost/").database, 0);
}

TEST(RedisUri, UserAndPasswordAreDecoded) {
  const RedisUri both = RedisUri::parse("redis://me%40home:p%3Aw%2F%25@h:1/0");
  EXPECT_EQ(both.user, "me@home");
  EXPECT_EQ(both.password, "p:w/%");
  const RedisUri alone = RedisUri::parse("redis://:secret@h");
  EXPECT_EQ(alone.user, "");
  EXPECT_EQ(alone.password, "secret");
  EXPECT_EQ(RedisUri::parse("redis://:a:b@h").password, "a:b");
  EXPECT_EQ(RedisUri::parse("redis://me@h").user, "me");
}

TEST(RedisUri, Ipv6AddressesAreBracketed) {
  const RedisUri uri = RedisUri::parse("redis://[::1]:7000");
  EXPECT_EQ(uri.endpoint.host, "::1");
  EXPECT_EQ(uri.endpoint.port, 7000);
  EXPECT_EQ(uri.describe(), "redis://[::1]:7000/0");
  EXPECT_EQ(RedisUri::parse("redis://[::1]").endpoint.port, 6379);
}

TEST(RedisUri, UnixSockets) {
  const RedisUri uri = RedisUri::parse("redis+unix:///tmp/a%20b.sock?db=2&client_name=me");
  EXPECT_EQ(uri.transport, RedisUri::Transport::unix_socket);
  EXPECT_EQ(uri.path, "/tmp/a b.sock");
  EXPECT_EQ(uri.database, 2);
  EXPECT_EQ(uri.client_name, "me");
  EXPECT_EQ(uri.describe(), "redis+unix:///tmp/a b.sock?db=2");
  EXPECT_EQ(RedisUri::parse("redis+unix://:pw@/tmp/s").password, "pw");
}

TEST(RedisUri, TlsOptions) {
  const RedisUri uri = RedisUri::parse(
      "rediss://h?tls_ca=/etc/ca.pem&tls_cert=/c.pem&tls_key=/k.pem"
      "&tls_server_name=redis.example.org");
  EXPECT_EQ(uri.transport, RedisUri::Transport::tls);
  EXPECT_EQ(uri.tls.ca, "/etc/ca.pem");
  EXPECT_EQ(uri.tls.certificate, "/c.pem");
  EXPECT_EQ(uri.tls.key, "/k.pem");
  EXPECT_EQ(uri.tls.server_name, "redis.example.org");
  EXPECT_EQ(uri.describe(), "rediss://h:6379/0");
  EXPECT_EQ(RedisUri::parse("rediss://h?tls_cert=/both.pem").tls.key, "/both.pem");
}

TEST(RedisUri, TheDescriptionContainsNoSecrets) {
  const std::string text = RedisUri::parse("redis://user:secret@h:1/2?client_name=x").describe();
  EXPECT_EQ(text, "redis://h:1/2");
}

TEST(RedisUri, ErrorsQuoteTheWrongPart) {
  EXPECT_THAT(refusal_of("http://h"), HasSubstr("begins with redis://, rediss://,"));
  EXPECT_THAT(refusal_of("redis://h:x"),
              HasSubstr("port 'x' in the redis:// URI; expected 1 to 65535"));
  EXPECT_THAT(refusal_of("redis://h:"), HasSubstr("invalid port ''"));
  EXPECT_THAT(refusal_of("redis://h:0"), HasSubstr("invalid port '0'"));
  EXPECT_THAT(refusal_of("redis://h:65536"), HasSubstr("invalid port '65536'"));
  EXPECT_THAT(refusal_of("redis://h:1x"), HasSubstr("invalid port '1x'"));
  EXPECT_THAT(refusal_of("redis://h:1:2"), HasSubstr("more than one ':'"));
  EXPECT_THAT(refusal_of("redis://h/x"),
              HasSubstr("database 'x' in the redis:// URI; expected a number"));
  EXPECT_THAT(refusal_of("redis://h/1/2"), HasSubstr("invalid database '1/2'"));
  EXPECT_THAT(refusal_of("redis://h/-1"), HasSubstr("invalid database '-1'"));
  EXPECT_THAT(refusal_of("redis://"), HasSubstr("missing host in the redis:// URI"));
  EXPECT_THAT(refusal_of("redis://:6379"), HasSubstr("example: redis://127.0.0.1:6379"));
  EXPECT_THAT(refusal_of("redis://[::1"), HasSubstr("missing ']'"));
  EXPECT_THAT(refusal_of("redis://[::1]x"), HasSubstr("after ']', not 'x'"));
  EXPECT_THAT(refusal_of("redis://h#x"), HasSubstr("write '#' as %23"));
  EXPECT_THAT(refusal_of("redis://h two"), HasSubstr("write '#' as %23"));
}

TEST(RedisUri, ErrorsListTheValidOptions) {
  EXPECT_THAT(
      refusal_of("redis://h?timeout=3"),
      HasSubstr("unknown option 'timeout' in the redis:// URI; expected one of client_name"));
  EXPECT_THAT(refusal_of("redis://h?tls_ca=/x"),
              HasSubstr("the option 'tls_ca' of the redis:// URI needs rediss://"));
  EXPECT_THAT(refusal_of("redis+cluster://h?tls_ca=/x"), HasSubstr("needs rediss+cluster://"));
  EXPECT_THAT(refusal_of("rediss://h?ca=/x"),
              HasSubstr("client_name, min_replicas, tls_ca, tls_cert, tls_key, tls_server_name"));
  EXPECT_THAT(refusal_of("redis+unix:///s?port=1"), HasSubstr("client_name, min_replicas, db"));
  EXPECT_THAT(refusal_of("redis://h?db=1"),
              HasSubstr("the option 'db' of the redis:// URI needs redis+unix://; here the "
                        "database is the path, as in redis://host/1"));
  EXPECT_THAT(refusal_of("redis+unix:///s?db=a"),
              HasSubstr("invalid value 'a' of the option 'db'"));
  EXPECT_THAT(refusal_of("redis://h?client_name"), HasSubstr("'client_name'"));
  EXPECT_THAT(refusal_of("redis://h?client_name="), HasSubstr("missing value"));
  EXPECT_THAT(refusal_of("redis://h?client_name=a%20b"), HasSubstr("without spaces"));
  EXPECT_THAT(refusal_of("rediss://h?tls_key=/k"),
              HasSubstr("the option 'tls_key' of the rediss:// URI needs 'tls_cert'"));
  EXPECT_THAT(refusal_of("redis://h?"), HasSubstr("missing value of the option ''"));
}

TEST(RedisUri, UnixPathsAreAbsoluteAndShortEnough) {
  EXPECT_THAT(refusal_of("redis+unix://tmp/s"), HasSubstr("missing path"));
  EXPECT_THAT(refusal_of("redis+unix://"), HasSubstr("missing path"));
  EXPECT_THAT(refusal_of("redis+unix:///" + std::string(200, 'x')),
              HasSubstr("at most 107 bytes, this one 201"));
}

// A '/', '?', '#' or '@' that is not encoded splits the password, and the second part would be in a
// part of the URI that messages quote.
TEST(RedisUri, NoErrorQuotesAPassword) {
  for (const char* text :
       {"redis://u:se/cret@h", "redis://u:se?cret@h", "redis://u:se#cret@h", "redis://u:se@cret@h",
        "redis://:se%zzcret@h", "redis://u:se%0@h", "redis://u:secret@h:xx",
        "redis://u:secret@h?secre=1", "redis+unix://u:se/cret@/tmp/s", "redis://u:se%00cret@h",
        "redis+sentinel://u:se/cret@h1,h2/m", "redis+cluster://u:se?cret@h1,h2",
        "redis+sentinel://h/m?sentinel_password=se@cret",
        "redis+sentinel://h/m?sentinel_password=se%zzcret"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(refusal_of(text),
                AllOf(Not(HasSubstr("taken")), Not(HasSubstr("cret")), Not(HasSubstr("se%"))));
  }
}

TEST(RedisUri, SentinelsAndTheirMaster) {
  const RedisUri uri = RedisUri::parse(
      "redis+sentinel://me:pw@h1,h2:7000,[::1]/orders/3?sentinel_user=w&sentinel_password=p%40");
  EXPECT_EQ(uri.deployment, RedisUri::Deployment::sentinel);
  EXPECT_THAT(uri.endpoints,
              ElementsAre(Endpoint{"h1", 26379}, Endpoint{"h2", 7000}, Endpoint{"::1", 26379}));
  EXPECT_EQ(uri.master, "orders");
  EXPECT_EQ(uri.database, 3);
  EXPECT_EQ(uri.describe(), "redis+sentinel://h1:26379,h2:7000,[::1]:26379/orders/3");
  const RedisUri sentinel = uri.sentinel_at(uri.endpoints[1]);
  EXPECT_EQ(sentinel.user, "w");
  EXPECT_EQ(sentinel.password, "p@");
  EXPECT_EQ(sentinel.database, 0);
  EXPECT_EQ(sentinel.describe(), "redis://h2:7000/0");
  const RedisUri server = uri.server_at({"h9", 1});
  EXPECT_EQ(server.user, "me");
  EXPECT_EQ(server.database, 3);
}

TEST(RedisUri, NodesOfACluster) {
  const RedisUri uri = RedisUri::parse("rediss+cluster://:pw@h1,h2:7000?tls_ca=/ca");
  EXPECT_EQ(uri.deployment, RedisUri::Deployment::cluster);
  EXPECT_EQ(uri.transport, RedisUri::Transport::tls);
  EXPECT_THAT(uri.endpoints, ElementsAre(Endpoint{"h1", 6379}, Endpoint{"h2", 7000}));
  EXPECT_EQ(uri.describe(), "rediss+cluster://h1:6379,h2:7000");
}

TEST(RedisUri, DescriptionsNameTheDeployment) {
  EXPECT_THAT(refusal_of("redis+sentinel://h1,h2"), HasSubstr("redis+sentinel://h1,h2,h3/master"));
  EXPECT_THAT(refusal_of("redis+sentinel://h1,,h2/m"), HasSubstr("missing host"));
  EXPECT_THAT(refusal_of("redis+cluster://h1/2"),
              HasSubstr("database '2' in the redis+cluster:// URI; a cluster has database 0"));
  EXPECT_THAT(refusal_of("redis://h1,h2"), HasSubstr("redis+cluster://h1,h2,h3"));
  EXPECT_THAT(refusal_of("redis://h1?sentinel_user=u"),
              HasSubstr("'sentinel_user' of the redis:// URI needs redis+sentinel://"));
}

TEST(RedisUri, ReplicasAndShardedPubSubAreOptions) {
  EXPECT_EQ(RedisUri::parse("redis://h").min_replicas, 0);
  for (const char* scheme : {"redis://h", "rediss://h", "redis+unix:///s", "redis+sentinel://h/m",
                             "redis+cluster://h", "redis+set://h"}) {
    EXPECT_EQ(RedisUri::parse(std::string(scheme) + "?min_replicas=2").min_replicas, 2) << scheme;
  }
  const auto mode_of = [](const std::string& option) {
    return RedisUri::parse("redis+cluster://h" + option).sharded_pubsub;
  };
  EXPECT_EQ(mode_of(""), ShardedPubSub::automatic);
  EXPECT_EQ(mode_of("?sharded_pubsub=auto"), ShardedPubSub::automatic);
  EXPECT_EQ(mode_of("?sharded_pubsub=on"), ShardedPubSub::on);
  EXPECT_EQ(mode_of("?sharded_pubsub=off"), ShardedPubSub::off);
  for (const char* wrong : {"-1", "101", "two", "1.5", "99999999999"}) {
    EXPECT_EQ(refusal_of(std::string("redis://h?min_replicas=") + wrong),
              "invalid value '" + std::string(wrong) +
                  "' of the option 'min_replicas' in the redis:// URI; expected a whole number "
                  "from 0 to 100");
  }
  EXPECT_EQ(refusal_of("redis+cluster://h?sharded_pubsub=ON"),
            "invalid value 'ON' of the option 'sharded_pubsub' in the redis+cluster:// URI; "
            "expected on, off or auto");
}

// The option would have no effect there.
TEST(RedisUri, ShardedPubSubNeedsACluster) {
  for (const std::string scheme : {"redis", "redis+set"}) {
    EXPECT_EQ(refusal_of(scheme + "://h?sharded_pubsub=off"),
              "the option 'sharded_pubsub' of the " + scheme + ":// URI needs redis+cluster://");
  }
}

TEST(RedisUri, AnOldNameOfATlsOptionIsRefusedWithTheNewOne) {
  EXPECT_EQ(refusal_of("rediss://h?cafile=/x"),
            "the option 'cafile' of the rediss:// URI is now called 'tls_ca'");
  EXPECT_THAT(refusal_of("rediss://h?cert=/x"), HasSubstr("is now called 'tls_cert'"));
  EXPECT_THAT(refusal_of("rediss://h?key=/x"), HasSubstr("is now called 'tls_key'"));
  EXPECT_THAT(refusal_of("redis://h?servername=x"), HasSubstr("is now called 'tls_server_name'"));
}

TEST(RedisUri, PercentSignsNeedTwoDigits) {
  EXPECT_THAT(refusal_of("redis://:%4@h"),
              HasSubstr("invalid password in the redis:// URI: '%' must be"));
  EXPECT_THAT(refusal_of("redis://%@h"), HasSubstr("invalid user in the redis:// URI"));
  EXPECT_THAT(refusal_of("redis+unix:///a%"), HasSubstr("invalid path in the redis+unix:// URI"));
  EXPECT_THAT(refusal_of("redis+unix:///a%+1"), HasSubstr("invalid path in the redis+unix:// URI"));
}

}  // namespace
}  // namespace latchkey::detail::redis
