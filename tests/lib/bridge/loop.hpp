// SPDX-License-Identifier: Apache-2.0
/// Words for tests of local streams: pipes and socket pairs, and streams read and written to their ends.
#pragma once

#include <cstddef>
#include <future>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>

#include "lib/bridge/descriptor.hpp"
#include "support/bytes.hpp"
#include "support/run_until.hpp"

namespace udtcat::bridge {

using test::Bytes;
using test::bytes_of;
using test::kWatchdog;
using test::random_bytes;
using test::run_ready;
using test::run_until;
using test::text_of;

struct Ends {
  Descriptor read;
  Descriptor write;
};

inline Ends make_pipe() {
  int ends[2] = {};
  EXPECT_EQ(::pipe(ends), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

inline std::pair<Descriptor, Descriptor> make_socket_pair() {
  int ends[2] = {};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

inline std::future<void> write_all_in_background(Descriptor to, Bytes bytes) {
  return std::async(std::launch::async, [to = std::move(to), bytes = std::move(bytes)]() mutable {
    for (std::span<const std::byte> rest(bytes); !rest.empty();) {
      const ssize_t written = ::write(to.number(), rest.data(), rest.size());
      ASSERT_GT(written, 0);
      rest = rest.subspan(static_cast<std::size_t>(written));
    }
    EXPECT_FALSE(to.close());
  });
}

inline Bytes read_all(int from) {
  Bytes bytes;
  Bytes piece(65536);
  for (;;) {
    const ssize_t got = ::read(from, piece.data(), piece.size());
    EXPECT_GE(got, 0);
    if (got <= 0) return bytes;
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + got);
  }
}

inline std::future<Bytes> read_all_in_background(int from) { return std::async(std::launch::async, read_all, from); }

/// How a source ended, and what it gave before.
struct Drained {
  Bytes bytes;
  LocalStream::ReadResult last;
};

/// Takes everything from a source, a FdReader or a LocalStream, as the multiplexer does.
template <typename Source>
Drained drain(boost::asio::io_context& io, Source& source, std::size_t piece_bytes = 100'000) {
  Drained drained;
  Bytes piece(piece_bytes);
  for (;;) {
    const LocalStream::ReadResult result = source.read_some(piece);
    drained.last = result;
    if (result.state == LocalStream::ReadState::data) {
      drained.bytes.insert(drained.bytes.end(), piece.begin(),
                           piece.begin() + static_cast<std::ptrdiff_t>(result.bytes));
    } else if (result.state == LocalStream::ReadState::would_block) {
      bool readable = false;
      source.async_wait_readable([&] { readable = true; });
      EXPECT_FALSE(readable) << "called from inside the call";
      if (!run_until(io, [&] { return readable; })) return drained;
    } else {
      return drained;
    }
  }
}

template <typename Sink>
std::error_code write_all(boost::asio::io_context& io, Sink& sink, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::size_t written = 0;
    std::error_code error;
    sink.async_write_some(bytes, [&](std::error_code e, std::size_t n) { error = e, written = n; });
    EXPECT_EQ(written, 0U) << "called from inside the call";
    EXPECT_TRUE(run_until(io, [&] { return error || written > 0; }));
    if (error || written == 0) return error;
    bytes = bytes.subspan(written);
  }
  return {};
}

template <typename Sink>
std::error_code finish(boost::asio::io_context& io, Sink& sink) {
  std::optional<std::error_code> outcome;
  sink.async_finish([&](std::error_code error) { outcome = error; });
  EXPECT_FALSE(outcome) << "called from inside the call";
  EXPECT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  return outcome.value_or(std::make_error_code(std::errc::timed_out));
}

}  // namespace udtcat::bridge
