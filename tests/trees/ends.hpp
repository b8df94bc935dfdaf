// SPDX-License-Identifier: Apache-2.0
/// One end of a transfer, real, with its threads, and the other end's words for a test to say.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "files/folder.hpp"
#include "lib/bridge/relay.hpp"
#include "support/run_until.hpp"
#include "trees/message_io.hpp"
#include "trees/receiver.hpp"
#include "trees/sender.hpp"

namespace udtcat::trees {

using files::Bytes;
using files::bytes_of;
using files::Folder;

/// Two streams, each of which brings the bytes of the other. Where one of them breaks, or after kWatchdog, both do.
class JoinedStreams {
 public:
  JoinedStreams() {
    watchdog_.async_wait([this](const boost::system::error_code& cancelled) {
      if (!cancelled) cut();
    });
    thread_ = std::thread([this] { io_.run(); });
  }
  JoinedStreams(const JoinedStreams&) = delete;
  JoinedStreams& operator=(const JoinedStreams&) = delete;
  ~JoinedStreams() {
    cut();
    io_.stop();
    thread_.join();
  }

  void cut() {
    here.cut();
    there.cut();
  }

 private:
  void end(const bridge::Relay::Outcome& outcome) {
    if (outcome.read_error || outcome.write_error) cut();
  }

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_{io_.get_executor()};
  boost::asio::steady_timer watchdog_{io_, test::kWatchdog};

 public:
  BlockingStream here{io_};
  BlockingStream there{io_};

 private:
  std::unique_ptr<LocalStream> from_here_ = here.local_stream();
  std::unique_ptr<LocalStream> from_there_ = there.local_stream();
  bridge::Relay onward_{*from_here_, *from_there_, [this](const auto& outcome) { end(outcome); }};
  bridge::Relay back_{*from_there_, *from_here_, [this](const auto& outcome) { end(outcome); }};
  std::thread thread_;
};

/// The reason in a failure; nothing of other messages.
inline std::string reason_in(const Message& message) {
  const auto* failed = std::get_if<Failed>(&message);
  return failed != nullptr ? failed->reason : std::string();
}

/// The words of an end that is played by a test; they may come too late, as the other end may be over.
class Peer {
 public:
  explicit Peer(BlockingStream& stream) : stream_(stream), writer_(stream), reader_(stream) {}

  void say(const Message& message) {
    gather(message);
    std::ignore = writer_.flush();
  }
  /// It goes with the next that is said.
  void gather(const Message& message) { std::ignore = writer_.put(message); }
  void say_bytes(std::span<const std::byte> bytes) { std::ignore = stream_.write(Bytes(bytes.begin(), bytes.end())); }
  void end() {
    stream_.cut_unless_ended(test::kWatchdog);
    stream_.finish();
  }

  /// The next message, of that kind.
  template <typename Kind>
  Kind hear() {
    const auto message = reader_.next();
    const bool is_there = message && *message;
    EXPECT_TRUE(is_there) << (message ? "the end" : message.error().message());
    const auto* kind = is_there ? std::get_if<Kind>(&**message) : nullptr;
    EXPECT_TRUE(!is_there || kind != nullptr)
        << "a message of another kind: " << (*message)->index() << " " << reason_in(**message);
    return kind != nullptr ? *kind : Kind{};
  }
  /// The next message of that kind; others are passed over.
  template <typename Kind>
  Kind hear_one() {
    for (auto message = reader_.next(); message && *message; message = reader_.next())
      if (const auto* kind = std::get_if<Kind>(&**message)) return *kind;
    ADD_FAILURE() << "no such message";
    return {};
  }
  /// All that comes until the end.  returns  how many of that kind
  template <typename Kind>
  std::size_t count_out() {
    std::size_t count = 0;
    for (auto message = reader_.next(); message && *message; message = reader_.next())
      if (std::holds_alternative<Kind>(**message)) ++count;
    return count;
  }
  /// All that comes until the end.  returns  the last of that kind
  template <typename Kind>
  std::optional<Kind> hear_out() {
    std::optional<Kind> last;
    for (auto message = reader_.next(); message && *message; message = reader_.next())
      if (const auto* kind = std::get_if<Kind>(&**message)) last = *kind;
    return last;
  }

 private:
  BlockingStream& stream_;
  MessageWriter writer_;
  MessageReader reader_;
};

/// A counters, and what it has complained of.
class RecordedErrors {
 public:
  TransferCounters counters{[this](const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }};
  [[nodiscard]] std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// An end that runs on a thread, while a test plays the other one.
class RunningEnd : public RecordedErrors {
 public:
  RunningEnd() = default;
  RunningEnd(const RunningEnd&) = delete;
  RunningEnd& operator=(const RunningEnd&) = delete;
  ~RunningEnd() { join(); }

 private:
  JoinedStreams streams_;

 public:
  Peer peer{streams_.there};

  /// Waits for its result. The peer ends when it has heard all.
  [[nodiscard]] Status over() {
    failed = peer.hear_out<Failed>();
    join();
    return result_;
  }
  /// Its last word, once it is over; none: it had no need of that.
  std::optional<Failed> failed;

 protected:
  void begin(std::function<Status(MessageReader&)> run) {
    thread_ = std::thread([this, run = std::move(run)] {
      MessageReader reader(streams_.here);
      result_ = run(reader);
    });
  }
  [[nodiscard]] BlockingStream& stream() { return streams_.here; }
  void join() {
    peer.end();
    if (thread_.joinable()) thread_.join();
  }

 private:
  Status result_;
  std::thread thread_;
};

/// The content of a file, and its chunks.
inline const Bytes kContent = test::random_bytes(2 * kChunkBytes + 777);
inline constexpr std::uint64_t kChunks = 3;

inline constexpr const char* kJob = "0123456789abcdef";

class ReceivingEnd : public RunningEnd {
 public:
  using Change = std::function<void(ReceiverOptions&)>;

  /// prepare   is called on the receiver's thread before it begins
  explicit ReceivingEnd(const std::string& directory, const Change& change = {}, std::function<void()> prepare = {}) {
    ReceiverOptions options{
        .tree = files::FileTree::open(directory).value(), .job = kJob, .limit_bytes = {}, .cache = {}};
    if (change) change(options);
    begin([this, prepare = std::move(prepare),
           receiver = std::shared_ptr(Receiver::make(std::move(options), stream(), nullptr, counters).value())](
              MessageReader& reader) mutable {
      if (prepare) prepare();
      const auto own = std::exchange(receiver, nullptr);  // its parts are let go of with it
      return own->run(reader, std::nullopt);
    });
  }
  ~ReceivingEnd() { join(); }
};

class SendingEnd : public RunningEnd {
 public:
  /// prepare   is called on the sender's thread before it begins
  explicit SendingEnd(Source source, bool counts = false, std::function<void()> prepare = {})
      : source_(std::move(source)) {
    if (counts) sender_.count();
    begin([this, prepare = std::move(prepare)](MessageReader& reader) {
      if (prepare) prepare();
      return sender_.run(reader, std::nullopt);
    });
  }
  ~SendingEnd() { join(); }

 private:
  Source source_;
  Sender sender_{source_, stream(), nullptr, counters};
};

inline Entry entry_at(EntryKind kind, std::string path) {
  Entry entry{.kind = kind, .attributes = {}, .path = std::move(path), .fingerprint = {}, .target = {}};
  entry.attributes.mode = kind == EntryKind::directory ? 0755 : 0644;
  entry.attributes.changed = {1'000'000'000, 5};
  return entry;
}
inline Entry directory_at(std::string path) { return entry_at(EntryKind::directory, std::move(path)); }
inline Entry file_at(std::string path, std::uint64_t bytes) {
  Entry entry = entry_at(EntryKind::file, std::move(path));
  entry.size_bytes = bytes;
  return entry;
}
inline Entry linkable_at(std::string path, std::uint64_t bytes) {
  Entry entry = file_at(std::move(path), bytes);
  entry.may_be_linked = true;
  return entry;
}
inline Entry symbolic_link_at(std::string path, std::string target) {
  Entry entry = entry_at(EntryKind::symbolic_link, std::move(path));
  entry.target = std::move(target);
  return entry;
}
inline Entry hard_link_at(std::string path, EntryId of) {
  Entry entry = entry_at(EntryKind::hard_link, std::move(path));
  entry.of = of;
  return entry;
}

/// A chunk of a content, with its digest and all of its bytes.
inline Data chunk_of(EntryId id, std::span<const std::byte> content, std::uint64_t chunk) {
  const std::size_t offset = chunk * kChunkBytes;
  const auto bytes = content.subspan(offset, std::min(kChunkBytes, content.size() - offset));
  return {id, chunk, hash_of_leaf(bytes), {{0, bytes}}};
}
inline files::Digest root_of(std::span<const std::byte> content) {
  TreeHash tree;
  for (std::uint64_t chunk = 0; chunk < chunks_of(content.size()); ++chunk)
    tree.add(chunk_of(0, content, chunk).digest);
  return tree.root();
}

}  // namespace udtcat::trees
