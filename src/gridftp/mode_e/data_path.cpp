// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/data_path.hpp"

#include <array>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>

#include "gridftp/mode_e/block_header.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::chrono::minutes kGoodbyeTimeout{10};  // guess: bytes sent before it may be on their way for long

/// Closes a kept connection with an EOD | CLOSE block, so that the end does not look like a break; after
/// kGoodbyeTimeout without it.
void finish(boost::asio::io_context& io, const std::shared_ptr<StreamIo>& connection) {
  boost::asio::co_spawn(
      io,
      [&io, connection]() -> Task<void> {
        boost::asio::steady_timer late(io, kGoodbyeTimeout);
        late.async_wait([still = std::weak_ptr(connection)](const boost::system::error_code& in_time) {
          if (const auto lingers = still.lock(); lingers && !in_time) lingers->abort();
        });
        BlockHeader header;
        header.descriptor = BlockHeader::kClose;
        const auto bytes = encode(header);
        if (co_await connection->write(bytes))
          std::ignore = co_await connection->finish();  // the transfer is over already
      },
      rethrow);
}

}  // namespace

void DataPath::use(std::shared_ptr<DataStack> stack) {
  close();
  stack_ = std::move(stack);
}

Result<std::vector<Endpoint>> DataPath::listen(const Endpoint& local, std::size_t count,
                                               std::optional<Endpoint> only_from) {
  close();
  Passive passive{{}, std::move(only_from)};
  std::vector<Endpoint> locals;
  for (std::size_t address = 0; address < count; ++address) {
    UDTCAT_TRY(auto listener,
               stack_->listen(
                   local, lifetime_.guard([this, address](std::shared_ptr<StreamIo> connection, const Endpoint& peer) {
                     on_connection({std::move(connection), address}, peer);
                   })));
    locals.push_back(listener->local());
    passive.listeners.push_back(std::move(listener));
  }
  role_ = std::move(passive);
  return locals;
}

void DataPath::aim(std::vector<Endpoint> at, std::optional<Endpoint> otherwise) {
  close();
  role_ = Active{std::move(at), otherwise};
}

std::size_t DataPath::addresses() const {
  if (const auto* active = std::get_if<Active>(&role_)) return active->targets.size();
  const auto* passive = std::get_if<Passive>(&role_);
  return passive != nullptr ? passive->listeners.size() : 0;
}

void DataPath::close() {
  if (kept_to_send_)
    for (const DataConnection& connection : kept_) finish(io_, connection.io);
  lifetime_.end();
  kept_.clear();
  role_ = {};
  transfer_ = {};
  peer_states_ = false;
}

void DataPath::on_connection(DataConnection connection, const Endpoint& peer) {
  core::log().debug("a data connection from {}", peer.to_string());
  auto& [listeners, only_from, early, refused] = std::get<Passive>(role_);
  if (only_from && only_from->with_port(0) != peer.with_port(0))
    return core::log().warn("data from {} dropped: they are awaited from {}", peer.to_string(),
                            only_from->host_to_string());
  auto slot = take_slot();
  if (!slot) return refuse(std::move(slot.error()));
  connection.io->attach(std::move(*slot), moved_bytes_);
  peer_states_ = peer_states_ || peer_statements(*connection.io) == Statements::made;
  if (auto* receiving = std::get_if<Receiver>(&transfer_)) return (*receiving)->take(std::move(connection));
  if (early.size() >= kMaxEarly)
    return core::log().warn("data from {} dropped: too many connections", peer.to_string());
  early.push_back(std::move(connection));
  came_.notify();
}

/// Fails the transfer: a part of the file may have been on that connection.
void DataPath::refuse(Error why) {
  core::log().warn("{}", why.message());
  if (auto* receiving = std::get_if<Receiver>(&transfer_)) return (*receiving)->fail(std::move(why));
  std::get<Passive>(role_).refused = std::move(why);
  came_.notify();
}

Task<Status> DataPath::receive(IncomingFile file, std::shared_ptr<BlockSink> sink) {
  cancelled_.reset();
  FileReceiver& receiver =
      *transfer_.emplace<Receiver>(std::make_unique<FileReceiver>(io_, std::move(file), std::move(sink)));
  if (!kept_to_send_)
    for (DataConnection& connection : std::exchange(kept_, {})) receiver.take(std::move(connection));
  if (auto* passive = std::get_if<Passive>(&role_)) {
    for (DataConnection& connection : std::exchange(passive->early, {})) receiver.take(std::move(connection));
    if (auto refused = std::exchange(passive->refused, {})) receiver.fail(std::move(*refused));
  }
  auto status = co_await receiver.result();
  kept_to_send_ = false;
  if (status) kept_ = receiver.release();
  arrived_ = receiver.file().arrived();
  received_bytes_ = receiver.received_bytes();
  transfer_ = {};  // and with it the sink: the next transfer may write the same file
  co_return status;
}

/// Connects to the named host or to `otherwise`: a server behind a NAT may name an address of its own network. A
/// connection that is made after cancel() is closed at once.
Task<Result<std::shared_ptr<StreamIo>>> DataPath::connect(Endpoint target, std::optional<Endpoint> otherwise) {
  UDTCAT_CO_TRY(auto slot, take_slot());
  std::vector<Endpoint> to(1, target);
  if (otherwise && otherwise->with_port(target.port()) != target) to.push_back(otherwise->with_port(target.port()));
  const auto connect = [](std::shared_ptr<DataStack> stack,
                          std::vector<Endpoint> first_of) -> Task<Result<std::shared_ptr<StreamIo>>> {
    co_return co_await stack->connect(std::move(first_of));
  };
  const auto dialled = start(io_, connect(stack_, std::move(to)),
                             Error{Errc::connection_broken, "connect to " + target.to_string(),
                                   "the session for it was broken off meanwhile"});
  dialled_ = dialled;
  auto made = co_await dialled->get();
  if (made) (*made)->attach(std::move(slot), moved_bytes_);
  co_return made;
}

/// Connects in rounds, so that each address has a connection where there are fewer slots than asked for.
Task<Result<std::vector<DataConnection>>> DataPath::connections(std::size_t parallelism) {
  if (kept_to_send_ && !kept_.empty()) co_return std::exchange(kept_, {});
  std::vector<DataConnection> made;
  if (role() != Role::active) co_return made;
  const Active at = std::get<Active>(role_);
  for (std::size_t round = 0; round < parallelism; ++round)
    for (std::size_t address = 0; address < at.targets.size(); ++address) {
      auto connection = co_await connect(at.targets[address], at.otherwise);
      if (!connection && round > 0 && connection.error().code == Errc::out_of_resources) co_return made;
      if (!connection) co_return tl::unexpected(std::move(connection.error()));
      if (cancelled_) co_return tl::unexpected(*cancelled_);
      peer_states_ = peer_states_ || peer_statements(**connection) == Statements::made;
      made.push_back({std::move(*connection), address});
    }
  co_return made;
}

Task<Status> DataPath::send(std::size_t parallelism, SendRequest request) {
  cancelled_.reset();
  UDTCAT_CO_TRY(auto over, co_await connections(parallelism));
  if (cancelled_) co_return tl::unexpected(*cancelled_);
  FileSender& sender = *transfer_.emplace<Sender>(std::make_unique<FileSender>(io_, over, std::move(request)));
  auto status = co_await sender.result();
  kept_to_send_ = true;
  if (status) kept_ = std::move(over);
  transfer_ = {};
  co_return status;
}

Task<Result<std::shared_ptr<StreamIo>>> DataPath::single() {
  cancelled_.reset();
  if (const auto* active = std::get_if<Active>(&role_)) {
    auto made = co_await connect(active->targets.front(), active->otherwise);
    if (made && cancelled_) co_return tl::unexpected(*cancelled_);
    co_return made;
  }
  auto& [listeners, only_from, early, refused] = std::get<Passive>(role_);
  while (early.empty() && !cancelled_ && !refused) co_await came_.wait();
  if (cancelled_) co_return tl::unexpected(*cancelled_);
  if (early.empty()) co_return tl::unexpected(*std::exchange(refused, {}));
  auto connection = std::move(early.front().io);
  early.pop_front();
  co_return connection;
}

Task<Status> DataPath::alone(std::shared_ptr<StreamIo> over, Task<Status> moving) {
  transfer_ = over;
  const auto moved =
      start(io_, std::move(moving), {Errc::connection_broken, "transfer a file", "its connection was broken off"});
  auto status = co_await moved->get();
  transfer_ = {};
  if (!status && cancelled_) co_return tl::unexpected(*cancelled_);
  co_return status;
}

Task<Status> DataPath::send_statement(Statement done) {
  const auto message = encode(done);
  const auto to = kept_;
  for (const DataConnection& each : to) {
    if (peer_statements(*each.io) != Statements::wanted) continue;
    UDTCAT_CO_CHECK(co_await alone(each.io, each.io->write(message)));
  }
  co_return Status{};
}

namespace {

Task<Status> read_statement(StreamIo& from, Statement& into) {
  std::array<std::byte, kStatementPrefixBytes> prefix{};
  UDTCAT_CO_TRY(const auto begun, co_await from.read(prefix));
  UDTCAT_CO_TRY(const auto bytes, begun < prefix.size() ? Result<std::size_t>(0) : statement_body_bytes(prefix));
  std::vector<std::byte> body(bytes);
  UDTCAT_CO_TRY(const auto read, co_await from.read(body));
  if (body.empty() || read < body.size())
    co_return udtcat::fail(Errc::connection_broken, "read the statement of " + from.name(), "it hung up");
  UDTCAT_CO_TRY(auto statement, decode_statement_body(body));
  into = std::move(statement);
  co_return Status{};
}

}  // namespace

Task<Result<Statement>> DataPath::receive_statement(std::chrono::milliseconds timeout) {
  boost::asio::steady_timer late(io_, timeout);
  late.async_wait(lifetime_.guard([this](const boost::system::error_code& in_time) {
    if (!in_time) cancel({Errc::peer_lost, "await the server's statement", "none came in its session"});
  }));
  std::optional<Statement> first;
  const auto from = kept_;
  for (const DataConnection& each : from) {
    Statement statement;
    if (peer_statements(*each.io) != Statements::made)
      co_return udtcat::fail(Errc::protocol_violated, "read the server's statement",
                             "data came from two different servers");
    UDTCAT_CO_CHECK(co_await alone(each.io, read_statement(*each.io, statement)));
    if (first && *first != statement)
      co_return udtcat::fail(Errc::protocol_violated, "read the server's statement",
                             "it makes different ones on two connections");
    first = std::move(statement);
  }
  if (!first)
    co_return udtcat::fail(Errc::protocol_violated, "read the server's statement",
                           "it kept no connection to make it on");
  co_return std::move(*first);
}

void DataPath::cancel(const Error& why) {
  cancelled_ = why;
  came_.notify();
  if (auto* receiving = std::get_if<Receiver>(&transfer_)) (*receiving)->fail(why);
  if (auto* sending = std::get_if<Sender>(&transfer_)) (*sending)->fail(why);
  if (auto* alone = std::get_if<std::shared_ptr<StreamIo>>(&transfer_)) (*alone)->abort();
  if (const auto dialled = dialled_.lock()) dialled->fail(why);
}

}  // namespace udtcat::gridftp
