// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/thread_channel.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "support/addresses.hpp"
#include "support/bytes.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport {
namespace {

using namespace std::chrono_literals;

/// A channel whose other end is the test: its members are the io thread's.
class ScriptedChannel final : public Channel {
 public:
  explicit ScriptedChannel(FarUser user) : user_(std::move(user)) {}

  void async_read_least(std::span<std::byte> memory, std::size_t /*least_bytes*/, ReadSomeHandler handler) override {
    into = memory;
    read = std::move(handler);
  }
  void async_read_some(std::span<std::byte> memory, ReadSomeHandler handler) override {
    async_read_least(memory, 1, std::move(handler));
  }
  void async_write(core::SharedBytes from, WriteHandler handler) override {
    written.insert(written.end(), from.bytes().begin(), from.bytes().end());
    writes.push_back(std::move(handler));
  }
  void async_drained(DrainedHandler handler) override { drained = std::move(handler); }
  void close(std::chrono::milliseconds drain) override { closed = drain; }
  [[nodiscard]] std::size_t datagram_room_bytes() const override { return 1400; }
  void send_datagram(std::span<const std::byte> bytes) override { datagram.assign(bytes.begin(), bytes.end()); }
  void on_datagram(DatagramHandler handler) override { datagram_handler = std::move(handler); }
  [[nodiscard]] std::uint64_t ahead_bytes() const override { return 12'345; }
  [[nodiscard]] ChannelStats stats() override { return counted; }
  void add_end_stats(EndStats& end) const override { end.packets_sent = counted.packets_sent; }
  [[nodiscard]] Endpoint peer() const override { return at; }
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> port_closed_since() override {
    return std::nullopt;
  }

  /// Bytes come.
  void bring(std::span<const std::byte> bytes) {
    user_.memory->fill([&] { std::ranges::copy(bytes, into.begin()); });
    read(bytes.size());
  }
  void change() { user_.on_event(); }

  std::span<std::byte> into;
  ReadSomeHandler read;
  std::vector<std::byte> written;
  std::vector<WriteHandler> writes;
  DrainedHandler drained;
  std::optional<std::chrono::milliseconds> closed;
  std::vector<std::byte> datagram;
  DatagramHandler datagram_handler;
  ChannelStats counted;
  Endpoint at = test::loopback(AddressFamily::ipv4).with_port(9);

 private:
  const FarUser user_;
};

class ThreadChannelTest : public testing::Test {
 protected:
  ThreadChannelTest() {
    channel = std::make_unique<ThreadChannel>(
        *thread, ThreadChannel::Settings{test::loopback(AddressFamily::ipv4).with_port(7), true, 1000},
        [this](FarUser user) {
          auto made = std::make_unique<ScriptedChannel>(std::move(user));
          far = made.get();
          return made;
        });
  }
  /// On the io thread, behind all that was asked for.
  void there(const std::function<void(ScriptedChannel&)>& use) {
    thread->call([&] { use(*far); });
  }
  bool run_until(const std::function<bool()>& done) { return test::run_until(io, done); }

  boost::asio::io_context io{1};
  std::unique_ptr<IoThread> thread = IoThread::start(io).value();
  ScriptedChannel* far = nullptr;
  std::unique_ptr<ThreadChannel> channel;
  std::vector<std::byte> into = std::vector<std::byte>(64);
  const std::vector<std::byte> bytes = test::random_bytes(64, 1);
};

TEST_F(ThreadChannelTest, ReadsIntoTheMemoryOfItsUser) {
  std::optional<Result<std::size_t>> got;
  channel->async_read_least(into, 10, [&](Result<std::size_t> read) { got = std::move(read); });
  there([&](ScriptedChannel& end) { end.bring(bytes); });
  EXPECT_FALSE(got);  // handlers are this thread's
  ASSERT_TRUE(run_until([&] { return got.has_value(); }));
  EXPECT_EQ(got->value(), bytes.size());
  EXPECT_EQ(into, bytes);
}

TEST_F(ThreadChannelTest, ClosesForSilenceByWhatHasComeAtThatMoment) {
  EXPECT_EQ(channel->stats().bytes_received, 0U);
  there([](ScriptedChannel& end) {
    end.counted.bytes_received = 7;  // since the copy that the answer above was taken from
  });
  EXPECT_FALSE(channel->close_if_silent_since(6));
  there([](const ScriptedChannel& end) { EXPECT_FALSE(end.closed); });
  EXPECT_TRUE(channel->close_if_silent_since(7));
  there([](const ScriptedChannel& end) { EXPECT_EQ(end.closed, 0ms); });
}

TEST_F(ThreadChannelTest, MayBeAskedToReadAgainByTheHandlerOfARead) {
  int reads = 0;
  std::function<void()> read = [&] {
    channel->async_read_some(into, [&](const Result<std::size_t>&) {
      if (++reads < 3) read();
    });
  };
  read();
  while (reads < 3) {
    there([&](ScriptedChannel& end) {
      if (end.read) std::exchange(end.read, nullptr)(1);
    });
    test::run_ready(io);
  }
  EXPECT_EQ(reads, 3);
}

TEST_F(ThreadChannelTest, WritesInOrderAndCompletesEachWriteOnce) {
  std::vector<int> completed;
  std::vector<std::byte> all;
  for (int i = 0; i < 5; ++i) {
    const auto part = test::random_bytes(100, static_cast<std::uint32_t>(i));
    all.insert(all.end(), part.begin(), part.end());
    channel->async_write(core::SharedBytes::adopt(part),
                         [&completed, i](const Status& status) { completed.push_back(status ? i : -i); });
  }
  there([&](ScriptedChannel& end) {
    EXPECT_EQ(end.written, all);
    // A channel that has ended may fail a later write before it has told of the earlier ones.
    for (const std::size_t i : {0U, 1U, 4U}) end.writes[i](i == 4 ? fail(Errc::connection_broken, "send") : Status());
    for (const std::size_t i : {2U, 3U}) end.writes[i]({});
  });
  ASSERT_TRUE(run_until([&] { return completed.size() == 5; }));
  EXPECT_EQ(completed, (std::vector{0, 1, -4, 2, 3}));
}

TEST_F(ThreadChannelTest, DrainsAndCloses) {
  bool drained = false;
  channel->async_drained([&](const Status& status) { drained = status.has_value(); });
  EXPECT_EQ(channel->retained_limit_bytes(), 1000U);
  channel->close(7ms);
  EXPECT_EQ(channel->datagram_room_bytes(), 0U);
  there([](ScriptedChannel& end) {
    EXPECT_EQ(end.closed, 7ms);
    end.drained({});
  });
  EXPECT_TRUE(run_until([&] { return drained; }));
}

TEST_F(ThreadChannelTest, CarriesDatagramsBothWays) {
  std::vector<std::byte> got;
  channel->on_datagram([&](std::span<const std::byte> datagram) { got.assign(datagram.begin(), datagram.end()); });
  channel->send_datagram(bytes);
  there([&](ScriptedChannel& end) {
    EXPECT_EQ(end.datagram, bytes);
    end.datagram_handler(bytes);
  });
  ASSERT_TRUE(run_until([&] { return !got.empty(); }));
  EXPECT_EQ(got, bytes);
}

TEST_F(ThreadChannelTest, DropsDatagramsThatNobodyTakes) {
  std::size_t got = 0;
  channel->on_datagram([&](std::span<const std::byte>) { ++got; });
  there([&](ScriptedChannel& end) {
    for (int i = 0; i < 1000; ++i) end.datagram_handler(bytes);
  });
  test::run_ready(io);
  EXPECT_GE(got, 1U);
  EXPECT_LE(got, 64U);
}

TEST_F(ThreadChannelTest, SaysWhatTheChannelSaysAsOfItsLastEvent) {
  there([](ScriptedChannel&) {});
  EXPECT_EQ(channel->ahead_bytes(), 12'345U);
  EXPECT_EQ(channel->datagram_room_bytes(), 1400U);
  EXPECT_EQ(channel->peer().port(), 9);
  EXPECT_TRUE(channel->proved_key());
  std::uint64_t packets = 0;
  // Of an event that a copy was too early for, too, once that is too old.
  ASSERT_TRUE(run_until([&] {
    there([&](ScriptedChannel& end) {
      end.counted.packets_sent = ++packets;
      end.change();
    });
    return channel->stats().packets_sent > 1;
  }));
  const auto last = packets;
  EXPECT_TRUE(run_until([&] { return channel->stats().packets_sent == last; }));
  EndStats end;
  channel->add_end_stats(end);
  EXPECT_EQ(end.packets_sent, last);
}

TEST_F(ThreadChannelTest, CallsNoHandlerOnceItIsDestroyed) {
  bool called = false;
  channel->async_read_some(into, [&](const Result<std::size_t>&) { called = true; });
  channel->async_write(core::SharedBytes::adopt(bytes), [&](const Status&) { called = true; });
  there([&](ScriptedChannel& end) {
    end.bring(bytes);
    end.writes.front()({});
  });
  channel.reset();
  test::run_ready(io);
  EXPECT_FALSE(called);
}

TEST_F(ThreadChannelTest, ReadsNoMoreIntoMemoryWhoseUserIsGone) {
  channel->async_read_some(into, [](const Result<std::size_t>&) {});
  // The io thread has not heard of the end when bytes come.
  std::promise<void> gone;
  std::promise<void> there_now;
  thread->post([&] {
    there_now.set_value();
    gone.get_future().wait();
    far->bring(bytes);
  });
  there_now.get_future().wait();
  channel.reset();
  gone.set_value();
  thread->call([] {});
  EXPECT_EQ(into, std::vector<std::byte>(64));
}

TEST_F(ThreadChannelTest, MayBeDestroyedByItsHandler) {
  bool called = false;
  channel->async_read_some(into, [&](const Result<std::size_t>&) {
    called = true;
    channel.reset();
  });
  there([&](ScriptedChannel& end) { end.read(1); });
  ASSERT_TRUE(run_until([&] { return called; }));
  EXPECT_EQ(channel, nullptr);
}

TEST_F(ThreadChannelTest, DestroysTheChannelOnItsThread) {
  channel.reset();
  thread->call([] {});  // it has
  thread.reset();
  EXPECT_EQ(io.poll(), 0U);
}

}  // namespace
}  // namespace udtcat::transport
