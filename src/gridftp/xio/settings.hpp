// SPDX-License-Identifier: Apache-2.0
/// The driver's options, as a stack specification has them: "udtcat:keyfile=/etc/key;protection=safe".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/key.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat::gridftp::xio {

inline constexpr const char* kKeyFileVariable = "UDTCAT_KEY_FILE";
inline constexpr const char* kKeyVariable = "UDTCAT_KEY";
inline constexpr const char* kHostKeyFile = "/etc/udtcat/gridftp.key";  // guess: where an administrator looks first

[[nodiscard]] inline SessionOptions data_session() {
  SessionOptions session;
  session.application = "driver";  // spec: docs/spec/handshake.md §4
  return session;
}

/// Threads: unsynchronised.
struct Settings {
  std::optional<Key> key;
  std::optional<std::string> key_file;
  SessionOptions session = data_session();
  TransportOptions transport;

  /// The first error of an option. Globus ignores errors of options, so every later open fails with it.
  std::optional<Error> error;

  [[nodiscard]] Settings duplicate() const;
  /// "name=value;name=value".
  /// errors: Errc::bad_argument, naming the option and what it may be; a key is never quoted. It stays as `error`
  Status set_all(std::string_view text);
  [[nodiscard]] Status set(std::string_view name, std::string_view value);
};

/// A variable of the environment; none where it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const char* name)>;

/// The key by option, by environment, or of this host; none exactly at Protection::clear. Files are regular ones: a
/// path may be that of a server's client, which could name a pipe.
/// environment_key   the text of kKeyVariable; empty where there is none
/// host_key_file     kHostKeyFile, but for tests
/// errors: those of `settings`; Errc::bad_argument for a key or key file that is no good, or where there is none at
/// all, naming the three sources
[[nodiscard]] Result<std::optional<Key>> find_key(const Settings& settings, const EnvironmentLookup& environment,
                                                  std::string_view environment_key,
                                                  const std::string& host_key_file = kHostKeyFile);

/// The ports a listener may have, by GLOBUS_UDP_PORT_RANGE: "50000,51000". Both are 0 where the system may choose.
struct UdpPortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};
/// errors: Errc::bad_argument
[[nodiscard]] Result<UdpPortRange> parse_udp_port_range(std::string_view text);

}  // namespace udtcat::gridftp::xio
