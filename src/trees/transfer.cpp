// SPDX-License-Identifier: Apache-2.0
#include "trees/transfer.hpp"

#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "trees/message_io.hpp"
#include "trees/start_thread.hpp"

namespace udtcat::trees {

Transfer::Transfer(boost::asio::io_context& io, Run run, std::function<void(const Status&)> on_over) : stream_(io) {
  const auto finish = [&io, busy = boost::asio::make_work_guard(io), over = lifetime_.guard(std::move(on_over))](
                          const Status& result) { boost::asio::post(io, [over, result]() mutable { over(result); }); };
  const Status started = start_thread(thread_, [this, run = std::move(run), finish] {
    const Status result = run(stream_);
    if (!result) stream_.cut();  // it has said what it could: its stream ends, too
    finish(result);
  });
  if (started) return;
  MessageWriter writer(stream_);
  tell_failure(started.error(), writer);
  stream_.finish();
  stream_.cut_unless_ended();
  finish(started);
}

Transfer::~Transfer() {
  cut();
  if (thread_.joinable()) thread_.join();
}

}  // namespace udtcat::trees
