// SPDX-License-Identifier: Apache-2.0
/// UDT clients that connect and then never speak: neither TLS nor anything else.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/descriptor.hpp"
#include "support/process.hpp"

namespace udtcat::test::e2e {

/// The first argument by which the test program knows that it is to be the strangers.
inline constexpr std::string_view kBeStrangers = "--be-udt-strangers";

/// The body of that process: connects `count` times to 127.0.0.1:`port`, says so on stdout, waits for the end of stdin.
[[nodiscard]] int be_strangers(const char* port, const char* count);

/// A crowd of silent UDT connections, which stay as long as the object does.
class UdtStrangers {
 public:
  UdtStrangers(std::uint16_t port, int count);
  /// Whether all have tried to connect within `limit`.
  [[nodiscard]] bool arrived(std::chrono::milliseconds limit) const;

 private:
  Pipe leave_ = make_pipe();
  Pipe arrived_ = make_pipe();
  Process process_;
};

}  // namespace udtcat::test::e2e
