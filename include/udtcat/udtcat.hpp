/// libudtcat: start here.
///
///   key.hpp           the secret two ends share
///   options.hpp       what a session is asked to be
///   endpoint.hpp      addresses, and how users write them
///   peering.hpp       dial() and listen(): from an address to a Connection
///   connection.hpp    Connection: many streams to one authenticated peer
///   stream.hpp        Stream: bytes that the program itself reads and writes
///   bridges.hpp       streams that lead to descriptors and TCP connections; local_stream.hpp for one's own
///   plain.hpp         bare bytes to and from any UDT4 program, unprotected
///   result.hpp        Errc, Error, Result: every failure
///   units.hpp         sizes, rates, times
///   log.hpp           who hears what the library does
///
/// docs/examples has whole programs: send_file.cpp, echo_server.cpp. One io_context, run by one thread, drives
/// everything; ciphers and the transport have threads of their own.
#pragma once

#include <udtcat/bridges.hpp>
#include <udtcat/connection.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/key.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/log.hpp>
#include <udtcat/options.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/plain.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stream.hpp>
#include <udtcat/units.hpp>

namespace udtcat {
/// "1.2.3", of the library in use.
[[nodiscard]] const char* version() noexcept;
}  // namespace udtcat
