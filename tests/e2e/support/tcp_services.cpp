// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/tcp_services.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "e2e/support/tcp_client.hpp"
#include "support/scale.hpp"

namespace udtcat::test::e2e {

namespace {

Digest write_large(const TempDir& directory) {
  const auto bytes = random_bytes(scaled(64 * kMiB), 10);
  directory.write("large", text_of(bytes));
  return digest_of(bytes);
}

std::string configuration(const std::string& root, std::uint16_t port) {
  return "daemon off; master_process off; error_log stderr; pid " + root +
         "/pid;\n"
         "events { worker_connections 1024; }\n"
         "http { access_log off; keepalive_requests 100000;\n"
         "  client_body_temp_path " +
         root + "/a; proxy_temp_path " + root + "/b; fastcgi_temp_path " + root +
         "/c;\n"
         "  uwsgi_temp_path " +
         root + "/d; scgi_temp_path " + root +
         "/e;\n"
         "  server { listen 127.0.0.1:" +
         std::to_string(port) + " backlog=1024; root " + root +
         "; }\n"
         "}\n";
}

/// Their start is not what is tested: on a machine with cold disks it takes what it takes.
testing::AssertionResult started(const Process& process, std::uint16_t port) {
  if (accepts_tcp(port, patience(30s))) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no answer on port " << port << "; it said: " << process.errors();
}

}  // namespace

HttpServer::HttpServer(std::uint16_t port) : port_(port), large_(write_large(directory_)), process_(start()) {}

Process HttpServer::start() const {
  directory_.write("small", kSmallBody);
  const auto file = directory_.write("nginx.conf", configuration(directory_.path().string(), port_));
  return Process({.argv = {"nginx", "-p", directory_.path().string(), "-e", "stderr", "-c", file.string()}});
}

testing::AssertionResult HttpServer::ready() const { return started(process_, port_); }

DatabaseServer::DatabaseServer()
    : process_({.argv = {"redis-server", "--bind", "127.0.0.1", "--port", std::to_string(port_), "--save", "",
                         "--appendonly", "no", "--dir", directory_.path().string()}}) {}

testing::AssertionResult DatabaseServer::ready() const { return started(process_, port_); }

namespace {

/// Debian keeps the server's programs out of PATH, one directory a version.
std::string postgres_program(const std::string& name) {
  std::string newest;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql"))
    newest = std::max(newest, (version.path() / "bin" / name).string());
  return newest;
}

/// It refuses to run as root.
std::vector<std::string> as_its_user(std::vector<std::string> words) {
  if (::geteuid() == 0)
    words.insert(words.begin(), {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"});
  return words;
}

}  // namespace

RelationalServer::RelationalServer() : process_(start()) {}

Process RelationalServer::start() const {
  const std::string data = directory_ / "data";
  if (::geteuid() == 0) {
    EXPECT_EQ(run({.argv = {"chown", "postgres:", directory_.path().string()}}).status, 0);
  }
  const Ran made = run(
      {.argv = as_its_user({postgres_program("initdb"), "-D", data, "-A", "trust", "-U", "postgres", "--no-sync"})});
  EXPECT_EQ(made.status, 0) << made.errors;
  return Process({.argv = as_its_user({postgres_program("postgres"), "-D", data, "-p", std::to_string(port_), "-h",
                                       "127.0.0.1", "-k", "", "-F", "-N", "300"})});
}

testing::AssertionResult RelationalServer::ready() const { return started(process_, port_); }

}  // namespace udtcat::test::e2e
