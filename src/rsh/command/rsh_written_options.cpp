#include "rsh/command/rsh_written_options.hpp"

#include <CLI/CLI.hpp>

namespace udtcat::tool {

void add_rsh_options(CLI::App& app, WrittenOptions& written) {
  const auto value = [&](const char* name, WrittenOptions::Text& into) { app.add_option(name, into)->take_last(); };
  value("--port", written.port);
  value("--udp-host", written.udp_host);
  value("--remote-udtcat", written.remote_udtcat);
  value("--ssh", written.ssh);
  value("--allow", written.allow);
  app.add_flag("--require-udp", written.require_udp);
  app.add_flag("--push", written.push);
  app.add_flag("--daemon", written.daemon);
}

}  // namespace udtcat::tool
