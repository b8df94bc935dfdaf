// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/xio_server.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "e2e/support/tcp_client.hpp"

namespace udtcat::test::e2e {

std::vector<std::string> driver_environment(const std::filesystem::path& key_file) {
  std::vector<std::string> variables{"LD_LIBRARY_PATH=" UDTCAT_XIO_DRIVER_DIRECTORY};
  if (!key_file.empty()) variables.push_back("UDTCAT_KEY_FILE=" + key_file.string());
  if (const std::string runtime = UDTCAT_SANITIZER_RUNTIME; !runtime.empty()) {
    variables.push_back("LD_PRELOAD=" + runtime);
    // Globus leaves memory and its own threads' races behind: only the driver is looked at.
    variables.push_back("ASAN_OPTIONS=detect_leaks=0:new_delete_type_mismatch=0");
    if (const char* options = std::getenv("TSAN_OPTIONS"))
      variables.push_back(std::string("TSAN_OPTIONS=") + options + ":ignore_noninstrumented_modules=1");
  }
  return variables;
}

XioServer::XioServer(const XioServerOptions& options) : anonymous_(options.certificates == nullptr) {
  std::string nodes;
  for (std::size_t i = 0; i < options.data_nodes; ++i) {
    const std::uint16_t port = free_port();
    start({"-dn", "-ipc-interface", "127.0.0.1"}, options, port);
    nodes += (nodes.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port);
  }
  start(nodes.empty() ? std::vector<std::string>() : std::vector<std::string>{"-r", nodes}, options, port_);
}

void XioServer::start(std::vector<std::string> more, const XioServerOptions& options, std::uint16_t port) {
  std::vector<std::string> words{"/usr/sbin/globus-gridftp-server",
                                 "-c",
                                 "/dev/null",
                                 "-p",
                                 std::to_string(port),
                                 "-threads",
                                 std::to_string(options.threads),
                                 "-control-interface",
                                 "127.0.0.1",
                                 "-data-interface",
                                 "127.0.0.1",
                                 "-allow-root",
                                 "-home-dir",
                                 "/",
                                 "-d",
                                 "error,warn,info",
                                 "-l",
                                 (state_.path() / "log").string(),
                                 "-dc-whitelist",
                                 "tcp,gsi,udtcat"};
  if (anonymous_)
    words.insert(words.end(),
                 {"-hostname", "127.0.0.1", "-aa", "-anonymous-user", "root", "-anonymous-names-allowed", "*"});
  if (!anonymous_ && options.data_nodes > 0)
    words.push_back("-no-si");  // nodes and frontend trust each other on loopback
  if (!options.default_stack.empty()) words.insert(words.end(), {"-dc-default", options.default_stack});
  words.insert(words.end(), more.begin(), more.end());
  std::vector<std::string> environment = driver_environment(options.key_file);
  if (!anonymous_) {
    const auto credentials = options.certificates->for_server();
    environment.insert(environment.end(), credentials.begin(), credentials.end());
  }
  processes_.emplace_back(Command{.argv = words, .environment = environment});
  if (!accepts_tcp(port, std::chrono::seconds(30)))
    throw std::runtime_error("globus-gridftp-server: " + processes_.back().errors() + log());
}

std::string XioServer::url(const std::filesystem::path& path) const {
  return (anonymous_ ? "ftp://127.0.0.1:" : "gsiftp://localhost:") + std::to_string(port_) + path.string();
}

std::string XioServer::log() const { return read_file(state_.path() / "log"); }

std::vector<pid_t> XioServer::children() const {
  const pid_t own = processes_.back().pid();
  std::istringstream words(processes_.back().proc_file("task/" + std::to_string(own) + "/children"));
  std::vector<pid_t> children;
  for (pid_t child = 0; words >> child;) children.push_back(child);
  return children;
}

void XioServer::kill() {
  for (const pid_t child : children()) ::kill(child, SIGKILL);
  for (const auto& process : processes_) process.send_signal(SIGKILL);
}

}  // namespace udtcat::test::e2e
