// SPDX-License-Identifier: Apache-2.0
/// Connections that are refused, kept until their peers have heard why.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <udtcat/connection.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::tool {

/// A connection that is destroyed at once says nothing.
/// Threads: confined to the io_context thread.
class TurnedAway {
 public:
  static constexpr std::size_t kMaxLeaving = 32;  // guess: more at a time are a flood, which needs no reason

  explicit TurnedAway(boost::asio::io_context& io) : io_(io) {}

  void tell(std::unique_ptr<Connection> connection, const Error& why) {
    if (leaving_.size() >= kMaxLeaving) return;
    const auto leaving = leaving_.insert(leaving_.end(), std::move(connection));
    (*leaving)->on_closed(lifetime_.guard([this, leaving](const Status&) {
      boost::asio::post(io_, lifetime_.guard([this, leaving] { leaving_.erase(leaving); }));
    }));
    (*leaving)->abort(why);
  }

 private:
  boost::asio::io_context& io_;
  std::list<std::unique_ptr<Connection>> leaving_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
