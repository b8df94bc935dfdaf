/// udtcat gridftp gateway: a TCP service and a TCP forward that know what FTP says about data connections.
#include <utility>

#include "gridftp/gateway/gateway.hpp"
#include "tool/commands.hpp"

namespace udtcat::tool {

Result<Options> parse_gateway_options(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"udtcat gridftp gateway"};
  for (const std::string& word : arguments) argv.push_back(word.c_str());
  auto options = parse_options(static_cast<int>(argv.size()), argv.data());
  if (!options) return options;
  options->gridftp_gateway = true;
  options->session.purpose = Purpose::gateway;
  switch (options->command) {
    case Command::serve:
    case Command::forward:
    case Command::help:
      return options;
    default:
      return fail(
          Errc::bad_argument, "gridftp gateway",
          "allowed: -l [ADDR:]PORT --to HOST:PORT beside the server, HOST PORT --from [ADDR:]PORT beside clients");
  }
}

ExitStatus gateway_command(const Options& options, FoundKey key, Console& console) {
  if (options.command == Command::serve)
    return serve_command(options, std::move(key), console, gridftp::make_far_gateway);
  return forward_command(options, std::move(key), console, gridftp::make_near_gateway);
}

}  // namespace udtcat::tool
