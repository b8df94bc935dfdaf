// SPDX-License-Identifier: Apache-2.0
#include "trees/worker.hpp"

#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "trees/start_thread.hpp"

namespace udtcat::trees {

Worker::Worker(boost::asio::io_context& io, std::function<Status()> work, std::function<void(const Status&)> on_over)
    : on_over_(std::make_shared<std::function<void(const Status&)>>(std::move(on_over))),
      started_(start_thread(thread_, [&io, busy = boost::asio::make_work_guard(io), work = std::move(work),
                                      on_over = std::weak_ptr(on_over_)] {
        boost::asio::post(io, [on_over, result = work()] {
          if (const auto kept = on_over.lock()) (*kept)(result);
        });
      })) {
  if (!started_)
    boost::asio::post(io, [on_over = std::weak_ptr(on_over_), result = started_] {
      if (const auto kept = on_over.lock()) (*kept)(result);
    });
}

}  // namespace udtcat::trees
