/// Two ends of one session of several flows, of which only the first is there, over paths in memory.
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "fault/memory_channel.hpp"
#include "lib/session/session.hpp"

namespace udtcat::connection {

/// `name` makes the session's id and its key.
inline std::unique_ptr<session::Session> make_awaiting(boost::asio::io_context& io, session::Role role,
                                                       std::unique_ptr<transport::Channel> first, std::size_t flows,
                                                       std::uint8_t name = 1) {
  session::Agreed agreed;
  agreed.protection = Protection::auth;
  agreed.flows = flows;
  agreed.session_id.fill(std::byte{name});
  crypto::Secret32 key;
  key.writable()[0] = std::byte{name};
  auto made = std::make_unique<session::Session>(io, role, agreed, std::nullopt, std::move(first));
  made->await_flows(session::JoinKey(std::move(key), agreed.session_id));
  return made;
}

}  // namespace udtcat::connection
