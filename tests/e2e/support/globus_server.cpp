// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/globus_server.hpp"

#include <stdexcept>

#include "e2e/support/tcp_client.hpp"

namespace udtcat::test::e2e {

GlobusServer::GlobusServer(const std::vector<std::string>& more_options, const std::vector<std::string>& environment) {
  std::vector<std::string> words{"/usr/sbin/globus-gridftp-server", "-c", "/dev/null", "-p", std::to_string(port_),
                                 "-threads", "0", "-control-interface", "127.0.0.1", "-data-interface", "127.0.0.1",
                                 "-hostname", "127.0.0.1",
                                 // As root it wants to be told twice whom to be.
                                 "-aa", "-anonymous-user", "root", "-allow-root", "-anonymous-names-allowed", "*",
                                 "-home-dir", "/", "-d", "error,warn", "-l", (state_.path() / "log").string()};
  words.insert(words.end(), more_options.begin(), more_options.end());
  server_.emplace(Command{.argv = words, .environment = environment});
  if (!accepts_tcp(port_, std::chrono::seconds(30)))
    throw std::runtime_error("globus-gridftp-server: " + server_->errors() + read_file(state_.path() / "log"));
}

std::string GlobusServer::url(const std::filesystem::path& path) const {
  return "ftp://127.0.0.1:" + std::to_string(port_) + path.string();
}

}  // namespace udtcat::test::e2e
