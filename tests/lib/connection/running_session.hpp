// SPDX-License-Identifier: Apache-2.0
/// Sessions that further flows may join, over paths in memory.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "lib/session/session.hpp"
#include "support/memory_channel.hpp"

namespace udtcat::connection {

/// A session that runs, whose transport says what has arrived. `name` makes its id and its key.
inline std::unique_ptr<session::Session> running_session(boost::asio::io_context& io, session::Role role,
                                                         std::unique_ptr<transport::Channel> first, std::size_t flows,
                                                         std::uint8_t name = 1) {
  session::NegotiatedParameters agreed;
  agreed.protection = Protection::auth;
  agreed.flows = flows;
  agreed.session_id.fill(std::byte{name});
  crypto::Secret32 key;
  key.writable()[0] = std::byte{name};
  auto made = std::make_unique<session::Session>(io, role, agreed, std::nullopt, std::move(first));
  made->allow_flows(session::JoinKey(std::move(key), agreed.session_id));
  EXPECT_TRUE(made->start(0, 2));
  return made;
}

inline test::ChannelPair acknowledging_pair(boost::asio::io_context& io) {
  test::ChannelPair pair(io);
  pair.from_connector->acknowledged = pair.from_listener->acknowledged = 0;
  return pair;
}

}  // namespace udtcat::connection
