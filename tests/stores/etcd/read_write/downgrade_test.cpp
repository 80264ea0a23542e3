// A WRITE that becomes a READ: its key is replaced, unless somebody would be let in that it
// excludes.
#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "fixture.hpp"
#include "http2_proxy.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using enum LockType;

class EtcdDowngrade : public EtcdReadWriteTest {
 protected:
  /// The kind of the only key.
  [[nodiscard]] std::string only_key() const {
    const auto all = keys();
    if (all.size() != 1) return std::to_string(all.size()) + " keys";
    return all[0].starts_with(key_ + "/read/") ? "read" : "write";
  }
};

TEST_F(EtcdDowngrade, TheKeyOfTheWriterIsReplacedByOneOfAReader) {
  Waiter holder(uri()), reader(uri()), second(uri());
  EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
  EXPECT_EQ(acquire(reader, READ).kind, Kind::busy);
  EXPECT_EQ(downgrade(holder), Kind::granted);
  EXPECT_TRUE(is_told(reader, Note::released));
  EXPECT_EQ(acquire(reader, READ).kind, Kind::granted);
  EXPECT_EQ(acquire(second, READ).kind, Kind::granted);
  EXPECT_EQ(downgrade(holder), Kind::granted) << "repeated";
  EXPECT_EQ(renew(holder, READ), Kind::granted);
  for (Waiter* const each : {&holder, &reader, &second}) {
    EXPECT_EQ(attempt(second, WRITE), Kind::busy);
    EXPECT_EQ(release(*each, READ), Kind::granted);
  }
  EXPECT_TRUE(keys().empty());
}

// A key that is made now would be behind the writer that waits, and let it in.
TEST_F(EtcdDowngrade, AWriterThatWaitsStaysBehindTheReaderThatWasAWriter) {
  Waiter holder(uri()), writer(uri()), reader(uri());
  EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
  EXPECT_EQ(acquire(writer, WRITE).kind, Kind::busy);
  EXPECT_EQ(downgrade(holder), Kind::granted);
  EXPECT_EQ(holder.probe.send(Verb::verify, key_, READ, holder.id).kind, Kind::granted);
  EXPECT_TRUE(is_told_nothing(writer));
  EXPECT_EQ(attempt(reader, READ), Kind::busy);
  EXPECT_EQ(release(holder, READ), Kind::granted);
  EXPECT_TRUE(is_told(writer, Note::granted));
}

TEST_F(EtcdDowngrade, TheNextCheckReplacesTheKeyOnceNobodyIsBehindIt) {
  for (const LockType behind : {WRITE, REENTRANT}) {
    Waiter holder(uri()), other(uri()), reader(uri());
    EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
    EXPECT_EQ(acquire(other, behind).kind, Kind::busy);
    EXPECT_EQ(downgrade(holder), Kind::granted);
    EXPECT_EQ(other.probe.send(Verb::leave, key_, behind, other.id).kind, Kind::granted);
    EXPECT_EQ(only_key(), "write");
    EXPECT_EQ(attempt(reader, READ), Kind::busy);
    EXPECT_EQ(renew(holder, READ), Kind::granted);
    EXPECT_EQ(only_key(), "read");
    EXPECT_EQ(acquire(reader, READ).kind, Kind::granted);
    EXPECT_EQ(release(reader, READ), Kind::granted);
    EXPECT_EQ(release(holder, READ), Kind::granted);
    EXPECT_TRUE(keys().empty());
  }
}

TEST_F(EtcdDowngrade, AKeyThatSomebodyHasDeletedIsALoss) {
  for (const bool waits : {false, true}) {
    Waiter holder(uri()), writer(uri());
    EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
    const std::string key = last_key();
    if (waits) {
      EXPECT_EQ(acquire(writer, WRITE).kind, Kind::busy);
      EXPECT_EQ(downgrade(holder), Kind::granted);
    }
    server_.ctl({"del", key});
    EXPECT_EQ(waits ? renew(holder, READ) : downgrade(holder), Kind::gone);
    EXPECT_EQ(release(holder, READ), Kind::gone);
    if (waits) {
      EXPECT_TRUE(is_told(writer, Note::granted));
      EXPECT_EQ(release(writer, WRITE), Kind::granted);
    }
    EXPECT_TRUE(keys().empty());
  }
}

// The own deletion of the writer's key was told as one by somebody else.
TEST_F(EtcdDowngrade, TheReplacementOfAWatchedKeyIsNoLoss) {
  Waiter holder(uri());
  EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
  Request check;
  check.verb = Verb::renew;
  check.key = key_;
  check.type = WRITE;
  check.id = holder.id;
  check.lease = lease;
  check.watch = true;
  EXPECT_EQ(holder.probe.send(check).kind, Kind::granted);
  EXPECT_EQ(downgrade(holder), Kind::granted);
  EXPECT_TRUE(is_told_nothing(holder));
  check.type = READ;
  EXPECT_EQ(holder.probe.send(check).kind, Kind::granted);
  server_.ctl({"del", last_key()});
  const auto notes = holder.probe.notes(patience);
  ASSERT_EQ(notes.size(), 1U) << "the reader's key is watched";
  EXPECT_EQ(notes[0].kind, Note::changed);
}

/// etcd behind a proxy that discards the reply to the transaction that replaces a key, or the
/// transaction itself, and answers with an error of HTTP.
class EtcdLostDowngrade : public EtcdDowngrade, public ::testing::WithParamInterface<bool> {
 protected:
  using Frame = Http2Frame;
  using Answer = Http2Proxy::Answer;

  [[nodiscard]] bool is_carried_out() const { return GetParam(); }
  /// It deletes the key of a writer and makes that of a reader.
  [[nodiscard]] bool replaces(const Frame& frame) const {
    const std::string reader = key_ + "/read/";
    const std::string_view text = frame.content();
    if (frame.type() != Frame::data || text.find(key_ + "/write/") == text.npos) return false;
    for (std::size_t at = text.find(reader); at != text.npos; at = text.find(reader, at + 1)) {
      const std::string_view rest = text.substr(at + reader.size());
      if (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0) return true;
    }
    return false;
  }
  Answer on_request(const Frame& frame) {
    // The next connection has the same numbers of streams.
    if (frame.type() == Frame::headers && frame.stream() == 1) lost_.clear();
    if (!answered_ && lost_.empty() && replaces(frame)) {
      lost_.insert(frame.stream());
      if (!is_carried_out()) return {Frame::cancel(frame.stream()).bytes, error(frame.stream())};
    }
    return Http2Proxy::forward_to_server(frame);
  }
  Answer on_answer(const Frame& frame) {
    if (!lost_.contains(frame.stream()) || frame.type() > Frame::headers) {
      return Http2Proxy::forward_to_client(frame);
    }
    return answered_.exchange(true) ? Answer{} : Answer{{}, error(frame.stream())};
  }
  std::string error(std::uint32_t stream) {
    answered_ = true;
    return Frame::error(stream, "502").bytes;
  }

  std::set<std::uint32_t> lost_;
  std::atomic<bool> answered_{false};
  Http2Proxy proxy_{server_.port(), [this](const Frame& frame) { return on_request(frame); },
                    [this](const Frame& frame) { return on_answer(frame); }};
};

TEST_P(EtcdLostDowngrade, TheNextCheckFindsTheKeyUnderEitherName) {
  Waiter holder(proxy_.uri("session=30s")), reader(uri());
  EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
  EXPECT_EQ(downgrade(holder), Kind::unknown);
  EXPECT_TRUE(answered_);
  EXPECT_EQ(only_key(), is_carried_out() ? "read" : "write");
  EXPECT_EQ(downgrade(holder), Kind::granted);
  EXPECT_EQ(only_key(), "read");
  EXPECT_EQ(acquire(reader, READ).kind, Kind::granted);
  EXPECT_EQ(release(holder, READ), Kind::granted);
  EXPECT_EQ(release(reader, READ), Kind::granted);
  EXPECT_TRUE(keys().empty());
}

TEST_P(EtcdLostDowngrade, AReleaseDeletesTheKeyUnderEitherName) {
  Waiter holder(proxy_.uri("session=30s"));
  EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
  EXPECT_EQ(downgrade(holder), Kind::unknown);
  EXPECT_EQ(holder.probe.send(Verb::leave, key_, WRITE, holder.id).kind, Kind::granted);
  EXPECT_TRUE(keys().empty());
  EXPECT_EQ(holder.probe.send(Verb::leave, key_, WRITE, holder.id).kind, Kind::gone);
}

TEST_P(EtcdLostDowngrade, TheReadStaysAndTheNextCheckFindsItsKey) {
  const Locks locks = etcd_locks(proxy_.uri("session=30s"));
  auto both = locks.read_write(key_);
  Hold write = both.write().acquire(1s, 20s);
  Hold read = both.read().acquire(1s, 20s);
  EXPECT_THROW(static_cast<void>(write.release()), BackendUnavailable) << "it was not confirmed";
  EXPECT_TRUE(answered_);
  EXPECT_TRUE(eventually([&] { return only_key() == "read"; }));
  EXPECT_FALSE(read.lost());
  EXPECT_TRUE(read.release());
  EXPECT_TRUE(keys().empty());
}

INSTANTIATE_TEST_SUITE_P(ByEtcd, EtcdLostDowngrade, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "CarriedOut" : "NotReceived");
});

}  // namespace
}  // namespace latchkey::tests
