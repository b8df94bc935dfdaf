#include "gridftp/control_client.hpp"

#include <optional>

#include <fmt/format.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>

#include "bridge/asio_terms.hpp"
#include "core/invariant.hpp"
#include "core/lifetime.hpp"
#include "core/log.hpp"

namespace udtcat::gridftp {

using boost::asio::ip::tcp;

namespace {

/// Cuts a wait short: what it watches fails with operation_aborted when the time is over and nothing has moved.
class Watchdog {
 public:
  using Moved = std::function<std::uint64_t()>;

  Watchdog(boost::asio::steady_timer& timer, tcp::socket& socket, std::chrono::milliseconds patience, Moved moved = {})
      : timer_(timer), socket_(socket), patience_(patience), moved_(std::move(moved)) {
    wait();
  }
  ~Watchdog() { timer_.cancel(); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  [[nodiscard]] bool has_bitten() const { return bitten_; }

 private:
  void wait() {
    timer_.expires_after(patience_);
    timer_.async_wait(lifetime_.guard([this, before = count()](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      if (count() != before) return wait();
      bitten_ = true;
      boost::system::error_code ignored;
      socket_.close(ignored);
    }));
  }
  [[nodiscard]] std::uint64_t count() const { return moved_ ? moved_() : 0; }

  boost::asio::steady_timer& timer_;
  tcp::socket& socket_;
  const std::chrono::milliseconds patience_;
  const Moved moved_;
  bool bitten_ = false;
  core::Lifetime lifetime_;
};

Task<boost::system::error_code> connect_to(tcp::socket& socket, const std::vector<Endpoint>& addresses) {
  boost::system::error_code error = boost::asio::error::host_not_found;
  for (const Endpoint& address : addresses) {
    boost::system::error_code ignored;
    socket.close(ignored);
    co_await socket.async_connect(bridge::to_asio(address), into(error));
    if (!error) break;
  }
  co_return error;
}

}  // namespace

ControlClient::ControlClient(boost::asio::io_context& io, tcp::socket socket, std::string name,
                             std::chrono::milliseconds patience)
    : socket_(std::move(socket)), timer_(io), name_(std::move(name)), patience_(patience) {}

Task<Result<std::unique_ptr<ControlClient>>> ControlClient::connect(boost::asio::io_context& io, HostPort server,
                                                                    std::chrono::milliseconds patience) {
  const std::string name = fmt::format("ftp server {}:{}", server.host, server.port);
  const auto addresses = resolve(server, AddressFamily::any);
  if (!addresses) co_return tl::unexpected(addresses.error());
  tcp::socket socket(io);
  boost::asio::steady_timer timer(io);
  boost::system::error_code error;
  {
    const Watchdog watchdog(timer, socket, patience);
    error = co_await connect_to(socket, *addresses);
    if (watchdog.has_bitten()) co_return fail(Errc::cannot_reach, "connect to the " + name, "nobody answered");
  }
  if (error) co_return fail(Errc::cannot_reach, "connect to the " + name, bridge::cause_of(bridge::from_asio(error)));
  socket.set_option(tcp::no_delay(true), error);  // a dialogue of short lines; without it it is slower, not wrong
  std::unique_ptr<ControlClient> client(new ControlClient(io, std::move(socket), name, patience));
  const auto greeting = co_await client->reply();
  if (!greeting) co_return tl::unexpected(greeting.error());
  if (!greeting->is_completion()) co_return fail(Errc::stream_refused, "begin with the " + name, greeting->text());
  co_return client;
}

Task<Status> ControlClient::send(std::string line) {
  UDTCAT_INVARIANT(line.find_first_of("\r\n") == std::string::npos,
                   "a path with a line end is refused where it comes in");
  core::log().debug("{}: > {}", name_, line);
  line += "\r\n";
  boost::system::error_code error;
  const Watchdog watchdog(timer_, socket_, patience_);
  co_await boost::asio::async_write(socket_, boost::asio::buffer(line), into(error));
  if (error)
    co_return fail(Errc::connection_broken, "speak to the " + name_, bridge::cause_of(bridge::from_asio(error)));
  co_return Status{};
}

Task<Result<Reply>> ControlClient::reply(std::function<std::uint64_t()> moved) {
  const Watchdog watchdog(timer_, socket_, patience_, std::move(moved));
  for (;;) {
    auto reply = reader_.next();
    if (!reply) co_return tl::unexpected(std::move(reply.error()));
    if (*reply) {
      core::log().debug("{}: < {} {}", name_, (*reply)->code, (*reply)->text());
      co_return std::move(**reply);
    }
    boost::system::error_code error;
    const std::size_t got = co_await socket_.async_read_some(boost::asio::buffer(piece_), into(error));
    if (watchdog.has_bitten()) co_return fail(Errc::peer_lost, "hear the " + name_, "it says nothing");
    if (error == boost::asio::error::eof) co_return fail(Errc::connection_broken, "hear the " + name_, "it hung up");
    if (error) co_return fail(Errc::connection_broken, "hear the " + name_, bridge::cause_of(bridge::from_asio(error)));
    reader_.push(std::string_view(piece_.data(), got));
  }
}

Task<Result<Reply>> ControlClient::ask(std::string line) {
  if (auto sent = co_await send(std::move(line)); !sent) co_return tl::unexpected(std::move(sent.error()));
  for (;;) {
    auto answer = co_await reply();
    if (!answer || !answer->is_preliminary()) co_return answer;
  }
}

Task<Result<Reply>> ControlClient::demand(std::string line) {
  const std::string command = line.substr(0, line.find(' '));
  auto answer = co_await ask(std::move(line));
  if (answer && !answer->is_completion())
    co_return fail(Errc::stream_refused, fmt::format("{} at the {}", command, name_),
                   fmt::format("{} {}", answer->code, answer->text()));
  co_return answer;
}

Endpoint ControlClient::local() const {
  boost::system::error_code error;
  return bridge::from_asio(socket_.local_endpoint(error));
}

Endpoint ControlClient::peer() const {
  boost::system::error_code error;
  return bridge::from_asio(socket_.remote_endpoint(error));
}

void ControlClient::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace udtcat::gridftp
