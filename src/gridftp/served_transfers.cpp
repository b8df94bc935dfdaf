#include "gridftp/served_transfers.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "core/log.hpp"
#include "core/printable.hpp"
#include "gridftp/block_source.hpp"
#include "gridftp/data_port.hpp"
#include "gridftp/outcome.hpp"
#include "gridftp/remote_server.hpp"
#include "gridftp/statement.hpp"
#include "gridftp/transfer_markers.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMostSourceBytes = 100;  // spec: docs/spec/gridftp.md §5
// guess: that we make for one client, over all addresses; a block of memory each
constexpr std::size_t kMostConnections = 64;

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

/// The text of a listing, as a source of blocks.
class TextSource final : public BlockSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  Task<Result<std::optional<ByteRange>>> next(std::span<std::byte> into) override {
    const ByteRange block{given_, std::min<std::uint64_t>(text_.size(), given_ + into.size())};
    if (block.bytes() == 0) co_return std::nullopt;
    std::ranges::copy(std::as_bytes(std::span(text_)).subspan(block.begin, block.bytes()), into.begin());
    given_ = block.end;
    co_return block;
  }

 private:
  const std::string text_;
  std::uint64_t given_ = 0;
};

/// An address in figures, of the protocol that EPRT names.  spec: RFC 2428 §2
std::optional<Endpoint> extended_port(const std::string& protocol, const std::string& address, std::uint16_t port) {
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(port);
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  // SAFETY: a sockaddr_in and a sockaddr_in6 are what is said of them.
  if (protocol == "1" && ::inet_pton(AF_INET, address.c_str(), &ipv4.sin_addr) == 1)
    return Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&ipv4), sizeof ipv4).value_or(Endpoint());
  if (protocol == "2" && ::inet_pton(AF_INET6, address.c_str(), &ipv6.sin6_addr) == 1)
    return Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&ipv6), sizeof ipv6).value_or(Endpoint());
  return std::nullopt;
}

}  // namespace

ServedTransfers::ServedTransfers(boost::asio::io_context& io, ServedRoot root, ServeOptions options, Endpoint local,
                                 Say say)
    : io_(io),
      root_(std::move(root)),
      options_(std::move(options)),
      local_(local.with_port(0)),
      say_(std::move(say)),
      path_(io, make_tcp_stack(io)) {
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

Reply ServedTransfers::listen(bool striped) {
  if (local_.family() != AddressFamily::ipv4) return make_reply(522, "PASV is for IPv4 only: EPSV.");
  const auto ports = path_.listen(local_);
  if (!ports) return failure(ports.error());
  const std::string port = to_data_port(ports->front());
  if (!striped) return make_reply(227, fmt::format("Entering Passive Mode ({})", port));
  Reply answer;
  answer.code = 229;
  answer.lines = {"Entering Striped Passive Mode", ' ' + port, "End"};
  return answer;
}

Reply ServedTransfers::listen_extended(const std::string& protocol) {
  const bool fits = protocol.empty() || protocol == "ALL" ||
                    (protocol == "1" && local_.family() == AddressFamily::ipv4) ||
                    (protocol == "2" && local_.family() == AddressFamily::ipv6);
  if (!fits) return make_reply(522, "That is not the protocol of this connection.");
  const auto ports = path_.listen(local_);
  if (!ports) return failure(ports.error());
  return make_reply(229, fmt::format("Entering Extended Passive Mode (|||{}|)", ports->front().port()));
}

Reply ServedTransfers::aim(const std::string& ports) {
  std::vector<Endpoint> at;
  std::string_view rest = ports;
  while (!rest.empty()) {
    const auto blank = rest.find(' ');
    const auto port = parse_data_port(rest.substr(0, blank));
    if (!port || at.size() >= kMostConnections) return make_reply(501, "A port is written h1,h2,h3,h4,p1,p2.");
    at.push_back(*port);
    rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
  }
  if (at.empty()) return make_reply(501, "Which port?");
  path_.aim(std::move(at));
  return make_reply(200, "Noted.");
}

/// spec: RFC 2428 §2: |1|192.0.2.1|9000|
Reply ServedTransfers::aim_extended(const std::string& port) {
  const Reply wrong = make_reply(501, "A port is written |1|address|port|.");
  if (port.size() < 2) return wrong;
  std::vector<std::string> words;
  for (std::size_t at = 1; at < port.size();) {
    const auto end = port.find(port.front(), at);
    if (end == std::string::npos) return wrong;
    words.push_back(port.substr(at, end - at));
    at = end + 1;
  }
  if (words.size() != 3) return wrong;
  const auto number = number_at_start(words[2]);
  if (!number || *number == 0 || *number > 65'535) return wrong;
  const auto target = extended_port(words[0], words[1], static_cast<std::uint16_t>(*number));
  if (!target) return wrong;
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

Task<Status> ServedTransfers::announce(const std::string& path) {
  cancelled_ = over_;
  busy_ = true;
  const Reply begun = path_.has_kept() ? make_reply(125, "Data connections are there: " + path)
                                       : make_reply(150, "Opening data connections: " + path);
  auto said = co_await say_(begun);
  if (said && cancelled_) said = tl::unexpected(*cancelled_);
  busy_ = said.has_value();
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

Task<Status> ServedTransfers::send(SendRequest request) {
  request.sent = [this](std::size_t bytes) { sent_bytes_ += bytes; };
  if (blocks_) {
    const std::size_t each = std::max<std::size_t>(1, kMostConnections / std::max<std::size_t>(1, path_.addresses()));
    co_return co_await path_.send(std::min(parallelism_, each), std::move(request));
  }
  const auto connection = co_await path_.single();
  if (!connection) co_return tl::unexpected(connection.error());
  co_return co_await path_.alone(*connection, send_stream_mode(**connection, request));
}

Task<Reply> ServedTransfers::retrieve(std::string path, std::optional<ByteRange> part) {
  const ByteRanges left_out = std::exchange(restart_, {});
  allocated_.reset();
  auto descriptor = root_.open_to_read(path);
  if (!descriptor) co_return failure(descriptor.error());
  auto file = BlockStore::of(std::move(*descriptor), path);
  if (!file) co_return failure(file.error());
  const auto size = file->size();
  if (!size && !part) co_return make_reply(550, path + ": it has no size; ERET takes a part of it.");
  ByteRange range = part.value_or(ByteRange{0, size.value_or(0)});
  if (size && range.begin > *size) co_return make_reply(554, fmt::format("{} has {} bytes.", path, *size));
  if (size) range.end = std::min(range.end, *size);
  if (auto cannot = cannot_move(DataPath::Stance::active)) co_return *cannot;
  SendRequest request;
  request.offset_on_wire = part ? part->begin : 0;
  std::vector<ByteRange> wanted;  // what is left out is counted as on the wire
  for (const ByteRange& missing : left_out.missing_from({0, range.bytes()}))
    wanted.push_back({missing.begin + range.begin, missing.end + range.begin});
  request.source = std::make_shared<FileSource>(std::move(*file), std::move(wanted));
  if (auto begun = co_await announce(path); !begun) co_return failure(begun.error());
  const std::uint64_t before = sent_bytes_;
  TransferMarkers markers(io_, say_, [this, before] { return sent_bytes_ - before; }, {});
  auto sent = co_await send(std::move(request));
  const Statement done{Statement::Deed::sent, part ? part->begin : 0, sent_bytes_ - before,
                       size.value_or(kUnknownFileBytes), path};
  if (sent) sent = co_await path_.state(done);
  co_await markers.stop();
  busy_ = false;
  if (!blocks_) path_.close();
  co_return sent ? make_reply(226, "Everything has been sent.") : failure(sent.error());
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

Result<ServedTransfers::Incoming> ServedTransfers::open_incoming(const std::string& path,
                                                                 std::optional<std::uint64_t> at, Wanted wanted) {
  Incoming incoming;
  incoming.have = std::move(wanted.restart);
  if (at && !incoming.have.empty())
    return fail(Errc::stream_refused, "write a part of " + path, "REST goes with a whole file only: ESTO the rest");
  if (wanted.allocated) incoming.expected = ByteRange{0, *wanted.allocated};
  const auto place = root_.place_of(path);
  if (!place) return tl::unexpected(place.error());
  auto store = at ? BlockStore::open_in_place(*place) : BlockStore::open_to_write(*place);
  if (!store) return tl::unexpected(std::move(store.error()));
  std::optional<RestartJournal> journal;
  if (!at && store->size()) {
    journal = journal_of(*place, path, wanted.source);
    const ByteRanges there = believed(*journal, *place);
    for (const ByteRange& range : incoming.have.ranges())
      if (!there.contains(range))
        return fail(Errc::stream_refused, "go on with " + path,
                    fmt::format("bytes {} to {} are not here: begin anew", range.begin, range.end));
  }
  incoming.sink = std::make_shared<FileSink>(std::move(*store), incoming.have, std::move(journal), at.value_or(0));
  return incoming;
}

Reply ServedTransfers::name_source(const std::string& source) {
  if (source.empty() || source.size() > kMostSourceBytes || core::printable(source, kMostSourceBytes) != source)
    return make_reply(501, "A source is named by a line of at most 100 characters.");
  source_ = source;
  return make_reply(200, "Noted.");
}

Reply ServedTransfers::what_is_here(const std::string& path) const {
  const auto place = root_.place_of(path);
  if (!place) return failure(place.error());
  return make_reply(250, "Range Marker " + believed(journal_of(*place, path, source_), *place).to_text());
}

Task<Status> ServedTransfers::take_in(const Incoming& incoming) {
  const auto sink = std::make_shared<CountingSink>(
      incoming.sink, [received = received_bytes_](std::size_t bytes) { *received += bytes; });
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
  const auto incoming = open_incoming(path, at, std::move(wanted));
  if (!incoming) co_return failure(incoming.error());
  if (auto begun = co_await announce(path); !begun) {
    incoming->sink->set_aside();
    co_return failure(begun.error());
  }
  const std::uint64_t before = *received_bytes_;
  TransferMarkers markers(
      io_, say_, [this, before] { return *received_bytes_ - before; },
      [sink = incoming->sink] { return sink->safe(); });
  auto taken = co_await take_in(*incoming);
  co_await markers.stop();
  if (taken) taken = incoming->sink->publish();
  const Statement done{at ? Statement::Deed::stored : Statement::Deed::published, at.value_or(0),
                       *received_bytes_ - before, at ? kUnknownFileBytes : incoming->sink->end(), path};
  if (taken) std::ignore = co_await path_.state(done);  // the file is there, whether or not somebody hears so
  busy_ = false;
  if (!blocks_) path_.close();
  if (taken) co_return make_reply(226, "Everything is here.");
  incoming->sink->set_aside();
  core::log().info("{}", core::printable(taken.error().message(), 500));
  co_return failure(taken.error());
}

Task<Reply> ServedTransfers::list(std::string path, ListingForm form) {
  restart_ = {};
  allocated_.reset();
  auto all = root_.list(path);
  if (!all && form != ListingForm::facts) {  // of a file, that file
    const auto facts = root_.facts_of(path);
    if (facts) all = std::vector<FileFacts>(1, *facts);
  }
  if (!all) co_return failure(all.error());
  if (auto cannot = cannot_move(DataPath::Stance::active)) co_return *cannot;
  SendRequest request;
  request.source = std::make_shared<TextSource>(listing_text(*all, form, options_.read_only));
  if (auto begun = co_await announce(path); !begun) co_return failure(begun.error());
  const auto sent = co_await send(std::move(request));
  busy_ = false;
  if (!blocks_) path_.close();
  co_return sent ? make_reply(226, "That is the list.") : failure(sent.error());
}

}  // namespace udtcat::gridftp
