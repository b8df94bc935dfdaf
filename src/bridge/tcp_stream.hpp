/// One connected TCP socket as a local stream. make_tcp_stream() is in <udtcat/bridges.hpp>.
#pragma once

#include <span>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include <udtcat/local_stream.hpp>

#include "core/lifetime.hpp"

namespace udtcat::bridge {

/// Threads: confined to the io_context thread.
class TcpStream final : public LocalStream {
 public:
  explicit TcpStream(boost::asio::ip::tcp::socket socket);

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override;
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;
  [[nodiscard]] std::string source_name() const override { return name_; }
  [[nodiscard]] std::string sink_name() const override { return name_; }

 private:
  boost::asio::ip::tcp::socket socket_;
  const std::string name_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
