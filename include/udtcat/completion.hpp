// SPDX-License-Identifier: Apache-2.0
/// How asynchronous operations complete: by any of Asio's completion tokens, a handler, boost::asio::use_awaitable,
/// boost::asio::use_future and so on. What an operation gives is one value, a Result or a Status: nothing is thrown.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace udtcat {

/// Begins an operation that gives an `Outcome`; for the headers of this library.
///
/// start   takes a std::function<void(Outcome)>, which it calls once, or drops
/// The token's handler is called by its associated executor, which is kept from running out of work, else by the io
/// thread.
template <typename Outcome, typename Token, typename Start>
auto start_operation(const boost::asio::io_context::executor_type& io, Token&& token, Start start) {
  return boost::asio::async_initiate<Token, void(Outcome)>(
      [io, start = std::move(start)](auto handler) mutable {
        const auto executor = boost::asio::get_associated_executor(handler, io);
        start(std::function<void(Outcome)>(
            // Shared: std::function copies what it holds, and a coroutine's handler cannot be copied.
            [shared = std::make_shared<decltype(handler)>(std::move(handler)),
             work = boost::asio::make_work_guard(executor)](Outcome outcome) {
              boost::asio::dispatch(work.get_executor(), [shared, outcome = std::move(outcome)]() mutable {
                std::move (*shared)(std::move(outcome));
              });
            }));
      },
      token);
}

}  // namespace udtcat
