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
class RejectedConnections {
 public:
  static constexpr std::size_t kMaxClosing = 32;  // guess: more at a time are a flood, which needs no reason

  explicit RejectedConnections(boost::asio::io_context& io) : io_(io) {}

  void reject(std::unique_ptr<Connection> connection, const Error& why) {
    if (closing_.size() >= kMaxClosing) return;
    const auto closing = closing_.insert(closing_.end(), std::move(connection));
    (*closing)->on_closed(lifetime_.guard([this, closing](const Status&) {
      boost::asio::post(io_, lifetime_.guard([this, closing] { closing_.erase(closing); }));
    }));
    (*closing)->abort(why);
  }

 private:
  boost::asio::io_context& io_;
  std::list<std::unique_ptr<Connection>> closing_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::tool
