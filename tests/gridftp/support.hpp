// SPDX-License-Identifier: Apache-2.0
/// Support of gridftp's tests: that of lower modules, and a peer that writes on a connection by hand.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/credentials.hpp>

#include "files/folder.hpp"
#include "gridftp/coroutine/run_task.hpp"
#include "gridftp/mode_e/block_header.hpp"
#include "gridftp/mode_e/block_sink.hpp"
#include "lib/bridge/tcp_pair.hpp"

namespace udtcat::gridftp {

using bridge::Bytes;
using bridge::bytes_of;
using bridge::random_bytes;
using bridge::run_ready;
using bridge::run_until;
using files::Folder;

/// Holders of key pairs, who all know each other.
using Holder = std::shared_ptr<const KeyPair>;
inline Holder make_holder() { return std::make_shared<const KeyPair>(KeyPair::generate().value()); }
class Everybody final : public KnownPeers {
 public:
  [[nodiscard]] Result<std::string> recognise(const PublicKey& /*key*/,
                                              std::string_view /*application*/) const override {
    return "somebody";
  }
};
inline PairCredentials pair_of(const Holder& own, const Holder& listener) {
  return {own, std::make_shared<Everybody>(), listener->public_key()};
}

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
