// SPDX-License-Identifier: Apache-2.0
/// Words for the room's tests: tasks run on a loop, a folder, connections, and what a peer writes on them by hand.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/credentials.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/block_header.hpp"
#include "gridftp/mode_e/block_sink.hpp"
#include "lib/bridge/loop.hpp"
#include "lib/bridge/stream_pair.hpp"
#include "lib/bridge/tcp_pair.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::gridftp {

using bridge::Bytes;
using bridge::bytes_of;
using bridge::random_bytes;
using bridge::run_ready;
using bridge::run_until;

/// Holders of key pairs, who all know each other.
using Holder = std::shared_ptr<const KeyPair>;
inline Holder make_holder() { return std::make_shared<const KeyPair>(KeyPair::generate().value()); }
class Everybody final : public KnownPeers {
 public:
  [[nodiscard]] Result<std::string> recognise(const PublicKey& /*key*/, Purpose /*purpose*/) const override {
    return "somebody";
  }
};
inline PairCredentials pair_of(const Holder& own, const Holder& listener) {
  return {own, std::make_shared<Everybody>(), listener->public_key()};
}

/// The result of a task that has ended.
template <typename T>
using Outcome = std::shared_ptr<std::optional<T>>;

/// Begins a task on the loop; its outcome is there when the loop has run far enough.
template <typename T>
Outcome<T> begin(boost::asio::io_context& io, Task<T> task) {
  auto outcome = std::make_shared<std::optional<T>>();
  boost::asio::co_spawn(
      io, [task = std::move(task), outcome]() mutable -> Task<void> { outcome->emplace(co_await std::move(task)); },
      boost::asio::detached);
  return outcome;
}

/// Runs the loop until the outcome is there. Throws, and so fails the test, where it never is.
template <typename T>
T await(boost::asio::io_context& io, const Outcome<T>& outcome) {
  EXPECT_TRUE(run_until(io, [&] { return outcome->has_value(); }));
  return outcome->value();
}

template <typename T>
T run(boost::asio::io_context& io, Task<T> task) {
  return await(io, begin(io, std::move(task)));
}
inline void run(boost::asio::io_context& io, Task<void> task) {
  std::ignore = run(io, [](Task<void> inner) -> Task<bool> {
    co_await std::move(inner);
    co_return true;
  }(std::move(task)));
}

/// A directory of the test's own, in the words of this room: names are strings, contents are bytes.
class Folder : public test::TempDir {
 public:
  [[nodiscard]] std::string operator/(const std::string& name) const { return TempDir::operator/(name); }
  std::string write(const std::string& name, const Bytes& content) const {
    return TempDir::write(name, test::text_of(content));
  }
  [[nodiscard]] Bytes read(const std::string& name) const { return bytes_of(test::read_file(*this / name)); }
};

/// A connection in memory: one end for the code under test, one for the peer.
struct Wire {
  explicit Wire(boost::asio::io_context& io) : Wire(bridge::make_stream_pair(io, "wire")) {}
  explicit Wire(std::pair<std::unique_ptr<LocalStream>, std::unique_ptr<LocalStream>> ends)
      : ours(std::make_shared<StreamIo>(std::move(ends.first))), peer(std::move(ends.second)) {}
  void hang_up() { peer.reset(); }

  std::shared_ptr<StreamIo> ours;
  std::unique_ptr<LocalStream> peer;
};

inline BlockHeader data_header(std::uint64_t offset, std::uint64_t count) { return {0, count, offset}; }
inline BlockHeader end_of_data() { return {BlockHeader::kEod, 0, 0}; }
inline BlockHeader end_of_file(std::uint64_t connections) {
  return {BlockHeader::kEof | BlockHeader::kEod, 0, connections};
}

/// Headers, and after each as much of `content` as it says.
inline Bytes blocks(const std::vector<BlockHeader>& headers, const Bytes& content = {}) {
  Bytes wire;
  for (const BlockHeader& header : headers) {
    const auto encoded = encode(header);
    wire.insert(wire.end(), encoded.begin(), encoded.end());
    for (std::uint64_t i = 0; i < header.payload_bytes() && header.offset + i < content.size(); ++i)
      wire.push_back(content[header.offset + i]);
  }
  return wire;
}

/// Remembers what it is given.
class MemorySink final : public BlockSink {
 public:
  Task<Status> store(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (failure) co_return tl::unexpected(*failure);
    if (offset + bytes.size() > content.size()) content.resize(offset + bytes.size());
    std::ranges::copy(bytes, content.begin() + static_cast<std::ptrdiff_t>(offset));
    co_return Status{};
  }

  Bytes content;
  std::optional<Error> failure;
};

}  // namespace udtcat::gridftp
