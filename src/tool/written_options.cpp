#include "tool/written_options.hpp"

#include <CLI/CLI.hpp>

#include "gridftp/command/gridftp_written_options.hpp"
#include "rsh/command/rsh_written_options.hpp"

namespace udtcat::tool {

namespace {

void add_values(CLI::App& app, WrittenOptions& written) {
  const auto value = [&](const char* names, WrittenOptions::Text& into) { app.add_option(names, into)->take_last(); };
  value("--to", written.to);
  value("--from", written.from);
  value("--exec", written.exec);
  value("-k,--key-file", written.key_file);
  value("--as", written.as);
  value("--peer", written.peer);
  value("--protect", written.protect);
  value("--cipher", written.cipher);
  value("--block", written.block);
  value("--lanes", written.lanes);
  value("--threads", written.threads);
  value("--flows", written.flows);
  value("--transport", written.transport);
  value("--congestion", written.congestion);
  value("--rate", written.rate);
  value("--memory", written.memory);
  value("--connect-timeout", written.connect_timeout);
  value("--idle-timeout", written.idle_timeout);
  value("--accept-timeout", written.accept_timeout);
  value("--stats", written.stats);
}

void add_flags(CLI::App& app, WrittenOptions& written) {
  const auto flag = [&](const char* names, bool& into) { app.add_flag(names, into); };
  flag("-l,--listen", written.listen);
  flag("--plain", written.plain);
  flag("--send-only", written.send_only);
  flag("--recv-only", written.recv_only);
  flag("-4", written.ipv4);
  flag("-6", written.ipv6);
  app.add_flag("-v,--verbose", written.verbose);
  flag("-q,--quiet", written.quiet);
  flag("--progress", written.progress);
  flag("--no-progress", written.no_progress);
  flag("-h,--help", written.help);
  flag("--version", written.version);
}

void add_options(CLI::App& app, WrittenOptions& written, Dialect dialect) {
  app.set_help_flag();
  add_values(app, written);
  add_flags(app, written);
  if (dialect == Dialect::rsh) add_rsh_options(app, written);
  if (dialect == Dialect::gridftp) add_gridftp_options(app, written);
}

tl::unexpected<Error> unknown(const std::string& word, Dialect dialect) {
  const std::string command = dialect == Dialect::gridftp ? "udtcat gridftp" : "udtcat";
  return fail(Errc::bad_argument, "option \"" + word + "\"", "unknown; " + command + " --help lists the options");
}

/// CLI11 says "--lanes: 1 required TEXT missing".
tl::unexpected<Error> malformed(const std::string& text) {
  const auto colon = text.find(':');
  if (text.starts_with("-") && colon != std::string::npos)
    return fail(Errc::bad_argument, "option " + text.substr(0, colon), "needs a value");
  return fail(Errc::bad_argument, "command line", text);
}

}  // namespace

Result<WrittenOptions> split_command_line(int argc, const char* const* argv, Dialect dialect) {
  WrittenOptions written;
  CLI::App app;
  add_options(app, written, dialect);
  app.add_option("operands", written.operands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return unknown(app.remaining().front(), dialect);
  } catch (const CLI::ParseError& error) {
    return malformed(error.what());
  }
  return written;
}

std::optional<bool> takes_value(const std::string& name, Dialect dialect) {
  WrittenOptions written;
  CLI::App app;
  add_options(app, written, dialect);
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return std::nullopt;
  return option->get_items_expected_max() > 0;
}

}  // namespace udtcat::tool
