// SPDX-License-Identifier: Apache-2.0
#include "trees/transfer.hpp"

#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

namespace udtcat::trees {

Transfer::Transfer(boost::asio::io_context& io, Work work, std::function<void(const Status&)> on_over)
    : wire_(io), on_over_(std::make_shared<std::function<void(const Status&)>>(std::move(on_over))) {
  thread_ = std::thread([this, &io, work = std::move(work), on_over = std::weak_ptr(on_over_)] {
    const auto busy = boost::asio::make_work_guard(io);
    const Status result = work(wire_);
    if (!result) wire_.cut();  // it has said what it could: its stream ends, too
    boost::asio::post(io, [on_over, result] {
      if (const auto kept = on_over.lock()) (*kept)(result);
    });
  });
}

Transfer::~Transfer() {
  wire_.cut();
  thread_.join();
}

}  // namespace udtcat::trees
