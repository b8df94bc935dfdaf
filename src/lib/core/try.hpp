// SPDX-License-Identifier: Apache-2.0
/// Returns a failure to the caller, in one line.
///
///   UDTCAT_TRY(const UdpSocket socket, UdpSocket::open(family));   // its value, or this function returns its error
///   UDTCAT_CHECK(socket.bind(local));                              // a Status
///
/// In a coroutine: UDTCAT_CO_TRY and UDTCAT_CO_CHECK.
#pragma once

#include <utility>

#include <udtcat/result.hpp>

#define UDTCAT_TRY_JOIN_(a, b) a##b
#define UDTCAT_TRY_NAME_(line) UDTCAT_TRY_JOIN_(tried_, line)
#define UDTCAT_TRY_AS_(leave, tried, declaration, ...)        \
  auto tried = (__VA_ARGS__);                                 \
  if (!tried) leave tl::unexpected(std::move(tried.error())); \
  declaration = std::move(*tried)
#define UDTCAT_CHECK_AS_(leave, tried, ...) \
  if (auto tried = (__VA_ARGS__); !tried) leave tl::unexpected(std::move(tried.error()))

#define UDTCAT_TRY(declaration, ...) UDTCAT_TRY_AS_(return, UDTCAT_TRY_NAME_(__LINE__), declaration, __VA_ARGS__)
#define UDTCAT_CHECK(...) UDTCAT_CHECK_AS_(return, UDTCAT_TRY_NAME_(__LINE__), __VA_ARGS__)
#define UDTCAT_CO_TRY(declaration, ...) UDTCAT_TRY_AS_(co_return, UDTCAT_TRY_NAME_(__LINE__), declaration, __VA_ARGS__)
#define UDTCAT_CO_CHECK(...) UDTCAT_CHECK_AS_(co_return, UDTCAT_TRY_NAME_(__LINE__), __VA_ARGS__)
