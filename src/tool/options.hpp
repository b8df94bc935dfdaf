/// The command line, understood. No input or output here.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

namespace udtcat::tool {

struct WrittenOptions;

enum class Command {
  connect,  ///< udtcat HOST PORT
  listen,   ///< udtcat -l [ADDR:]PORT
  serve,    ///< udtcat -l [ADDR:]PORT --to HOST:PORT
  forward,  ///< udtcat HOST PORT --from [ADDR:]PORT
  keygen,
  help,
  version,
};

/// Less than two pings of a peer in three would have to be lost; see docs/spec/stream.md §5.
inline constexpr std::chrono::milliseconds kMinIdleTimeout{3'000};  // guess: three pings

/// Beyond the session's idle timeout, so that the session speaks first and says more.
inline constexpr std::chrono::milliseconds kTransportOutlasts{10'000};  // guess

inline constexpr std::uint64_t kMaxMemoryBytes = 64 * kGiB;  // guess: 100 Gbit/s at 5 s

struct Options {
  Command command = Command::help;
  bool plain = false;            ///< connect, listen: no session, bare bytes
  bool gridftp_gateway = false;  ///< serve, forward: by the words gridftp gateway
  HostPort peer{};               ///< connect, forward: whom to call
  HostPort local{};              ///< listen, serve: where to wait
  HostPort service{};            ///< serve: what each stream is connected to
  HostPort front{};              ///< forward: where local TCP clients come
  std::optional<std::string>
      exec{};  ///< connect, listen: the command that is bridged, for sh -c; none: stdin and stdout
  std::uint64_t core_limit_bytes = 0;  ///< what that command may dump
  AddressFamily family = AddressFamily::any;
  std::optional<std::string> key_file{};
  SessionOptions session{};
  TransportOptions transport{};
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds closed_port_patience{2'000};      ///< what was asked for counts for a closed port too
  std::optional<std::chrono::milliseconds> accept_timeout{};  ///< none: for ever
  int verbosity = 0;                                          ///< -1: only errors; 1 info, 2 debug, 3 trace
  std::optional<bool> progress{};                             ///< none: where a person is watching
  bool stats_json = false;

  [[nodiscard]] bool listens() const { return command == Command::listen || command == Command::serve; }
};

/// What every form has: protection, session, transport, times, output.
[[nodiscard]] Status read_common_options(const WrittenOptions& written, Options& options);

/// errors: Errc::bad_argument; `what` names the option and the value, `cause` what is allowed
[[nodiscard]] Result<Options> parse_options(int argc, const char* const* argv);

/// "host:9000", "[2001:db8::1]:9000": as users write it.
[[nodiscard]] std::string to_string(const HostPort& target);

}  // namespace udtcat::tool
