// SPDX-License-Identifier: Apache-2.0
#include "gridftp/client/remote_server.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>

#include "gridftp/dialogue/control_connection.hpp"
#include "gridftp/dialogue/data_port.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/applications.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMaxModeEFailures = 3;  // guess: more are no chance
constexpr int kRangeMarker = 111;             // spec: docs/spec/gridftp.md §5

tl::unexpected<Error> refused(const std::string& doing, const Reply& reply) {
  return fail(Errc::stream_refused, doing, fmt::format("{} {}", reply.code, reply.text()));
}

/// "Range Marker 0-4096,8192-12288".
std::optional<files::ByteRanges> ranges_of(const Reply& reply) {
  constexpr std::string_view kBegin = "Range Marker";
  const std::string_view line = reply.lines.front();
  if (!line.starts_with(kBegin)) return std::nullopt;
  auto ranges = files::ByteRanges::parse(line.substr(kBegin.size()));
  if (!ranges) return std::nullopt;
  return std::move(*ranges);
}

/// spec: docs/spec/gridftp.md §7
const char* prot_level(Protection protection) {
  switch (protection) {
    case Protection::private_:
      return "P";
    case Protection::safe:
      return "S";
    case Protection::auth:
    case Protection::clear:
      break;
  }
  return "C";
}

/// The control connection of udtcat://: the first stream of a session.
Task<Result<std::unique_ptr<ControlClient>>> connect_sealed(boost::asio::io_context& io, DataStack& stack,
                                                            HostPort server, std::chrono::milliseconds timeout) {
  const std::string name = fmt::format("server {}:{}", server.host, server.port);
  UDTCAT_CO_TRY(auto addresses, co_await look_up(io, server, timeout));
  UDTCAT_CO_TRY(auto stream, co_await stack.connect(std::move(addresses)));
  const Endpoint address = stream->peer_address();
  auto control = std::make_unique<ControlConnection>(io, std::move(stream), local_address_towards(address), address);
  co_return co_await ControlClient::begin(std::move(control), name, timeout);
}

}  // namespace

Task<Result<std::unique_ptr<RemoteServer>>> RemoteServer::log_in(boost::asio::io_context& io, FtpUrl url,
                                                                 TransferOptions options) {
  DataOptions sealed = options.data;
  sealed.kind = DataKind::session;
  sealed.session.application = tool::kGridftp;
  sealed.stats = nullptr;  // options.data.stats counts data connections only
  const auto control_stack = url.sealed ? make_stack(io, sealed) : nullptr;
  Result<std::unique_ptr<ControlClient>> control;
  if (url.sealed)
    control = co_await connect_sealed(io, *control_stack, url.server, options.timeout);
  else
    control = co_await ControlClient::connect(io, url.server, options.timeout);
  if (!control) co_return tl::unexpected(std::move(control.error()));
  std::unique_ptr<RemoteServer> server(new RemoteServer(io, std::move(*control), std::move(url), std::move(options)));
  server->control_stack_ = control_stack;
  UDTCAT_CO_CHECK(co_await server->agree());
  co_return server;
}

Task<Status> ensure_logged_in(boost::asio::io_context& io, std::unique_ptr<RemoteServer>& server, FtpUrl url,
                              TransferOptions options) {
  if (server && server->serves(url)) co_return Status{};
  UDTCAT_CO_TRY(auto logged_in, co_await RemoteServer::log_in(io, std::move(url), std::move(options)));
  server = std::move(logged_in);
  co_return Status{};
}

Task<Status> RemoteServer::agree() {
  auto answer = co_await control_->ask("USER " + url_.user);
  if (answer && answer->is_intermediate()) answer = co_await control_->ask("PASS udtcat@");
  if (!answer) co_return tl::unexpected(std::move(answer.error()));
  if (answer->code / 100 == 4) co_return refused("log in at the " + control_->name(), *answer);
  if (!answer->is_completion())
    co_return fail(Errc::authentication_failed, fmt::format("log in as {} at the {}", url_.user, control_->name()),
                   answer->text());
  UDTCAT_CO_CHECK(co_await control_->demand("TYPE I"));
  co_return co_await use_mode_e();
}

Task<Status> RemoteServer::use_mode_e() {
  if (mode_e_ != ModeE::untried && mode_e_ != ModeE::off) co_return Status{};
  UDTCAT_CO_TRY(const auto answer, co_await control_->ask("MODE E"));
  if (answer.is_completion()) {
    const bool has_agreed = std::exchange(mode_e_, ModeE::on) == ModeE::off;
    if (!has_agreed) UDTCAT_CO_CHECK(co_await agree_on_data());
    co_return Status{};
  }
  const auto refusal = refused("MODE E at the " + control_->name(), answer);
  if (options_.data.kind != DataKind::tcp) co_return refusal;
  if (answer.code / 100 == 4) {  // spec: RFC 959 §4.2.1: the next time it may
    mode_e_failed(refusal.value(), false);
  } else {
    mode_e_ = ModeE::absent;
    core::log().info("the {} does not speak MODE E: one connection", control_->name());
  }
  co_return Status{};
}

Task<Status> RemoteServer::use_mode_s() {
  if (mode_e_ != ModeE::on) co_return Status{};
  mode_e_ = ModeE::off;
  UDTCAT_CO_CHECK(co_await control_->demand("MODE S"));
  co_return Status{};
}

void RemoteServer::mode_e_failed(const Error& why, bool for_good) {
  mode_e_failure_ = why;
  const bool is_first = mode_e_failures_++ == 0;
  const std::string what = core::printable(why.message(), core::kShownBytes);
  if (for_good || mode_e_failures_ >= kMaxModeEFailures) mode_e_ = ModeE::given_up;
  if (mode_e_ == ModeE::given_up)
    core::log().info("{}: on one connection that we make, from now on", what);
  else if (is_first)
    core::log().warn("{}: this file on one connection that we make, the next one in MODE E again", what);
}

Status RemoteServer::mode_e_refusal() const {
  if (in_mode_e() || !has_mode_e()) return {};
  return tl::unexpected(mode_e_failure_);
}

Task<Status> RemoteServer::agree_on_data() {
  if (options_.data.kind != DataKind::tcp) UDTCAT_CO_CHECK(co_await agree_on_stack());
  UDTCAT_CO_CHECK(co_await control_->demand(fmt::format("OPTS RETR Parallelism={0},{0},{0};", options_.parallelism)));
  co_return Status{};
}

Task<Status> RemoteServer::agree_on_stack() {
  const bool session = options_.data.kind == DataKind::session;
  const std::string set_stack = session ? "SITE SETNETSTACK udtcat" : "SITE SETNETSTACK udt";
  UDTCAT_CO_CHECK(co_await control_->demand(set_stack));
  // DCAU N turns Globus' own security off, which this client does not have; a refusal means that it is off.
  const bool proves = session && options_.data.session.protection != Protection::clear;
  const std::string set_dcau = proves ? "DCAU A" : "DCAU N";
  UDTCAT_CO_CHECK(co_await control_->ask(set_dcau));
  if (!session) co_return Status{};
  // A refusal does not weaken protection: the sessions agree on one level, or fail.
  UDTCAT_CO_CHECK(co_await control_->ask("PBSZ 1048576"));
  UDTCAT_CO_CHECK(co_await control_->ask(std::string("PROT ") + prot_level(options_.data.session.protection)));
  co_return Status{};
}

bool RemoteServer::serves(const FtpUrl& url) const {
  return url.sealed == url_.sealed && url.user == url_.user && url.server.host == url_.server.host &&
         url.server.port == url_.server.port;
}

Task<Result<std::optional<std::uint64_t>>> RemoteServer::size_of(std::string path) {
  UDTCAT_CO_TRY(const auto answer, co_await control_->ask("SIZE " + path));
  if (!answer.is_completion()) co_return std::nullopt;
  const std::string text = answer.text();
  const auto size = core::parse_number<std::uint64_t>(text);
  if (!size || *size > IncomingFile::kMaxBytes)
    co_return fail(Errc::protocol_violated, "read the size of " + path, text);
  co_return size;
}

Task<Result<RemoteServer::FileVersion>> RemoteServer::version_of(std::string path) {
  UDTCAT_CO_TRY(const auto size, co_await size_of(path));
  UDTCAT_CO_TRY(const auto changed, co_await control_->ask("MDTM " + path));
  co_return FileVersion{size, changed.is_completion() ? changed.text() : std::string()};
}

Task<Status> RemoteServer::announce_ports(std::size_t stripes) {
  const bool striped = stripes > 0;
  UDTCAT_CO_TRY(auto ports, path_.listen(control_->local().with_port(0), striped ? stripes : 1));
  if (options_.data_address && options_.data_address->family() == control_->local().family())
    for (Endpoint& port : ports) port = options_.data_address->with_port(port.port());
  UDTCAT_CO_TRY(const std::string command, port_command(ports, striped));
  UDTCAT_CO_CHECK(co_await control_->demand(command));
  co_return Status{};
}

std::string retrieve_command(const std::string& path, const std::optional<files::ByteRange>& range) {
  return range ? fmt::format("ERET P {} {} {}", range->begin, range->bytes(), path) : "RETR " + path;
}

std::string store_command(const std::string& path, const std::optional<files::ByteRange>& range) {
  return range ? fmt::format("ESTO A {} {}", range->begin, path) : "STOR " + path;
}

Task<Result<std::vector<Endpoint>>> RemoteServer::ask_ports(bool striped) {
  bool extended = control_->peer().family() == AddressFamily::ipv6;
  if (extended && striped)
    co_return fail(Errc::bad_argument, "ask the " + control_->name() + " for ports of IPv6",
                   "FTP has no command for several: without --stripes, or by an IPv4 address");
  const std::string command = extended ? "EPSV" : striped ? "SPAS" : "PASV";
  auto reply = co_await control_->demand(command);
  if (!reply && !extended && !striped && reply.error().cause.starts_with("50")) {  // it may have the other one
    extended = true;
    if (auto other = co_await control_->demand("EPSV"); other) reply = std::move(other);
  }
  if (!reply) co_return tl::unexpected(std::move(reply.error()));
  if (striped) co_return striped_passive_ports(*reply);
  UDTCAT_CO_TRY(const auto port, extended ? extended_passive_port(*reply, control_->peer()) : passive_port(*reply));
  co_return std::vector<Endpoint>(1, port);
}

Task<Status> RemoteServer::aim_at_ports(bool striped) {
  UDTCAT_CO_TRY(auto ports, co_await ask_ports(striped));
  for (Endpoint& port : ports) {
    UDTCAT_CO_TRY(port, reachable_port(port, control_->peer()));
  }
  path_.aim(std::move(ports), striped ? std::nullopt : std::optional(control_->peer()));
  co_return Status{};
}

Task<Result<std::optional<files::ByteRanges>>> RemoteServer::received_ranges(std::string path, std::string source) {
  if (!keeps_journals_) co_return std::nullopt;
  UDTCAT_CO_TRY(const auto named, co_await control_->ask("SITE UPLOAD " + source));
  keeps_journals_ = named.is_completion();
  if (!keeps_journals_) co_return std::nullopt;
  UDTCAT_CO_TRY(const auto answer, co_await control_->ask("SITE HAVE " + path));
  if (!answer.is_completion()) co_return std::nullopt;
  co_return ranges_of(answer);
}

Task<Status> RemoteServer::send_restart(const files::ByteRanges& have) {
  may_restart_ = !have.empty();
  if (have.empty()) co_return Status{};
  const std::string what =
      in_mode_e() ? have.to_text() : std::to_string(have.contiguous_from(0));  // in stream mode, an offset
  UDTCAT_CO_TRY(const auto answer, co_await control_->ask("REST " + what));
  if (!answer.is_intermediate()) co_return refused("go on with a file at the " + control_->name(), answer);
  co_return Status{};
}

Task<Status> RemoteServer::begin(std::string command, ControlConnection::Moved moved, MarkerHandler markers,
                                 std::shared_ptr<Promise<Status>> done) {
  end_timer_.cancel();  // of the last transfer
  const bool lists = command.starts_with("MLSD");
  const auto begin_timeout = lists ? options_.timeout : options_.begin_timeout;
  const std::string doing = fmt::format("{} at the {}", core::printable(command, core::kShownBytes), control_->name());
  UDTCAT_CO_CHECK(co_await control_->send(std::move(command)));
  auto end = lifetime_.guard([this, moved](const Status& outcome, std::string said) {
    last_words_ = std::move(said);
    end_timer_.cancel();  // await_last_reply()'s, which would close a connection that has answered
    if (!outcome) return path_.cancel(outcome.error());
    expect_data_to_move(moved);
  });
  boost::asio::co_spawn(
      io_,
      [control = control_, moved = std::move(moved), markers = std::move(markers), done, doing, end = std::move(end),
       begin_timeout]() mutable -> Task<void> {
        Status outcome;
        auto reply = co_await control->reply(moved, begin_timeout);
        for (; reply && reply->is_preliminary(); reply = co_await control->reply(moved)) {
          const auto ranges = ranges_of(*reply);
          if (ranges && reply->code == kRangeMarker) markers(*ranges);
        }
        if (!reply) outcome = tl::unexpected(reply.error());
        if (reply && !reply->is_completion()) outcome = refused(doing, *reply);
        end(outcome, reply ? reply->text() : std::string());
        done->set(std::move(outcome));
      },
      rethrow);
  co_return Status{};
}

/// After the final reply the data that are still on their way move, or will never come.
void RemoteServer::expect_data_to_move(ControlConnection::Moved moved) {
  const std::uint64_t before = moved();
  end_timer_.expires_after(options_.timeout);
  end_timer_.async_wait(lifetime_.guard([this, moved, before](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    if (moved() != before) return expect_data_to_move(moved);
    path_.cancel({Errc::peer_lost, "finish a transfer with the " + control_->name(),
                  "it has replied that the transfer is complete, and the data do not come to their end"});
  }));
}

Task<Status> RemoteServer::prove(StatementRequest asked, std::string doing, bool whole) {
  UDTCAT_CO_TRY(const auto statement, co_await path_.receive_statement(options_.timeout));
  if (!whole)
    co_return fail(Errc::connection_broken, std::move(doing),
                   "an earlier transfer moved a part of it, which is unproved: once more, from the beginning");
  co_return compare(asked, statement);
}

void RemoteServer::await_last_reply() {
  constexpr std::chrono::seconds kLastReply{3};  // guess: a round trip, and the time to close a file
  end_timer_.expires_after(kLastReply);
  end_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) control_->close();
  }));
}

void RemoteServer::close_if_fails(std::shared_ptr<Promise<Status>> other) {
  boost::asio::co_spawn(
      io_,
      [control = control_, other]() -> Task<void> {
        if (const Status ended = co_await other->get(); !ended) control->close();
      },
      rethrow);
}

bool RemoteServer::forget_transfer() {
  path_.close();
  return !may_restart_ && control_->is_open();
}

Task<void> RemoteServer::quit() {
  path_.close();
  await_last_reply();
  std::ignore = co_await control_->ask("QUIT");  // every file is where it belongs already
  end_timer_.cancel();
}

}  // namespace udtcat::gridftp
