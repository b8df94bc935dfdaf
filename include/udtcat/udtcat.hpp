// SPDX-License-Identifier: Apache-2.0
/// libudtcat: start here.
///
///   key.hpp           the secret two ends share
///   key_pair.hpp      a key pair of one end, where each has its own
///   credentials.hpp   either of them, and the peers that are known by their keys
///   options.hpp       what a session is asked to be
///   endpoint.hpp      addresses, and how users write them
///   candidate.hpp     those by which two ends reach each other
///   ticket.hpp        a meeting place and a key as one word
///   peering.hpp       dial() and listen(): from an address to a Connection
///   connection.hpp    Connection: many streams to one authenticated peer
///   stream.hpp        Stream: bytes that the program itself reads and writes
///   bridges.hpp       streams that lead to descriptors and TCP connections
///   local_stream.hpp  what a stream that leads elsewhere has to do
///   completion.hpp    coroutines, futures and handlers: what an asynchronous operation takes
///   stats.hpp         statistics of a connection and of its two ends
///   why_diagnosis.hpp what limits a connection, by those of its ends
///   known_paths.hpp   what is remembered of the paths to other hosts
///   plain.hpp         bare bytes to and from any UDT4 program, unprotected
///   result.hpp        Errc, Error, Result: every failure
///   units.hpp         rates and sizes
///   log.hpp           where the library's log goes
///
/// Five bytes to `udtcat -l --recv-only --key-file KEY 9000` of another host, and the receipt for them. A whole program
/// looks at each error, where value() throws it:
///
///     boost::asio::io_context io;
///     udtcat::DialRequest request;
///     request.addresses = udtcat::resolve({"server.example", 9000}, udtcat::AddressFamily::any).value();
///     request.credentials = udtcat::Key::from_file("KEY").value();
///     request.session.application = "pipe";  // a program that meets its own kind has a name of its own
///     std::unique_ptr<udtcat::Connection> connection;
///     std::unique_ptr<udtcat::Stream> stream;
///     const auto dialer = udtcat::dial(io, std::move(request), [&](auto made) {
///       connection = std::move(made).value();
///       connection->on_closed([&](udtcat::Status) { io.stop(); });
///       stream = connection->open_stream();
///       stream->async_write(std::as_bytes(std::span("hello", 5)), [&](udtcat::Status) {
///         stream->async_finish([&](udtcat::Status receipt) { if (receipt) connection->close(); });
///       });
///     });
///     io.run();
///
/// docs/examples has whole programs: send_file.cpp, echo_server.cpp; greeter.cpp is one with coroutines. One
/// io_context, run by one thread, drives everything; ciphers and the transport have threads of their own.
///
/// Before 1.0 a minor version may change anything here, and a patch changes nothing; the library is static, and there
/// is no promise of an ABI. What goes over the wire is of docs/spec, whose versions are its own.
#pragma once

#include <udtcat/bridges.hpp>
#include <udtcat/candidate.hpp>
#include <udtcat/completion.hpp>
#include <udtcat/connection.hpp>
#include <udtcat/credentials.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/key.hpp>
#include <udtcat/key_pair.hpp>
#include <udtcat/known_paths.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/log.hpp>
#include <udtcat/options.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/plain.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>
#include <udtcat/stream.hpp>
#include <udtcat/ticket.hpp>
#include <udtcat/units.hpp>
#include <udtcat/why_diagnosis.hpp>

namespace udtcat {
/// "1.2.3", of the library in use.
[[nodiscard]] const char* version() noexcept;
}  // namespace udtcat
