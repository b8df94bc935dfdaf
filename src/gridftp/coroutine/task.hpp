/// Coroutines of the GridFTP room: a dialogue reads as it is spoken (ADR-0016).
#pragma once

#include <utility>  // boost/asio/awaitable.hpp of 1.74 forgets it

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <udtcat/result.hpp>

namespace udtcat::gridftp {

/// Runs on the io_context thread. Errors are values; nothing is thrown through it.
template <typename T>
using Task = boost::asio::awaitable<T>;

/// For an asynchronous operation of Asio's: its error goes to `error` instead of being thrown.
[[nodiscard]] inline auto into(boost::system::error_code& error) {
  return boost::asio::redirect_error(boost::asio::use_awaitable, error);
}

}  // namespace udtcat::gridftp
