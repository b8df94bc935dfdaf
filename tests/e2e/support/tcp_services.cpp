#include "e2e/support/tcp_services.hpp"

#include <string_view>

#include "e2e/support/scale.hpp"
#include "e2e/support/tcp_client.hpp"

namespace udtcat::e2e {

namespace {

Digest write_large(const TempDir& directory) {
  const auto bytes = random_bytes(10, scaled(64 * kMiB));
  // SAFETY: any object's bytes may be looked at as char.
  directory.write("large", std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
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

}  // namespace

HttpServer::HttpServer(std::uint16_t port) : port_(port), large_(write_large(directory_)), process_(start()) {}

Process HttpServer::start() const {
  directory_.write("small", kSmallBody);
  const auto file = directory_.write("nginx.conf", configuration(directory_.path().string(), port_));
  return Process({.argv = {"nginx", "-p", directory_.path().string(), "-e", "stderr", "-c", file.string()}});
}

bool HttpServer::ready() const { return accepts_tcp(port_, kAtOnce); }

DatabaseServer::DatabaseServer()
    : process_({.argv = {"redis-server", "--bind", "127.0.0.1", "--port", std::to_string(port_), "--save", "",
                         "--appendonly", "no", "--dir", directory_.path().string()}}) {}

bool DatabaseServer::ready() const { return accepts_tcp(port_, kAtOnce); }

}  // namespace udtcat::e2e
