// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_config.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <set>
#include <span>
#include <sstream>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <boost/asio/io_context.hpp>

#include <udtcat/bridges.hpp>

#include "lib/bridge/descriptor.hpp"
#include "lib/net/interface_addresses.hpp"

namespace udtcat::ssh {

namespace {

constexpr std::size_t kMaxOutputBytes = 256 * 1024;  // guess: -G prints some 5 kB, and more for many keys

bool is_on(const std::string& value) { return value != "no" && value != "none" && value != "false" && value != "0"; }

void take(const std::string& name, const std::string& value, SshConfig& config) {
  if (name == "user") config.user = value;
  if (name == "hostname") config.hostname = value;
  if (name == "port") config.port = value;
  if (name == "controlpath" && is_on(value)) config.control_path = value;
  if (name == "controlmaster") {
    config.may_be_master = is_on(value);
    config.shares_always = value == "true" || value == "yes" || value == "ask";
  }
  if (name == "remotecommand") config.has_remote_command = is_on(value);
  if (name == "permitlocalcommand") config.has_local_command = is_on(value);
  if (name == "serveraliveinterval") config.has_alive_interval = is_on(value);
  if (name == "serveralivecountmax") config.has_alive_count_max = value != "3";  // spec: ssh_config(5), its default
  const bool is_proxy = (name == "proxyjump" || name == "proxycommand") && is_on(value);
  config.is_proxied |= is_proxy;
  if (is_proxy || name == "identityfile" || name == "certificatefile") config.credentials += name + ' ' + value + '\n';
}

/// Reads until the child's output has ended, or it is too much.
void read_output(LocalStream& from, std::string& output, const std::function<void()>& done) {
  std::array<char, 4096> piece{};
  for (;;) {
    const auto got = from.read_some(std::as_writable_bytes(std::span(piece)));
    if (got.state == LocalStream::ReadState::would_block)
      return from.async_wait_readable([&from, &output, done] { read_output(from, output, done); });
    if (got.state != LocalStream::ReadState::data || output.size() > kMaxOutputBytes) return done();
    output.append(piece.data(), got.bytes);
  }
}

}  // namespace

bool SshConfig::finds_master() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (shares_always || control_path.empty() || control_path.size() >= sizeof address.sun_path) return false;
  std::copy(control_path.begin(), control_path.end(), std::begin(address.sun_path));
  const bridge::Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return probe.is_open() && ::connect(probe.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::string destination_key(const SshConfig& config, const std::string& ports, const std::vector<Endpoint>& own) {
  // Our addresses stand for the network that we are in: the route itself would take the resolver, or a proxy, to know.
  std::set<std::string> addresses;
  for (const Endpoint& address : own)
    if (net::is_global_unicast(address)) addresses.insert(address.host_to_string());
  // Another build may hash differently, and then misses the cache.
  const auto hash = std::hash<std::string>()(fmt::format("{}{}", config.credentials, fmt::join(addresses, " ")));
  std::string key = fmt::format("{}@{}:{}/{}#{:x}", config.user, config.hostname, config.port, ports, hash);
  std::ranges::replace_if(
      key, [](char c) { return static_cast<unsigned char>(c) <= ' '; }, '_');
  return key;
}

std::optional<SshConfig> parse_ssh_config(std::string_view output) {
  SshConfig config;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    if (space != std::string::npos) take(line.substr(0, space), line.substr(space + 1), config);
  }
  if (config.hostname.empty() || config.port.empty()) return std::nullopt;
  return config;
}

std::optional<SshConfig> ask_ssh(bridge::ChildRequest query, std::chrono::milliseconds timeout) {
  query.pipe_stderr = true;  // dropped: the ssh that connects prints the same errors
  query.own_session = false;
  boost::asio::io_context io;
  std::optional<bridge::ChildExit> end;
  std::string output;
  bool is_read = false;
  const auto stop_when_over = [&] {
    if (end && is_read) io.stop();
  };
  const auto child = bridge::ChildProcess::start(io, query, [&](const bridge::ChildExit& ended) {
    end = ended;
    stop_when_over();
  });
  if (!child) return std::nullopt;
  auto pipes = (*child)->take_pipes();
  std::ignore = pipes.input.close();
  const auto stream = make_stdio_stream(io, pipes.output.release(), -1, {.read = true, .write = false});
  if (!stream) return std::nullopt;
  read_output(**stream, output, [&] {
    is_read = true;
    stop_when_over();
  });
  io.run_for(timeout);
  if (!end) (*child)->signal(SIGKILL);
  if (!end || end->signal != 0 || end->status != 0 || !is_read) return std::nullopt;
  return parse_ssh_config(output);
}

}  // namespace udtcat::ssh
