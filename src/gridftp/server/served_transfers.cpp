#include "gridftp/server/served_transfers.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "gridftp/client/outcome.hpp"
#include "gridftp/client/remote_server.hpp"
#include "gridftp/dialogue/data_port.hpp"
#include "gridftp/dialogue/statement.hpp"
#include "gridftp/files/disk_threads.hpp"
#include "gridftp/mode_e/block_source.hpp"
#include "gridftp/server/listing_source.hpp"
#include "gridftp/server/transfer_markers.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMostSourceBytes = 100;        // spec: docs/spec/gridftp.md §5
constexpr std::size_t kMostConnections = 64;         // guess: that we make for one client, over all addresses
constexpr std::size_t kMostBlockBytes = 16'777'216;  // guess: on them: 1 MiB each on 16, as much as Globus' has on 64

/// spec: RFC 959 §4.2.2
Reply failure(const Error& error) {
  switch (error.code) {
    case Errc::local_read_failed:
    case Errc::stream_refused:
      return make_reply(550, error.message());
    case Errc::local_write_failed:
      return make_reply(553, error.message());
    case Errc::out_of_resources:  // of a client that has just gone, perhaps
      return make_reply(450, error.message());
    case Errc::cannot_reach:
    case Errc::cannot_bind:
      return make_reply(425, error.message());
    case Errc::authentication_failed:  // the next time too
    case Errc::parameters_refused:
      return make_reply(535, error.message());
    default:
      return make_reply(426, error.message());
  }
}

/// Of a transfer that has begun.  spec: RFC 959 §4.2.2: 550 would say that the file is not to be had at all
Reply broken_off(const Error& error) {
  if (error.code == Errc::local_read_failed) return make_reply(451, error.message());
  return error.code == Errc::out_of_resources ? make_reply(425, error.message()) : failure(error);
}

/// Of what clients bring.  source   as SITE UPLOAD named it: what another file of the same name had is not what this one has
RestartJournal journal_of(const FilePlace& place, const std::string& path, const std::string& source) {
  return {place.with_suffix(".part.have"), fmt::format("upload of {} from {}", path, source.empty() ? "-" : source)};
}

/// What a journal says, as far as it can be true of the file it stands beside.
ByteRanges believed(const RestartJournal& journal, const FilePlace& place) {
  auto have = journal.load().value_or(ByteRanges());
  const auto size = place.with_suffix(".part").size();
  if (!have.empty() && size.value_or(0) < have.ranges().back().end) return {};
  return have;
}

std::optional<std::uint64_t> number_at_start(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > IncomingFile::kMostBytes) return std::nullopt;
  return number;
}

}  // namespace

ServedTransfers::ServedTransfers(boost::asio::io_context& io, std::shared_ptr<Service> service, const Share& share,
                                 ControlEnds ends, Say say)
    : io_(io),
      service_(std::move(service)),
      share_(share),
      ends_{ends.local.with_port(0), ends.peer.with_port(0)},
      say_(std::move(say)),
      path_(io, make_tcp_stack(io, options_.data.connect_patience),
            [this] { return service_->data_places.take(ends_.peer, share_.data_connections); }) {
  level_ = options_.data.session.protection;
}

// ---- What the data run over ----------------------------------------------------------------------------------------

Reply ServedTransfers::set_mode(const std::string& mode) {
  if (mode != "E" && mode != "S" && mode != "e" && mode != "s") return make_reply(504, "The modes are E and S.");
  const bool blocks = mode == "E" || mode == "e";
  if (blocks != blocks_) path_.close();
  blocks_ = blocks;
  return make_reply(200, blocks ? "Mode E: blocks, on several connections." : "Mode S: a stream.");
}

/// "Parallelism=4,4,4;": where to begin, the least, the most. The first counts, as with Globus.
Reply ServedTransfers::set_parallelism(const std::string& options) {
  constexpr std::string_view kName = "parallelism=";
  std::string small = options;
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto at = small.find(kName);
  if (at == std::string::npos)
    return make_reply(200, "Noted.");  // stripe layouts and the like, which change nothing here
  const auto count = number_at_start(std::string_view(small).substr(at + kName.size()));
  if (!count || *count == 0) return make_reply(501, "Parallelism takes a number above 0.");
  parallelism_ = std::min<std::size_t>(*count, kMostConnections);
  path_.close();
  return make_reply(200, fmt::format("Parallelism {}.", parallelism_));
}

Reply ServedTransfers::change_stack() {
  DataOptions data = options_.data;
  data.kind = kind_;
  data.session.protection = level_;
  if (kind_ == DataKind::session && !authenticated_ && level_ <= Protection::auth)
    data.session.protection = Protection::clear;
  const Protection offered = kind_ == DataKind::session ? data.session.protection : Protection::clear;
  if (offered < options_.least)
    return make_reply(
        536, fmt::format("Data have to be {} here: SITE SETNETSTACK udtcat, DCAU A, PROT.", to_string(options_.least)));
  if (kind_ == DataKind::session && data.session.protection != Protection::clear && !data.key)
    return make_reply(534, "This server has no key: nothing can be proved or protected.");
  proved_ = kind_ == DataKind::session && data.session.protection != Protection::clear;
  if (data.session.protection == Protection::clear) data.key = nullptr;
  path_.use(make_stack(io_, data));
  return make_reply(200, fmt::format("Data are {}.", to_string(offered)));
}

/// "udtcat", "udt,gsi", "tcp:opt=value": from the bottom up.
Reply ServedTransfers::set_stack(const std::string& stack) {
  const std::string name = stack.substr(0, stack.find_first_of(":,"));
  if (name != "tcp" && name != "udt" && name != "udtcat") return make_reply(501, "The stacks are tcp, udt and udtcat.");
  if (stack.find(",gsi") != std::string::npos && authenticated_)
    return make_reply(534, "There is no GSI here: DCAU N first, or no gsi.");
  if (name != "udtcat" && promised_)
    return make_reply(536, "Protected data were asked for, and " + name + " has none: DCAU N and PROT C first.");
  const DataKind before = std::exchange(kind_, name == "tcp"   ? DataKind::tcp
                                               : name == "udt" ? DataKind::udt
                                                               : DataKind::session);
  Reply answer = change_stack();
  if (answer.code != 200) kind_ = before;
  return answer;
}

Reply ServedTransfers::set_authentication(const std::string& mode) {
  if (mode != "A" && mode != "N") return make_reply(504, "DCAU is A or N here.");
  if (mode == "A" && kind_ != DataKind::session)
    return make_reply(534, "Nothing can be proved over tcp or udt: SITE SETNETSTACK udtcat, or DCAU N.");
  if (mode == "A" && !options_.data.key) return make_reply(534, "This server has no key: nothing can be proved.");
  if (mode == "A") level_ = std::max(level_, Protection::auth);
  const bool before = std::exchange(authenticated_, mode == "A");
  Reply answer = kind_ == DataKind::session ? change_stack() : make_reply(200, "DCAU N.");
  if (answer.code != 200)
    authenticated_ = before;
  else
    promised_ = authenticated_ || (promised_ && level_ > Protection::auth);
  return answer;
}

Reply ServedTransfers::set_protection(const std::string& level) {
  if (level != "C" && level != "S" && level != "P") return make_reply(536, "The levels are C, S and P.");
  if (kind_ != DataKind::session)
    return level == "C" ? make_reply(200, "Data are clear.")
                        : make_reply(536, "Nothing can be protected over tcp or udt: SITE SETNETSTACK udtcat first.");
  const Protection before = std::exchange(level_, level == "P"   ? Protection::private_
                                                  : level == "S" ? Protection::safe
                                                                 : Protection::auth);
  Reply answer = change_stack();
  if (answer.code != 200) level_ = before;
  promised_ = promised_ || (answer.code == 200 && level_ > Protection::auth);
  if (level == "C" && !authenticated_) promised_ = false;
  return answer;
}

// ---- Where they go -------------------------------------------------------------------------------------------------

/// A peer that proves the key may come from anywhere.
Result<std::vector<Endpoint>> ServedTransfers::open_ports() {
  return path_.listen(ends_.local, 1, options_.third_party || proved_ ? std::nullopt : std::optional(ends_.peer));
}

Reply ServedTransfers::listen(bool striped) {
  if (ends_.local.family() != AddressFamily::ipv4) return make_reply(522, "PASV is for IPv4 only: EPSV.");
  const auto ports = open_ports();
  if (!ports) return failure(ports.error());
  const std::string port = to_data_port(ports->front());
  if (!striped) return make_reply(227, fmt::format("Entering Passive Mode ({})", port));
  Reply answer;
  answer.code = 229;
  answer.lines = {"Entering Striped Passive Mode", ' ' + port, "End"};
  return answer;
}

Reply ServedTransfers::listen_extended(const std::string& protocol) {
  const AddressFamily family = ends_.local.family();
  const bool fits = protocol.empty() || protocol == "ALL" || (protocol == "1" && family == AddressFamily::ipv4) ||
                    (protocol == "2" && family == AddressFamily::ipv6);
  if (!fits) return make_reply(522, "That is not the protocol of this connection.");
  const auto ports = open_ports();
  if (!ports) return failure(ports.error());
  return make_reply(229, fmt::format("Entering Extended Passive Mode (|||{}|)", ports->front().port()));
}

/// spec: RFC 2577 §3
std::optional<Reply> ServedTransfers::cannot_aim(const Endpoint& target) const {
  if (!options_.third_party && target.with_port(0) != ends_.peer)
    return make_reply(504, fmt::format("Data go to {} only, where you are: a transfer between two servers needs "
                                       "--third-party here.",
                                       ends_.peer.host_to_string()));
  if (const auto allowed = may_connect(target, ends_.peer); !allowed) return make_reply(504, allowed.error().message());
  return std::nullopt;
}

Reply ServedTransfers::aim(const std::string& ports) {
  std::vector<Endpoint> at;
  std::string_view rest = ports;
  while (!rest.empty()) {
    const auto blank = rest.find(' ');
    const auto port = parse_data_port(rest.substr(0, blank));
    if (!port || at.size() >= kMostConnections) return make_reply(501, "A port is written h1,h2,h3,h4,p1,p2.");
    if (auto cannot = cannot_aim(*port)) return *cannot;
    at.push_back(*port);
    rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
  }
  if (at.empty()) return make_reply(501, "Which port?");
  path_.aim(std::move(at));
  return make_reply(200, "Noted.");
}

Reply ServedTransfers::aim_extended(const std::string& port) {
  const auto target = parse_extended_port(port);
  if (!target) return make_reply(501, "A port is written |1|address|port|.");
  if (auto cannot = cannot_aim(*target)) return *cannot;
  path_.aim(std::vector<Endpoint>(1, *target));
  return make_reply(200, "Noted.");
}

// ---- What of them is meant -----------------------------------------------------------------------------------------

Reply ServedTransfers::restart_at(const std::string& ranges) {
  if (ranges.find('-') != std::string::npos) {
    auto parsed = ByteRanges::parse(ranges);
    if (!parsed) return make_reply(501, parsed.error().message());
    restart_ = std::move(*parsed);
  } else {
    const auto offset = number_at_start(ranges);
    if (!offset) return make_reply(501, "REST takes an offset, or ranges as in 0-4096,8192-12288.");
    restart_ = {};
    std::ignore = restart_.add({0, *offset});  // one range always fits
  }
  return make_reply(350, fmt::format("{} bytes will be left out of the next transfer.", restart_.bytes()));
}

Reply ServedTransfers::allocate(const std::string& bytes) {
  allocated_ = number_at_start(bytes);
  return allocated_ ? make_reply(200, "Noted: the file has to have exactly so many.")
                    : make_reply(501, "ALLO takes a number.");
}

// ---- The files -----------------------------------------------------------------------------------------------------

std::optional<Reply> ServedTransfers::cannot_move(DataPath::Stance needed) const {
  if (path_.stance() == DataPath::Stance::none) return make_reply(425, "Where? PASV or PORT first.");
  if (blocks_ && path_.stance() != needed)
    return make_reply(425, needed == DataPath::Stance::active ? "In mode E the sender connects: PORT first."
                                                              : "In mode E the sender connects: PASV first.");
  if (options_.least > Protection::clear && kind_ != DataKind::session)
    return make_reply(536, fmt::format("Data have to be {} here: SITE SETNETSTACK udtcat.", to_string(options_.least)));
  return std::nullopt;
}

/// While it lives a transfer is under way, which may be cancelled.
class ServedTransfers::Busy {
 public:
  explicit Busy(ServedTransfers& transfers) : transfers_(transfers) {
    transfers_.cancelled_ = transfers_.over_;
    transfers_.busy_ = true;
  }
  ~Busy() { transfers_.busy_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  ServedTransfers& transfers_;
};

Task<Status> ServedTransfers::announce(const std::string& path) {
  const Reply begun = path_.has_kept() ? make_reply(125, "Data connections are there: " + path)
                                       : make_reply(150, "Opening data connections: " + path);
  auto said = co_await say_(begun);
  if (said && cancelled_) said = tl::unexpected(*cancelled_);
  co_return said;
}

void ServedTransfers::cancel(const Error& why) {
  cancelled_ = why;
  path_.cancel(why);
}

void ServedTransfers::end(const Error& why) {
  over_ = why;
  cancel(why);
}

SilenceWatch ServedTransfers::watch(std::function<bool()> waits_for_disk) {
  using Count = std::optional<std::uint64_t>;
  const auto moved = [this, waits = std::move(waits_for_disk)] { return waits() ? Count() : path_.moved_bytes(); };
  return {io_, share_.stall_patience, moved, [this] {
            cancel({Errc::peer_lost, "transfer for " + ends_.peer.host_to_string(),
                    fmt::format("nothing has moved for {:g} s",
                                std::chrono::duration<double>(share_.stall_patience).count())});
          }};
}

Task<Status> ServedTransfers::send(SendRequest request) {
  request.sent = [this](std::size_t bytes) { sent_bytes_ += bytes; };
  const auto watching = watch([source = request.source] { return source->is_reading(); });
  if (blocks_) {
    const std::size_t addresses = std::max<std::size_t>(1, path_.addresses());
    const std::size_t each = std::min(parallelism_, std::max<std::size_t>(1, kMostConnections / addresses));
    request.block_bytes = std::min(request.block_bytes, kMostBlockBytes / (each * addresses));
    co_return co_await path_.send(each, std::move(request));
  }
  const auto connection = co_await path_.single();
  if (!connection) co_return tl::unexpected(connection.error());
  co_return co_await path_.alone(*connection, send_stream_mode(**connection, request));
}

Task<Reply> ServedTransfers::retrieve(std::string path, std::optional<ByteRange> part) {
  const ByteRanges left_out = std::exchange(restart_, {});
  allocated_.reset();
  if (auto cannot = cannot_move(DataPath::Stance::active)) co_return *cannot;
  const Busy busy(*this);
  struct Opened {
    BlockStore file;
    std::optional<std::uint64_t> size;
  };
  auto opened = co_await on_disk(io_, [&]() -> Result<Opened> {
    auto descriptor = root_.open_to_read(path);
    if (!descriptor) return tl::unexpected(std::move(descriptor.error()));
    auto file = BlockStore::of(std::move(*descriptor), path);
    if (!file) return tl::unexpected(std::move(file.error()));
    const auto size = file->size();
    return Opened{std::move(*file), size};
  });
  if (!opened) co_return failure(opened.error());
  const auto size = opened->size;
  if (!size && !part) co_return make_reply(550, path + ": it has no size; ERET takes a part of it.");
  ByteRange range = part.value_or(ByteRange{0, size.value_or(0)});
  if (size && range.begin > *size) co_return make_reply(554, fmt::format("{} has {} bytes.", path, *size));
  if (size) range.end = std::min(range.end, *size);
  SendRequest request;
  request.offset_on_wire = part ? part->begin : 0;
  std::vector<ByteRange> wanted;  // what is left out is counted as on the wire
  for (const ByteRange& missing : left_out.missing_from({0, range.bytes()}))
    wanted.push_back({missing.begin + range.begin, missing.end + range.begin});
  request.source = std::make_shared<FileSource>(io_, std::move(opened->file), std::move(wanted));
  if (auto begun = co_await announce(path); !begun) co_return failure(begun.error());
  const std::uint64_t before = sent_bytes_;
  std::optional<TransferMarkers> markers;  // plain FTP clients take the next reply for the last one
  if (blocks_)
    markers.emplace(
        io_, say_, [this, before] { return sent_bytes_ - before; }, nullptr);
  auto sent = co_await send(std::move(request));
  const Statement done{Statement::Deed::sent, part ? part->begin : 0, sent_bytes_ - before,
                       size.value_or(kUnknownFileBytes), path};
  if (sent) sent = co_await path_.state(done);
  if (markers) co_await markers->stop();
  if (!blocks_) path_.close();
  co_return sent ? make_reply(226, "Everything has been sent.") : broken_off(sent.error());
}

/// What REST and ALLO have said of one transfer, whatever becomes of it.
struct ServedTransfers::Wanted {
  ByteRanges restart;
  std::optional<std::uint64_t> allocated;
  std::string source{};
};

struct ServedTransfers::Incoming {
  std::shared_ptr<FileSink> sink;
  ByteRanges have;
  std::optional<ByteRange> expected;
};

/// On a thread for disks.
Result<ServedTransfers::Incoming> ServedTransfers::open_incoming(const std::string& path,
                                                                 std::optional<std::uint64_t> at,
                                                                 const Wanted& wanted) const {
  Incoming incoming;
  incoming.have = wanted.restart;
  if (at && !incoming.have.empty())
    return fail(Errc::stream_refused, "write a part of " + path, "REST goes with a whole file only: ESTO the rest");
  if (wanted.allocated) incoming.expected = ByteRange{0, *wanted.allocated};
  const auto place = root_.place_of(path);
  if (!place) return tl::unexpected(place.error());
  auto store = at ? BlockStore::open_in_place(*place) : BlockStore::open_to_write(*place);
  if (!store) return tl::unexpected(std::move(store.error()));
  std::optional<RestartJournal> journal;
  if (const auto size = store->size(); !at && size) {
    journal = journal_of(*place, path, wanted.source);
    const ByteRanges there = believed(*journal, *place);
    for (const ByteRange& range : incoming.have.ranges()) {
      if (there.contains(range)) continue;
      if (*size == 0) store->discard();  // it is there only because we looked
      return fail(Errc::stream_refused, "go on with " + path,
                  fmt::format("bytes {} to {} are not here: begin anew", range.begin, range.end));
    }
  }
  incoming.sink = std::make_shared<FileSink>(io_, std::move(*store), incoming.have, std::move(journal), at.value_or(0));
  return incoming;
}

Reply ServedTransfers::name_source(const std::string& source) {
  if (source.empty() || source.size() > kMostSourceBytes || core::printable(source, kMostSourceBytes) != source)
    return make_reply(501, "A source is named by a line of at most 100 characters.");
  source_ = source;
  return make_reply(200, "Noted.");
}

Task<Reply> ServedTransfers::what_is_here(std::string path) const {
  if (options_.read_only) co_return make_reply(550, "This server is read-only.");
  const auto have = co_await on_disk(io_, [&]() -> Result<ByteRanges> {
    const auto place = root_.place_of(path);
    if (!place) return tl::unexpected(place.error());
    return believed(journal_of(*place, path, source_), *place);
  });
  co_return have ? make_reply(250, "Range Marker " + have->to_text()) : failure(have.error());
}

Task<Status> ServedTransfers::take_in(const Incoming& incoming) {
  const auto sink = std::make_shared<CountingSink>(
      incoming.sink, [received = received_bytes_](std::size_t bytes) { *received += bytes; });
  const auto watching = watch([file = incoming.sink] { return file->is_storing(); });
  if (blocks_) co_return co_await path_.receive(IncomingFile(incoming.expected, incoming.have), sink);
  const auto connection = co_await path_.single();
  if (!connection) co_return tl::unexpected(connection.error());
  ByteRanges have = incoming.have;
  co_return co_await path_.alone(*connection, receive_stream_mode(**connection, *sink, have, incoming.expected));
}

Task<Reply> ServedTransfers::store(std::string path, std::optional<std::uint64_t> at) {
  Wanted wanted{std::exchange(restart_, {}), std::exchange(allocated_, {}), std::exchange(source_, {})};
  if (options_.read_only) co_return make_reply(550, "This server is read-only.");
  if (auto cannot = cannot_move(DataPath::Stance::passive)) co_return *cannot;
  const Busy busy(*this);
  const auto incoming = co_await on_disk_in_turn(io_, [&] { return open_incoming(path, at, wanted); });
  if (!incoming) co_return failure(incoming.error());
  if (auto begun = co_await announce(path); !begun) {
    co_await incoming->sink->set_aside();
    co_return failure(begun.error());
  }
  const std::uint64_t before = *received_bytes_;
  std::optional<TransferMarkers> markers;  // as in retrieve()
  if (blocks_)
    markers.emplace(
        io_, say_, [this, before] { return *received_bytes_ - before; },
        [sink = incoming->sink] { return sink->safe(); });
  auto taken = co_await take_in(*incoming);
  if (taken) taken = co_await incoming->sink->publish();
  if (!taken) co_await incoming->sink->set_aside();
  const Statement done{at ? Statement::Deed::stored : Statement::Deed::published, at.value_or(0),
                       *received_bytes_ - before, at ? kUnknownFileBytes : incoming->sink->end(), path};
  if (taken) std::ignore = co_await path_.state(done);  // the file is there, whether or not somebody hears so
  if (markers) co_await markers->stop();                // not before: a slow disk is no silence
  if (!blocks_) path_.close();
  if (taken) co_return make_reply(226, "Everything is here.");
  core::log().info("{}", core::printable(taken.error().message(), 500));
  co_return broken_off(taken.error());
}

Task<Reply> ServedTransfers::list(std::string path, ListingForm form) {
  restart_ = {};
  allocated_.reset();
  if (auto cannot = cannot_move(DataPath::Stance::active)) co_return *cannot;
  const Busy busy(*this);
  SendRequest request;
  auto listing = co_await on_disk(io_, [&]() -> Result<std::shared_ptr<BlockSource>> {
    if (auto walk = root_.list(path))
      return std::make_shared<ListingSource>(io_, std::move(*walk), form, options_.read_only);
    else if (const auto facts = root_.facts_of(path); facts && form != ListingForm::facts)  // of a file, that file
      return std::make_shared<ListingSource>(io_, *facts, form, options_.read_only);
    else
      return tl::unexpected(std::move(walk.error()));
  });
  if (!listing) co_return failure(listing.error());
  request.source = std::move(*listing);
  if (auto begun = co_await announce(path); !begun) co_return failure(begun.error());
  const auto sent = co_await send(std::move(request));
  if (!blocks_) path_.close();
  co_return sent ? make_reply(226, "That is the list.") : broken_off(sent.error());
}

}  // namespace udtcat::gridftp
