// SPDX-License-Identifier: Apache-2.0
/// A server on a real port, a client's control connection to it, and the client's data path.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gridftp/client/control_client.hpp"
#include "gridftp/dialogue/data_port.hpp"
#include "gridftp/mode_e/data_path.hpp"
#include "gridftp/server/ftp_server.hpp"
#include "gridftp/support.hpp"

namespace udtcat::gridftp {

class Served : public testing::Test {
 protected:
  void serve(ServeOptions options = {}) {
    server = std::make_unique<FtpServer>(io, ServedRoot::open(folder.path()).value(), std::move(options));
    ASSERT_TRUE(server->listen({bridge::loopback_v4()}));
  }
  [[nodiscard]] HostPort where() const { return {"127.0.0.1", server->local_endpoints().front().port()}; }
  std::unique_ptr<ControlClient> visit() {
    return std::move(run_moved(ControlClient::connect(io, where(), std::chrono::seconds(30))).value());
  }
  std::unique_ptr<ControlClient> visit_from(const char* address) {
    bridge::tcp::socket socket(io);
    socket.open(bridge::tcp::v4());
    socket.bind({boost::asio::ip::make_address(address), 0});
    socket.connect(bridge::to_asio(server->local_endpoints().front()));
    return visit_over(std::make_shared<StreamIo>(make_tcp_stream(std::move(socket))));
  }
  /// none: it was sent away
  std::unique_ptr<ControlClient> visit_over(std::shared_ptr<StreamIo> stream) {
    auto link = std::make_unique<ControlConnection>(io, std::move(stream), Endpoint(), Endpoint());
    auto begun = run_moved(ControlClient::begin(std::move(link), "ftp server", std::chrono::seconds(30)));
    return begun ? std::move(*begun) : nullptr;
  }
  void log_in() {
    client = visit();
    EXPECT_TRUE(log_in(*client));
  }
  bool log_in(ControlClient& visitor) {
    return run(io, visitor.ask("USER anonymous")).value_or(Reply{}).code == 331 &&
           run(io, visitor.ask("PASS x")).value_or(Reply{}).code == 230;
  }
  std::unique_ptr<ControlClient> logged_in_from(const char* address) {
    auto visitor = visit_from(address);
    EXPECT_TRUE(visitor && log_in(*visitor)) << address;
    return visitor;
  }
  void begin_blocks() {
    log_in();
    EXPECT_EQ(ask("MODE E").code, 200);
  }
  Reply ask(const std::string& line) { return run(io, client->ask(line)).value_or(Reply{0, {"no reply"}}); }
  Status send(const std::string& line) { return run(io, client->send(line)); }
  Reply next_reply() { return run(io, client->reply()).value_or(Reply{0, {"no reply"}}); }
  /// The reply that is neither a beginning nor a marker.
  Reply hear_end() {
    for (;;) {
      Reply reply = next_reply();
      if (!reply.is_preliminary() || reply.code == 0) return reply;
    }
  }
  /// Our ports are the server's to connect to.
  void call_us(const char* command = "PORT", std::size_t addresses = 1) {
    std::string line = command;
    const auto ports = path.listen(bridge::loopback_v4(), addresses);
    for (const Endpoint& port : ports.value()) line += ' ' + to_data_port(port);
    EXPECT_EQ(ask(line).code, 200);
  }
  void ask_where() { path.aim({passive_port(ask("PASV")).value()}); }

  /// A transfer of ours, begun by `line`: what the server says at its end.
  Reply receive(const std::string& line, std::optional<files::ByteRange> expected = std::nullopt,
                files::ByteRanges have = {}) {
    sink = std::make_shared<MemorySink>();
    EXPECT_TRUE(send(line));
    const auto taken = begin(io, path.receive(IncomingFile(expected, std::move(have), path.addresses()), sink));
    Reply end = hear_end();
    if (!end.is_completion()) path.cancel({Errc::interrupted, "receive", "the server said no"});
    EXPECT_EQ(await(io, taken).has_value(), end.is_completion());
    return end;
  }
  Reply put(const std::string& line, const Bytes& content, std::size_t parallelism = 2, std::uint64_t from = 0) {
    SendRequest request;
    request.source = std::make_shared<FileSource>(
        io, BlockStore::open_to_read(files::FileLocation(elsewhere.write("source", content))).value(),
        std::vector<files::ByteRange>(1, {from, content.size()}));
    request.block_bytes = 10'000;
    EXPECT_TRUE(send(line));
    const auto sent = begin(io, path.send(parallelism, std::move(request)));
    Reply end = hear_end();
    if (!end.is_completion()) path.cancel({Errc::interrupted, "send", "the server said no"});
    EXPECT_TRUE(run_until(io, [&] { return sent->has_value(); }));
    return end;
  }
  /// The server is as good as new.
  void expect_good_service() {
    client.reset();
    path.close();
    begin_blocks();
    const Bytes content = random_bytes(50'000);
    ask_where();
    EXPECT_EQ(put("STOR /good", content).code, 226);
    EXPECT_TRUE(folder.read("good") == content);
    call_us();
    EXPECT_EQ(receive("RETR /good").code, 226);
    EXPECT_TRUE(sink->content == content);
  }

  boost::asio::io_context io;
  Folder folder;
  Folder elsewhere;
  std::unique_ptr<FtpServer> server;
  std::unique_ptr<ControlClient> client;
  DataPath path{io, make_tcp_stack(io)};
  std::shared_ptr<MemorySink> sink;

 private:
  template <typename T>
  T run_moved(Task<T> task) {
    auto outcome = begin(io, std::move(task));
    EXPECT_TRUE(run_until(io, [&] { return outcome->has_value(); }));
    return std::move(outcome->value());
  }
};

}  // namespace udtcat::gridftp
