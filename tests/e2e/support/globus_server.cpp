// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/globus_server.hpp"

#include <stdexcept>
#include <utility>

#include "support/deadline.hpp"

namespace udtcat::test::e2e {

GlobusServer::GlobusServer(const std::vector<std::string>& more_options, const std::vector<std::string>& environment,
                           std::string host)
    : host_(std::move(host)) {
  std::vector<std::string> words{"/usr/sbin/globus-gridftp-server", "-c", "/dev/null", "-p", std::to_string(port_),
                                 "-threads", "0", "-control-interface", host_, "-data-interface", host_, "-hostname",
                                 host_,
                                 // As root it wants to be told twice whom to be.
                                 "-aa", "-anonymous-user", "root", "-allow-root", "-anonymous-names-allowed", "*",
                                 "-home-dir", "/", "-d", "error,warn", "-l", (state_.path() / "log").string()};
  words.insert(words.end(), more_options.begin(), more_options.end());
  server_.emplace(Command{.argv = words, .environment = environment});
  const std::string connect = ": </dev/tcp/" + host_ + '/' + std::to_string(port_);
  if (!eventually(std::chrono::seconds(30), [&] { return run({.argv = {"bash", "-c", connect}}).status == 0; }))
    throw std::runtime_error("globus-gridftp-server: " + server_->errors() + read_file(state_.path() / "log"));
}

std::string GlobusServer::url(const std::filesystem::path& path) const {
  const bool is_ipv6 = host_.find(':') != std::string::npos;
  return "ftp://" + (is_ipv6 ? '[' + host_ + ']' : host_) + ':' + std::to_string(port_) + path.string();
}

}  // namespace udtcat::test::e2e
