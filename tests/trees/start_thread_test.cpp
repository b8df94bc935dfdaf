// SPDX-License-Identifier: Apache-2.0
/// Transfers for which there is no thread end in words, at both ends, and the process goes on.
#include "trees/start_thread.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "lib/core/text.hpp"
#include "support/no_threads.hpp"
#include "trees/ends.hpp"
#include "trees/transfer.hpp"

namespace udtcat::trees {
namespace {

using testing::HasSubstr;

class WithoutThreads : public testing::Test {
 protected:
  WithoutThreads() { streams.there.finish(); }

  void expect_refused(const Status& over) {
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, Errc::out_of_resources);
    EXPECT_THAT(over.error().message(), HasSubstr("start a thread for a transfer"));
    const auto failed = Peer(streams.there).hear_out<Failed>();
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->cause, Errc::stream_refused);
    EXPECT_THAT(failed->reason, HasSubstr("start a thread for a transfer"));
  }

  Folder folder;
  JoinedStreams streams;
  RecordedErrors recorded;
};

TEST_F(WithoutThreads, ReceiverRefuses) {
  const auto receiver = Receiver::make(
      {.tree = files::FileTree::open(folder.path()).value(), .job = kJob, .limit_bytes = {}, .cache = {}}, streams.here,
      nullptr, recorded.counters);
  ASSERT_TRUE(receiver);
  MessageReader reader(streams.here);
  const test::NoThreads none;
  expect_refused((*receiver)->run(reader, std::nullopt));
}

TEST_F(WithoutThreads, SenderRefuses) {
  auto source = Source::of_arguments({folder.path()});
  ASSERT_TRUE(source);
  Sender sender(*source, streams.here, nullptr, recorded.counters);
  sender.count();
  MessageReader reader(streams.here);
  const test::NoThreads none;
  expect_refused(sender.run(reader, std::nullopt));
}

TEST_F(WithoutThreads, TransferFailsAtBothEnds) {
  boost::asio::io_context io;
  std::optional<Status> over;
  const test::NoThreads none;
  Transfer transfer(
      io, [](BlockingStream& /*nobody's*/) { return Status(); }, [&](const Status& result) { over = result; });
  const auto stream = transfer.local_stream();
  ASSERT_TRUE(test::run_until(io, [&] { return over.has_value(); }));
  EXPECT_EQ(over->error().code, Errc::out_of_resources);
  std::array<std::byte, 1'024> words{};
  const auto read = stream->read_some(words);
  EXPECT_THAT(std::string(core::as_text(std::span(words).first(read.bytes))), HasSubstr("start a thread"));
}

}  // namespace
}  // namespace udtcat::trees
