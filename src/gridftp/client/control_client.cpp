// SPDX-License-Identifier: Apache-2.0
#include "gridftp/client/control_client.hpp"

#include <utility>

#include <fmt/format.h>
#include <udtcat/bridges.hpp>

#include "gridftp/dialogue/url.hpp"
#include "lib/bridge/asio_conversions.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

Task<Result<std::unique_ptr<ControlClient>>> ControlClient::connect(boost::asio::io_context& io, HostPort server,
                                                                    std::chrono::milliseconds timeout) {
  const std::string name = fmt::format("ftp server {}:{}", server.host, server.port);
  UDTCAT_CO_TRY(const auto addresses, co_await look_up(io, server, timeout));
  UDTCAT_CO_TRY(auto socket, co_await connect_tcp(io, addresses, timeout, "connect to the " + name));
  boost::system::error_code gone;  // then the first read says so
  const Endpoint local = bridge::from_asio(socket.local_endpoint(gone));
  const Endpoint peer = bridge::from_asio(socket.remote_endpoint(gone));
  auto stream = std::make_shared<StreamIo>(make_tcp_stream(std::move(socket)));
  co_return co_await begin(std::make_unique<ControlConnection>(io, std::move(stream), local, peer), name, timeout);
}

Task<Result<std::unique_ptr<ControlClient>>> ControlClient::begin(std::unique_ptr<ControlConnection> control,
                                                                  std::string name, std::chrono::milliseconds timeout) {
  std::unique_ptr<ControlClient> client(new ControlClient(std::move(control), std::move(name), timeout));
  UDTCAT_CO_TRY(const auto greeting, co_await client->reply());
  if (!greeting.is_completion())
    co_return fail(Errc::stream_refused, "begin with the " + client->name(),
                   fmt::format("{} {}", greeting.code, greeting.text()));
  co_return client;
}

Task<Status> ControlClient::send(std::string line) {
  // An argument with a line end would be two commands.
  if (!can_be_said(line))
    co_return fail(Errc::bad_argument, core::printable(line, core::kShownBytes),
                   "FTP has no way to say a line end, a zero byte or 0xFF");
  core::log().debug("{}: > {}", name_, core::printable(line, core::kShownBytes));
  co_return co_await control_->write(line + "\r\n", timeout_);
}

Task<Result<Reply>> ControlClient::reply(ControlConnection::Moved moved,
                                         std::optional<std::chrono::milliseconds> timeout) {
  for (;;) {
    UDTCAT_CO_TRY(auto reply, reader_.next());
    if (reply) {
      core::log().debug("{}: < {} {}", name_, reply->code, reply->text());
      co_return std::move(*reply);
    }
    const auto heard = co_await control_->read(timeout.value_or(timeout_), moved);
    if (!heard) co_return fail(heard.error().code, "hear the " + name_, heard.error().cause);
    reader_.push(*heard);
  }
}

Task<Result<Reply>> ControlClient::ask(std::string line, std::optional<std::chrono::milliseconds> timeout) {
  UDTCAT_CO_CHECK(co_await send(std::move(line)));
  for (;;) {
    auto answer = co_await reply({}, timeout);
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

}  // namespace udtcat::gridftp
