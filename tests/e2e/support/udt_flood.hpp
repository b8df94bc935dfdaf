// SPDX-License-Identifier: Apache-2.0
/// A stranger that wants all of a listener's places, as fast as it is told to.
#pragma once

#include <cstdint>
#include <thread>

#include "support/descriptor.hpp"

namespace udtcat::test::e2e {

/// One host's UDT handshakes without end, each of which gets as far as the listener lets it, and then holds still.
/// Threads: works on a thread of its own, which ends with the object.
class UdtFlood {
 public:
  /// The first words of each connection.
  enum class Kind { mute, tls_start, one_byte, half_hello };

  /// Towards 127.0.0.1:`port`, so many bytes of UDP payload a second.
  UdtFlood(std::uint16_t port, Kind kind, std::uint64_t bytes_per_second);
  UdtFlood(const UdtFlood&) = delete;
  UdtFlood& operator=(const UdtFlood&) = delete;
  ~UdtFlood();

 private:
  Descriptor stop_ = open_event();
  std::thread thread_;
};

}  // namespace udtcat::test::e2e
