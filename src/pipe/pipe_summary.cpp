// SPDX-License-Identifier: Apache-2.0
#include "pipe/pipe_options.hpp"

#include <fmt/format.h>

#include "lib/core/user_text.hpp"
#include "tool/cli/shell_words.hpp"
#include "tool/program/check_summary.hpp"

namespace udtcat::pipe {

namespace {

std::string service_text(const std::string& name) { return name.empty() ? "the service" : "the service " + name; }

std::string listener_text(const forward::SocketSpec& address, const PipeOptions& options) {
  return address.is_unix() ? forward::shown(address)
                           : tool::local_address_text("tcp", address.tcp, options.socket_family);
}

}  // namespace

tool::Words mode_summary(const PipeOptions& options) {
  const std::string_view protocol = core::protocol_of(options.transport.kind);
  const std::string where =
      options.ticket.made ? fmt::format("waits at {} for the end that has the ticket", to_string(*options.via))
      : options.listens   ? "waits for peers at " + tool::local_address_text(protocol, options.local, options.family)
      : options.ticket.file && !options.via ? "finds the listener by the ticket in " + *options.ticket.file
      : options.via                         ? "finds the listener at " + to_string(*options.via)
                                            : fmt::format("connects to {} {}", protocol, to_string(options.peer));
  if (options.mode == Mode::forward) {
    tool::Words lines{where};
    for (const forward::ServiceOption& each : options.services)
      lines.push_back(
          fmt::format("connects streams for {} to {}", service_text(each.name), forward::shown(each.address)));
    for (const forward::LocalListenerOption& each : options.listeners)
      lines.push_back(fmt::format("carries clients of {} to {} of the other end", listener_text(each.address, options),
                                  service_text(each.service)));
    if (!options.listens) lines.push_back(options.once ? "ends with its session" : "dials again for ever");
    return lines;
  }
  const std::string what = options.exec ? "the command " + tool::quoted(*options.exec) : "standard input and output";
  return {where, options.listens ? "bridges the first to " + what : "bridges " + what};
}

}  // namespace udtcat::pipe
