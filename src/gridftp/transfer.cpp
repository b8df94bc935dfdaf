#include "gridftp/transfer.hpp"

#include <charconv>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <udtcat/bridges.hpp>

#include "bridge/asio_terms.hpp"
#include "bridge/tcp_acceptor.hpp"
#include "core/log.hpp"
#include "gridftp/control_client.hpp"
#include "gridftp/data_port.hpp"
#include "gridftp/promise.hpp"
#include "gridftp/receiver.hpp"
#include "gridftp/sender.hpp"

namespace udtcat::gridftp {

using boost::asio::ip::tcp;

namespace {

using Client = std::unique_ptr<ControlClient>;

/// Up to the point where every server speaks MODE E of bytes.
Task<Result<Client>> log_in(boost::asio::io_context& io, FtpUrl url, std::chrono::milliseconds patience) {
  auto client = co_await ControlClient::connect(io, url.server, patience);
  if (!client) co_return client;
  auto answer = co_await (*client)->ask("USER " + url.user);
  if (answer && answer->is_intermediate()) answer = co_await (*client)->ask("PASS udtcat@");
  if (!answer) co_return tl::unexpected(std::move(answer.error()));
  if (!answer->is_completion())
    co_return fail(Errc::authentication_failed, fmt::format("log in as {} at {}", url.user, url.server.host),
                   answer->text());
  for (const char* command : {"TYPE I", "MODE E"})
    if (auto done = co_await (*client)->demand(command); !done) co_return tl::unexpected(std::move(done.error()));
  co_return client;
}

/// None where the server does not know, as of a device.
Task<Result<std::optional<std::uint64_t>>> remote_size(ControlClient& client, std::string path) {
  const auto answer = co_await client.ask("SIZE " + path);
  if (!answer) co_return tl::unexpected(answer.error());
  if (!answer->is_completion()) co_return std::nullopt;
  std::uint64_t size = 0;
  const std::string text = answer->text();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || end != text.data() + text.size() || size > IncomingFile::kMostBytes)
    co_return fail(Errc::protocol_violated, "read the size of " + path, text);
  co_return size;
}

/// Replies up to the last one of a transfer, whose outcome it is.
Task<Result<Reply>> outcome_of_transfer(ControlClient& client, std::function<std::uint64_t()> moved) {
  for (;;) {
    auto reply = co_await client.reply(moved);
    if (!reply) co_return reply;
    if (reply->is_preliminary()) continue;
    if (!reply->is_completion())
      co_return fail(Errc::stream_refused, "transfer a file", fmt::format("{} {}", reply->code, reply->text()));
    co_return reply;
  }
}

/// A listening port that hands its connections to a receiver: those of the control connection's peer.
Result<std::unique_ptr<bridge::TcpAcceptor>> accept_data(boost::asio::io_context& io, const ControlClient& client,
                                                         Receiver& receiver) {
  const Endpoint local = client.local().with_port(0);
  auto bound = bridge::TcpAcceptor::bind(io, local);
  if (!bound) return fail(Errc::cannot_bind, "listen for data on " + local.host_to_string(), bound.error().message());
  return std::make_unique<bridge::TcpAcceptor>(
      std::move(*bound),
      [&receiver, expected = client.peer().host_to_string()](tcp::socket socket) {
        boost::system::error_code error;
        const Endpoint peer = bridge::from_asio(socket.remote_endpoint(error));
        if (peer.host_to_string() == expected) return receiver.take(make_tcp_stream(std::move(socket)));
        core::log().info("a data connection of {} was not asked for", peer.to_string());
      },
      [](const Endpoint& at, std::error_code error) { core::log().warn("{}: {}", at.to_string(), error.message()); });
}

Task<Result<std::vector<std::unique_ptr<StreamIo>>>> connect_data(boost::asio::io_context& io, Endpoint to,
                                                                  std::size_t count) {
  std::vector<std::unique_ptr<StreamIo>> connections;
  while (connections.size() < count) {
    tcp::socket socket(io);
    boost::system::error_code error;
    co_await socket.async_connect(bridge::to_asio(to), into(error));
    if (error)
      co_return fail(Errc::cannot_reach, "connect to tcp " + to.to_string() + " for data",
                     bridge::cause_of(bridge::from_asio(error)));
    connections.push_back(std::make_unique<StreamIo>(make_tcp_stream(std::move(socket))));
  }
  co_return connections;
}

std::string parallelism_command(std::size_t count) { return fmt::format("OPTS RETR Parallelism={0},{0},{0};", count); }

/// What to do when the control connection and the data connections have both had their say: the server's reason counts more.
Status judge(const Result<Reply>& said, const Status& moved) {
  if (!said && said.error().code == Errc::stream_refused) return tl::unexpected(said.error());
  if (!moved) return moved;
  if (!said) return tl::unexpected(said.error());
  return {};
}

Task<Result<TransferOutcome>> download(boost::asio::io_context& io, FtpUrl from, std::string to,
                                       TransferOptions options) {
  auto logged_in = co_await log_in(io, from, options.patience);
  if (!logged_in) co_return tl::unexpected(std::move(logged_in.error()));
  ControlClient& client = **logged_in;
  const auto size = co_await remote_size(client, from.path);
  if (!size) co_return tl::unexpected(size.error());
  std::optional<ByteRange> expected;
  if (options.range)
    expected = ByteRange{0, options.range->bytes()};
  else if (*size)
    expected = ByteRange{0, **size};
  if (options.range && *size && options.range->end > **size)
    co_return fail(Errc::bad_argument,
                   fmt::format("get bytes {} to {} of {}", options.range->begin, options.range->end, from.path),
                   fmt::format("it has {}", **size));
  std::optional<BlockStore> file;
  const auto opened = [&file, &to]() -> Status {
    if (file) return {};
    return BlockStore::open_to_write(to).map([&file](BlockStore&& made) { file.emplace(std::move(made)); });
  };
  Receiver receiver(io, expected, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    return opened().and_then([&] { return file->write_at(offset, bytes); });
  });
  if (auto done = co_await client.demand(parallelism_command(options.parallelism)); !done)
    co_return tl::unexpected(std::move(done.error()));
  const auto acceptor = accept_data(io, client, receiver);
  if (!acceptor) co_return tl::unexpected(acceptor.error());
  const Endpoint local = (*acceptor)->local_endpoint();
  if (local.family() != AddressFamily::ipv4)
    co_return fail(Errc::bad_argument, "get " + from.to_string(), "MODE E servers take IPv4 only");
  if (auto done = co_await client.demand("PORT " + to_data_port(local)); !done)
    co_return tl::unexpected(std::move(done.error()));
  const std::string command =
      options.range ? fmt::format("ERET P {} {} {}", options.range->begin, options.range->bytes(), from.path)
                    : "RETR " + from.path;
  if (auto sent = co_await client.send(command); !sent) co_return tl::unexpected(std::move(sent.error()));

  const std::function<std::uint64_t()> progress = [&receiver] { return receiver.received_bytes(); };
  const auto said = std::make_shared<Promise<Result<Reply>>>(io);
  boost::asio::co_spawn(
      io,
      [said, &client, &receiver, progress]() -> Task<void> {
        auto outcome = co_await outcome_of_transfer(client, progress);
        if (!outcome) receiver.fail(outcome.error());
        said->set(std::move(outcome));
      },
      boost::asio::detached);
  const Status moved = co_await receiver.result();
  if (!moved && !said->is_set()) client.close();
  const auto reply = co_await said->get();
  if (auto judged = judge(reply, moved); !judged) co_return tl::unexpected(std::move(judged.error()));
  const auto& arrived = receiver.file().arrived();
  auto published = opened().and_then([&] { return file->publish(arrived.empty() ? 0 : arrived.ranges().back().end); });
  if (!published) co_return tl::unexpected(std::move(published.error()));
  std::ignore = co_await client.ask("QUIT");  // politeness; the file is here
  co_return TransferOutcome{.bytes = receiver.received_bytes()};
}

Task<Result<TransferOutcome>> upload(boost::asio::io_context& io, const BlockStore& from, FtpUrl to,
                                     TransferOptions options) {
  const auto size = from.size();
  if (!size) co_return fail(Errc::bad_argument, "put " + to.to_string(), "what is put has to be a file");
  const ByteRange range = options.range.value_or(ByteRange{0, *size});
  if (range.end > *size)
    co_return fail(Errc::bad_argument, "put " + to.to_string(), fmt::format("the file has {} bytes", *size));
  auto logged_in = co_await log_in(io, to, options.patience);
  if (!logged_in) co_return tl::unexpected(std::move(logged_in.error()));
  ControlClient& client = **logged_in;
  auto passive = co_await client.demand("PASV");
  if (!passive) co_return tl::unexpected(std::move(passive.error()));
  auto port = passive_port(*passive);
  if (!port) co_return tl::unexpected(std::move(port.error()));
  if (auto done = co_await client.ask(fmt::format("ALLO {}", range.bytes())); !done)
    co_return tl::unexpected(done.error());
  const std::string command = options.range ? fmt::format("ESTO A {} {}", range.begin, to.path) : "STOR " + to.path;
  if (auto sent = co_await client.send(command); !sent) co_return tl::unexpected(std::move(sent.error()));
  auto connections = co_await connect_data(io, *port, options.parallelism);
  if (!connections) co_return tl::unexpected(std::move(connections.error()));

  const auto fetched = std::make_shared<std::uint64_t>(0);
  const std::function<std::uint64_t()> progress = [fetched] { return *fetched; };
  const auto said = std::make_shared<Promise<Result<Reply>>>(io);
  boost::asio::co_spawn(
      io, [said, &client, progress]() -> Task<void> { said->set(co_await outcome_of_transfer(client, progress)); },
      boost::asio::detached);
  const auto fetch = [&from, fetched](std::uint64_t offset, std::span<std::byte> bytes) {
    *fetched += bytes.size();
    return from.read_at(offset, bytes);
  };
  SendRequest request{.ranges = {}, .offset_on_wire = range.begin, .block_bytes = options.block_bytes};
  request.ranges.push_back(range);
  const auto sent = co_await send_file(io, *connections, std::move(request), fetch);
  const auto reply = co_await said->get();
  if (auto judged = judge(reply, sent ? Status{} : tl::unexpected(sent.error())); !judged)
    co_return tl::unexpected(std::move(judged.error()));
  std::ignore = co_await client.ask("QUIT");
  co_return TransferOutcome{.bytes = *sent};
}

/// Runs it, and hands its outcome on.
void run(boost::asio::io_context& io, Task<Result<TransferOutcome>> transfer, TransferHandler handler) {
  boost::asio::co_spawn(
      io,
      [transfer = std::move(transfer), handler = std::move(handler)]() mutable -> Task<void> {
        handler(co_await std::move(transfer));
      },
      boost::asio::detached);
}

}  // namespace

void async_download(boost::asio::io_context& io, FtpUrl from, std::string to, TransferOptions options,
                    TransferHandler handler) {
  run(io, download(io, std::move(from), std::move(to), options), std::move(handler));
}

void async_upload(boost::asio::io_context& io, const BlockStore& from, FtpUrl to, TransferOptions options,
                  TransferHandler handler) {
  run(io, upload(io, from, std::move(to), options), std::move(handler));
}

}  // namespace udtcat::gridftp
