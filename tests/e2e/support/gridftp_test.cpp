// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/gridftp_test.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <regex>

#include "e2e/support/tcp_client.hpp"

namespace udtcat::test::e2e {

namespace {

constexpr std::chrono::seconds kPatience{120};

}  // namespace

Ran GridftpTest::gridftp(Arguments words) const {
  words.insert(words.begin(), {UDTCAT_BINARY, "gridftp"});
  return run({.argv = std::move(words), .working_directory = home_.path()}, kPatience);
}

Process GridftpTest::start_gridftp(Arguments words) const {
  words.insert(words.begin(), {UDTCAT_BINARY, "gridftp"});
  return Process({.argv = std::move(words), .working_directory = home_.path()});
}

Ran GridftpTest::url_copy(Arguments words) const {
  words.insert(words.begin(), "globus-url-copy");
  return run({.argv = std::move(words), .working_directory = home_.path()}, kPatience);
}

std::filesystem::path GridftpTest::random_file(const std::string& name, std::size_t bytes) const {
  std::string content(bytes, '\0');
  std::ifstream("/dev/urandom", std::ios::binary).read(content.data(), static_cast<std::streamsize>(bytes));
  return home_.write(name, content);
}

void GridftpTest::serve(Arguments more, const std::string& host) {
  Arguments words{"serve", "--root", home_.path(), "-l", host + ':' + std::to_string(serve_port_)};
  if (std::ranges::find(more, "--read-only") == more.end())
    words.insert(words.end(), {"--auth", "anonymous", "--anonymous-writable"});
  words.insert(words.end(), more.begin(), more.end());
  server_.emplace(start_gridftp(std::move(words)));
  ASSERT_TRUE(accepts_tcp(serve_port_, kPatience)) << server_->errors();
}

std::string GridftpTest::ours(const std::string& name) const {
  return "ftp://127.0.0.1:" + std::to_string(serve_port_) + '/' + name;
}

void GridftpTest::kill_when_some_has_come(Process& transfer, const std::string& name) const {
  const std::regex ranges("\nhave [0-9]");
  const auto has_some = [&] {
    const auto journal = here(name + ".part.have");
    return std::filesystem::exists(journal) && std::regex_search(read_file(journal), ranges);
  };
  ASSERT_TRUE(eventually(patience(60s), [&] { return has_some() || !transfer.running(); }));
  transfer.send_signal(SIGKILL);
  ASSERT_TRUE(transfer.wait(patience(30s)));
}

std::string GridftpTest::key_file() const { return home_.write("key", key_); }

}  // namespace udtcat::test::e2e
