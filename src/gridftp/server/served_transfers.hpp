/// A server's side of a client's transfers: what it has asked for so far, and the files it sends and takes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/coroutine/silence_watch.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/dialogue/reply.hpp"
#include "gridftp/files/byte_ranges.hpp"
#include "gridftp/mode_e/block_sink.hpp"
#include "gridftp/mode_e/data_path.hpp"
#include "gridftp/server/listing.hpp"
#include "gridftp/server/serve_options.hpp"

namespace udtcat::gridftp {

/// Of a control connection.
struct ControlEnds {
  Endpoint local;
  Endpoint peer;
};

/// Each command gives the reply to it. Paths are the peer's, from the root.
/// Threads: confined to the io_context thread; one call at a time, but for cancel() and moved_bytes().
class ServedTransfers {
 public:
  /// Tells the client something before the reply.
  using Say = std::function<Task<Status>(Reply)>;

  ServedTransfers(boost::asio::io_context& io, std::shared_ptr<Service> service, const Share& share, ControlEnds ends,
                  Say say);

  // What the data run over.  spec: docs/spec/gridftp.md §7
  [[nodiscard]] Reply set_mode(const std::string& mode);
  [[nodiscard]] Reply set_parallelism(const std::string& options);
  [[nodiscard]] Reply set_stack(const std::string& stack);
  [[nodiscard]] Reply set_authentication(const std::string& mode);
  [[nodiscard]] Reply set_protection(const std::string& level);

  // Where they go.  spec: docs/spec/gridftp.md §3
  [[nodiscard]] Reply listen(bool striped);
  [[nodiscard]] Reply listen_extended(const std::string& protocol);
  [[nodiscard]] Reply aim(const std::string& ports);
  [[nodiscard]] Reply aim_extended(const std::string& port);

  // What of them is meant.  spec: docs/spec/gridftp.md §5
  [[nodiscard]] Reply restart_at(const std::string& ranges);
  [[nodiscard]] Reply allocate(const std::string& bytes);

  /// Which file the next upload comes from: any line that differs where the file does.
  [[nodiscard]] Reply name_source(const std::string& source);
  /// What of a file that has not come whole a client may leave out.
  [[nodiscard]] Task<Reply> what_is_here(std::string path) const;

  [[nodiscard]] Task<Reply> retrieve(std::string path, std::optional<ByteRange> part);
  /// at   of the file that is there, in place; none: a new file
  [[nodiscard]] Task<Reply> store(std::string path, std::optional<std::uint64_t> at);
  [[nodiscard]] Task<Reply> list(std::string path, ListingForm form);

  /// The transfer under way ends.
  void cancel(const Error& why);
  /// And there will be no other.
  void end(const Error& why);
  [[nodiscard]] bool is_busy() const { return busy_; }
  [[nodiscard]] std::uint64_t moved_bytes() const { return sent_bytes_ + *received_bytes_; }
  [[nodiscard]] const ServedRoot& root() const { return service_->root; }

 private:
  struct Wanted;
  struct Incoming;
  class Busy;
  [[nodiscard]] Reply change_stack();
  [[nodiscard]] std::optional<Reply> cannot_move(DataPath::Stance needed) const;
  [[nodiscard]] std::optional<Reply> cannot_aim(const Endpoint& target) const;
  [[nodiscard]] Result<std::vector<Endpoint>> open_ports();
  [[nodiscard]] Result<Incoming> open_incoming(const std::string& path, std::optional<std::uint64_t> at,
                                               const Wanted& wanted) const;
  /// While it lives, what the peer does not let move for too long is broken off.
  [[nodiscard]] SilenceWatch watch(std::function<bool()> waits_for_disk);
  [[nodiscard]] Task<Status> take_in(const Incoming& incoming);
  [[nodiscard]] Task<Status> send(SendRequest request);
  /// Says that the transfer begins.  errors: it does not, as somebody has cancelled it by now
  [[nodiscard]] Task<Status> announce(const std::string& path);

  boost::asio::io_context& io_;
  const std::shared_ptr<Service> service_;
  const ServedRoot& root_ = service_->root;
  const ServeOptions& options_ = service_->options;
  const Share share_;
  const ControlEnds ends_;
  const Say say_;
  DataKind kind_ = DataKind::tcp;
  bool authenticated_ = true;  // DCAU A: where the stack can prove anything
  Protection level_ = Protection::private_;
  bool blocks_ = false;  // MODE E
  std::size_t parallelism_ = 1;
  ByteRanges restart_;                      // for the next transfer
  std::optional<std::uint64_t> allocated_;  // for the next transfer
  std::string source_;                      // of the next upload
  bool promised_ = false;                   // protection was asked for and agreed to
  bool proved_ = false;                     // who brings data has the key
  bool busy_ = false;
  std::optional<Error> cancelled_;  // the transfer under way
  std::optional<Error> over_;       // all that might follow
  std::uint64_t sent_bytes_ = 0;
  const std::shared_ptr<std::uint64_t> received_bytes_ = std::make_shared<std::uint64_t>(0);
  DataPath path_;
};

}  // namespace udtcat::gridftp
