// SPDX-License-Identifier: Apache-2.0
/// A UDT4 program that knows nothing of udtcat, in the manner of the samples that come with UDT: bare bytes, and a
/// close at the end of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/descriptor.hpp"
#include "support/process.hpp"

namespace udtcat::test::e2e {

/// The first argument by which the test program knows that it is to be such a program.
inline constexpr std::string_view kBeUdtProgram = "--be-udt-program";

/// The body of that process. `meets` is "listen" or "connect", at 127.0.0.1:`port`; `does` is "send", all of stdin, and
/// then it closes, or "receive", to stdout until the peer closes, or "read-some", and then it closes.
[[nodiscard]] int be_udt_program(std::string_view meets, std::string_view does, const char* port);

[[nodiscard]] Process udt_program(const std::string& meets, const std::string& does, std::uint16_t port, Descriptor in,
                                  Descriptor out);

}  // namespace udtcat::test::e2e
