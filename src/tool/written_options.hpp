/// The command line as it was written: which words belong to which option. What they mean is the affair of options.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

namespace udtcat::tool {

struct WrittenOptions {
  using Text = std::optional<std::string>;
  std::vector<std::string> operands;
  bool listen = false, plain = false;
  Text to, from, exec;
  Text key_file, as, peer;
  Text protect, cipher, block, lanes, threads, flows, transport, congestion, rate, memory;
  bool send_only = false, recv_only = false;
  Text connect_timeout, idle_timeout, accept_timeout;
  bool ipv4 = false, ipv6 = false;
  int verbose = 0;
  bool quiet = false;
  bool progress = false, no_progress = false;
  Text stats;
  bool help = false, version = false;
  // of `rsh` and its kin only
  Text udp_host, port, remote_udtcat, ssh, allow;
  bool require_udp = false, push = false, daemon = false;
  // of `gridftp` only
  Text parallelism, stripes, range, over, retries, root, auth;
  bool read_only = false, anonymous_writable = false, third_party = false, clear_control = false;
};

/// Whose options there are beside those that all have.
enum class Dialect { pipe, rsh, gridftp };

/// errors: Errc::bad_argument for an option that is unknown or lacks its value. Of an option written twice the last counts.
[[nodiscard]] Result<WrittenOptions> split_command_line(int argc, const char* const* argv,
                                                        Dialect dialect = Dialect::pipe);

/// Whether `name` ("--rate") is a long option of the dialect, and whether a value follows it; none: it is not.
[[nodiscard]] std::optional<bool> takes_value(const std::string& name, Dialect dialect);

}  // namespace udtcat::tool
