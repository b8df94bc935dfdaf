// SPDX-License-Identifier: Apache-2.0
/// The data connections of one control connection: the ports of either side, and connections that are kept for the next
/// file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/data_stack.hpp"
#include "gridftp/mode_e/file_receiver.hpp"
#include "gridftp/mode_e/file_sender.hpp"
#include "gridftp/mode_e/statement.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::gridftp {

/// Each end of a control connection has one; one is passive, the other active.
///
///   none ── listen() ──► passive ── aim() ──► active ── listen() ──► passive   a new role ends the connections before
///
/// In MODE E the sender is active. A connection whose data have ended is kept; the next file in the same direction
/// takes it again.
/// Threads: confined to the io_context thread; one transfer at a time.
class DataPath {
 public:
  enum class Role { none, passive, active };    // the order of role_
  static constexpr std::size_t kMaxEarly = 64;  // guess: as many connections as a peer may be told to make

  /// A slot for one connection more, which has it as long as it lives.
  using SlotSource = std::function<Result<std::shared_ptr<void>>()>;

  /// slots   none: there is always a slot
  DataPath(boost::asio::io_context& io, std::shared_ptr<DataStack> stack, SlotSource slots = {})
      : io_(io), stack_(std::move(stack)), slots_(std::move(slots)), came_(io) {}
  /// Ends everything, and says so to the peer where it waits for more.
  ~DataPath() { close(); }
  DataPath(const DataPath&) = delete;
  DataPath& operator=(const DataPath&) = delete;

  /// Replaces the stack, and ends the connections of the one before.
  void use(std::shared_ptr<DataStack> stack);
  /// Ports of ours, where the peer's connections come.  errors: those of DataStack::listen()
  /// only_from   the one host that may bring any, whatever its port; none: every host
  [[nodiscard]] Result<std::vector<Endpoint>> listen(const Endpoint& local, std::size_t count = 1,
                                                     std::optional<Endpoint> only_from = {});
  /// The peer's ports, which we connect to when there is something to send.
  /// otherwise   a host with the same ports, which is raced with each of `at`, that begins
  void aim(std::vector<Endpoint> at, std::optional<Endpoint> otherwise = {});
  void close();

  [[nodiscard]] Role role() const { return static_cast<Role>(role_.index()); }
  /// Connections are kept from the last file: no new ones will be made.
  [[nodiscard]] bool has_kept() const { return !kept_.empty(); }
  /// Ports of ours or of theirs, each of which has an EOF of its own.
  [[nodiscard]] std::size_t addresses() const;

  /// In MODE E; passive. `file` counts as many addresses as we have.
  /// errors: those of FileReceiver::result(); that of a connection that had no slot
  [[nodiscard]] Task<Status> receive(IncomingFile file, std::shared_ptr<BlockSink> sink);
  /// In MODE E; active. Makes `parallelism` connections to each address where none are kept, or as many as have slots.
  /// errors: those of FileSender::result() and DataStack::connect(); that of having no slot for one to each address
  [[nodiscard]] Task<Status> send(std::size_t parallelism, SendRequest request);
  /// In stream mode, in either role: the one connection, which is made or awaited.
  /// errors: those of DataStack::connect(), that of cancel(), that of having no slot
  [[nodiscard]] Task<Result<std::shared_ptr<StreamIo>>> single();
  /// Runs `moving` on that connection, so that cancel() can end it.  errors: those of `moving`, that of cancel()
  [[nodiscard]] Task<Status> alone(std::shared_ptr<StreamIo> over, Task<Status> moving);
  /// Sends the statement on each kept connection whose peer wants it.  errors: Errc::connection_broken, that of
  /// cancel()
  [[nodiscard]] Task<Status> send_statement(Statement done);
  /// A peer on these connections has said, inside its session, that it makes statements.
  [[nodiscard]] bool peer_states() const { return peer_states_; }
  /// The statement of such a peer, after a transfer with it.
  /// errors: Errc::protocol_violated, Errc::connection_broken, Errc::peer_lost after `timeout`
  [[nodiscard]] Task<Result<Statement>> receive_statement(std::chrono::milliseconds timeout);
  /// The transfer that is under way, if any, ends with `why`.
  void cancel(const Error& why);

  /// By all connections, either way, headers too.
  [[nodiscard]] std::uint64_t moved_bytes() const { return *moved_bytes_; }
  /// Of the transfer under way, or the last: what has come, and how many bytes of it since it began.
  [[nodiscard]] files::ByteRanges arrived() const { return receiver() ? receiver()->file().arrived() : arrived_; }
  [[nodiscard]] std::uint64_t received_bytes() const {
    return receiver() ? receiver()->received_bytes() : received_bytes_;
  }

 private:
  struct Passive {
    std::vector<std::unique_ptr<DataListener>> listeners;
    std::optional<Endpoint> only_from;
    std::deque<DataConnection> early{};  // came before receive() or single(); beyond kMaxEarly they are dropped
    std::optional<Error> refused{};      // why a connection was refused that the next transfer would have needed
  };
  struct Active {
    std::vector<Endpoint> targets;
    std::optional<Endpoint> otherwise;
  };
  using Receiver = std::unique_ptr<FileReceiver>;
  using Sender = std::unique_ptr<FileSender>;

  [[nodiscard]] const FileReceiver* receiver() const {
    const auto* receiving = std::get_if<Receiver>(&transfer_);
    return receiving != nullptr ? receiving->get() : nullptr;
  }
  [[nodiscard]] Result<std::shared_ptr<void>> take_slot() const { return slots_ ? slots_() : std::shared_ptr<void>(); }
  [[nodiscard]] Task<Result<std::shared_ptr<StreamIo>>> connect(Endpoint target, std::optional<Endpoint> otherwise);
  void refuse(Error why);
  void on_connection(DataConnection connection, const Endpoint& peer);
  [[nodiscard]] Task<Result<std::vector<DataConnection>>> connections(std::size_t parallelism);

  boost::asio::io_context& io_;
  std::shared_ptr<DataStack> stack_;
  const SlotSource slots_;
  const std::shared_ptr<std::uint64_t> moved_bytes_ = std::make_shared<std::uint64_t>(0);
  std::variant<std::monostate, Passive, Active> role_;
  std::vector<DataConnection> kept_;
  bool kept_to_send_ = false;  // kept_ carried data from us
  bool peer_states_ = false;
  std::variant<std::monostate, Receiver, Sender, std::shared_ptr<StreamIo>> transfer_;  // under way
  files::ByteRanges arrived_;                                                           // by the last transfer
  std::uint64_t received_bytes_ = 0;
  std::optional<Error> cancelled_;                                     // while a transfer waits for its connections
  std::weak_ptr<Promise<Result<std::shared_ptr<StreamIo>>>> dialled_;  // the connection that is being made
  AsyncCondition came_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
