// SPDX-License-Identifier: Apache-2.0
/// A server of ours and a client that says whatever a test likes, byte by byte; after each test the server has to be of
/// use.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "e2e/support/ftp_dialogue.hpp"
#include "e2e/support/udtcat_test.hpp"
#include "support/bytes.hpp"
#include "support/deadline.hpp"

namespace udtcat::test::e2e {

[[nodiscard]] inline std::string random_text(std::uint64_t seed, std::size_t size) {
  return text_of(random_bytes(size, seed));
}

class GridftpEdgeTest : public UdtcatTest {
 protected:
  void SetUp() override { serve(); }
  void TearDown() override { expect_good_service(); }

  void serve(const Arguments& more = {}) {
    server_.reset();
    std::filesystem::create_directories(root_);
    port_ = free_port();
    Arguments words{"gridftp", "serve", "--root", root_, "-l", "127.0.0.1:" + std::to_string(port_)};
    if (std::ranges::find(more, "--read-only") == more.end())
      words.insert(words.end(), {"--auth", "anonymous", "--anonymous-writable"});
    server_.emplace(udtcat(std::move(words), {.args = more}));
    ASSERT_TRUE(accepts_tcp(port_, kAtOnce)) << server_->errors();
    talk_.reset();
    talk_ = arrive();
  }
  [[nodiscard]] std::unique_ptr<FtpDialogue> arrive() const {
    auto talk = std::make_unique<FtpDialogue>(port_);
    talk->log_in();
    return talk;
  }
  [[nodiscard]] TcpClient connect_data() {
    if (data_port_ == 0) data_port_ = talk_->passive();
    return {data_port_, kAtOnce};
  }
  /// STOR /x of what these connections bring, all of it before the server is asked. The server's last word.
  int store(const std::vector<std::string>& connections, const std::string& line = "STOR /x") {
    data_.clear();
    data_port_ = 0;
    for (const std::string& bytes : connections) {
      data_.push_back(connect_data());
      EXPECT_TRUE(data_.back().send(bytes));
    }
    EXPECT_TRUE(talk_->send(line));
    return talk_->hear_end();
  }
  /// The server may not have noticed yet that whoever wrote the file has gone: 450 until then.
  [[nodiscard]] bool takes_it_soon() {
    int code = 450;
    return eventually(std::chrono::seconds(10),
                      [&] {
                        code = store({data_block(0, content_) + end_of_file(1)});
                        return code != 450;
                      }) &&
           code == 226;
  }
  [[nodiscard]] std::string stored(const std::string& name = "x") const { return read_file(root_ / name); }
  [[nodiscard]] bool exists(const std::string& name = "x") const { return std::filesystem::exists(root_ / name); }
  void offer(const std::string& name, const std::string& content) const {
    std::ofstream(root_ / name, std::ios::binary) << content;
  }
  /// RETR and the like on one connection to a port of ours.
  BlocksRead retrieve(const std::string& line) {
    const TcpListener listener;
    EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
    EXPECT_TRUE(talk_->send(line));
    BlocksRead read;
    if (auto connection = listener.accept(kAtOnce)) {
      read_blocks(*connection, read);
      EXPECT_EQ(talk_->hear_end(), 226) << talk_->said();
    }
    return read;
  }
  void expect_good_service() {
    ASSERT_TRUE(server_->running()) << server_->errors();
    talk_ = arrive();
    EXPECT_EQ(store({data_block(0, content_) + end_of_file(1)}, "STOR /good"), writable_ ? 226 : 550);
    if (!writable_) return;
    EXPECT_TRUE(stored("good") == content_);
    EXPECT_TRUE(retrieve("RETR /good").content == content_);
  }

  const std::filesystem::path root_ = home_.path() / "served";
  const std::string content_ = random_text(7, 300'000);
  const std::string front_ = content_.substr(0, 100'000);
  const std::string back_ = content_.substr(100'000);
  bool writable_ = true;
  std::optional<Process> server_;
  std::unique_ptr<FtpDialogue> talk_;
  std::uint16_t data_port_ = 0;
  std::vector<TcpClient> data_;
};

}  // namespace udtcat::test::e2e
