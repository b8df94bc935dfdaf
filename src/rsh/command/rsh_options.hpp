/// The command lines of `udtcat rsh` and of what it starts at the far side. No input or output here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

#include "rsh/ssh_words.hpp"
#include "tool/options.hpp"

namespace udtcat::tool {

struct PortRange {
  std::uint16_t first = 9000;
  std::uint16_t last = 9100;
};
[[nodiscard]] std::string to_string(const PortRange& range);
/// "9000" or "9000-9100".  errors: Errc::bad_argument
[[nodiscard]] Result<PortRange> parse_port_range(const std::string& text);

struct RshOptions {
  bool help = false;
  Options common;                               ///< connect_timeout: how long UDP is tried
  rsh::SshWords ssh;                            ///< what ssh was to do
  std::vector<std::string> ssh_program{"ssh"};  ///< and its first words, as in --ssh 'ssh -p 2222'
  std::vector<std::string> ssh_arguments;       ///< as written, without our own options
  std::optional<std::string> udp_host;          ///< one more place to look for the far end
  std::string remote_program = "udtcat";
  bool require_udp = false;
  bool push = false;
  bool daemon = false;                   ///< no ssh: a daemon waits at the host, on the first of `ports`
  std::string host;                      ///< of the destination, without its user
  PortRange ports;                       ///< of the far end
  std::vector<std::string> far_options;  ///< what rsh-server is told
};

/// Time in which a far end that ssh has started answers on UDP where it can: two handshakes at half a second.
inline constexpr std::chrono::milliseconds kUdpPatience{3'000};  // guess

/// arguments    what follows `udtcat rsh`
/// user_config  the text of the user's file
/// errors       Errc::bad_argument
[[nodiscard]] Result<RshOptions> parse_rsh_options(const std::vector<std::string>& arguments,
                                                   std::string_view user_config);

struct RshServerOptions {
  Options common;  ///< accept_timeout: how long for somebody to prove the key
  PortRange ports;
};
/// arguments   what follows `udtcat rsh-server`.  errors: Errc::bad_argument
[[nodiscard]] Result<RshServerOptions> parse_rsh_server_options(const std::vector<std::string>& arguments);

struct RshDaemonOptions {
  bool help = false;  ///< nothing else then
  Options common;     ///< local: where it waits
  std::string allow;  ///< the file that lists what may be run
};
/// arguments   what follows `udtcat rsh-daemon`.  errors: Errc::bad_argument
[[nodiscard]] Result<RshDaemonOptions> parse_rsh_daemon_options(const std::vector<std::string>& arguments);

}  // namespace udtcat::tool
