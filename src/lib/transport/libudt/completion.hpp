/// A handler on its way from one of our threads back to the io_context.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <udtcat/result.hpp>

namespace udtcat::transport::libudt {

/// Keeps the io_context running until the operation is over.
/// Threads: unsynchronised; made on one thread, moved to another, called there once.
template <typename Outcome>
class CompletionOf {
 public:
  /// `handler` does nothing when its channel is gone (core::Lifetime).
  CompletionOf(boost::asio::io_context& io, std::function<void(Outcome)> handler)
      : work_(boost::asio::make_work_guard(io)), handler_(std::move(handler)) {}

  void post(Outcome outcome) {
    boost::asio::post(work_.get_executor(), [handler = std::move(handler_), outcome = std::move(outcome)]() mutable {
      handler(std::move(outcome));
    });
    work_.reset();
  }

 private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::function<void(Outcome)> handler_;
};

using Completion = CompletionOf<Status>;
using ReadCompletion = CompletionOf<Result<std::size_t>>;

}  // namespace udtcat::transport::libudt
