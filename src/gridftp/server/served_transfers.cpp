// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/served_transfers.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "gridftp/dialogue/listed_entries.hpp"
#include "gridftp/disk/checksum.hpp"
#include "gridftp/disk/disk_threads.hpp"
#include "gridftp/mode_e/block_source.hpp"
#include "gridftp/mode_e/statement.hpp"
#include "gridftp/mode_e/stream_mode.hpp"
#include "gridftp/server/name_pattern.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "tool/run/transfer_event.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMaxSourceBytes = 100;  // spec: docs/spec/gridftp.md §5

/// The reply to a transfer that broke after its 150.  spec: RFC 959 §4.2.2: 550 would say that the file is not to be
/// had at all
Reply broken_off(const Error& error) {
  if (error.code == Errc::local_read_failed) return make_reply(451, error.message());
  return error.code == Errc::out_of_resources ? make_reply(425, error.message()) : to_reply(error);
}

/// The name of an upload in a journal.  source   as SITE UPLOAD named it: another file has another one
std::string identity_of(const std::string& path, const std::string& source) {
  return fmt::format("upload of {} from {}", path, source.empty() ? "-" : source);
}

/// The journal's ranges, or none where FILE.part is too short for them.
files::ByteRanges ranges_on_disk(const RestartJournal& journal, std::optional<std::uint64_t> part_bytes) {
  auto have = journal.load().value_or(files::ByteRanges());
  if (part_bytes.value_or(0) < have.end()) return {};
  return have;
}

}  // namespace

ServedTransfers::ServedTransfers(boost::asio::io_context& io, std::shared_ptr<Service> service, const Quota& quota,
                                 const ControlEnds& ends, ControlCallbacks control)
    : io_(io),
      service_(std::move(service)),
      control_(std::move(control)),
      published_(service_->placed_bytes_left),
      parameters_(io, service_, quota, ends),
      stall_timeout_(quota.stall_timeout),
      is_anonymous_(!ends.has_key),
      client_name_(ends.peer.host_to_string()),
      log_(*service_->events, ends) {}

Status ServedTransfers::enter(const tool::PeerPlace& place) {
  return place_.enter(place, options_.read_only, service_->uses);
}

// ---- REST and ALLO -------------------------------------------------------------------------------------------------

Reply ServedTransfers::restart_at(const std::string& ranges) {
  if (ranges.find('-') != std::string::npos) {
    auto parsed = files::ByteRanges::parse(ranges);
    if (!parsed) return make_reply(501, parsed.error().message());
    restart_ = std::move(*parsed);
  } else {
    const auto offset = read_number(ranges);
    if (!offset) return make_reply(501, "REST takes an offset, or ranges as in 0-4096,8192-12288.");
    restart_ = {};
    std::ignore = restart_.add({0, *offset});  // one range always fits
  }
  return make_reply(350, fmt::format("{} bytes will be left out of the next transfer.", restart_.bytes()));
}

Reply ServedTransfers::allocate(const std::string& bytes) {
  allocated_ = read_number(bytes);
  return allocated_ ? make_reply(200, "The file has to have exactly so many bytes.")
                    : make_reply(501, "ALLO takes a number.");
}

// ---- Transfers ------------------------------------------------------------------------------------------------------

/// A transfer is under way, and may be cancelled, as long as this lives.
class ServedTransfers::BusyGuard {
 public:
  explicit BusyGuard(ServedTransfers& transfers) : transfers_(transfers) {
    transfers_.cancelled_ = transfers_.over_;
    transfers_.busy_ = true;
  }
  ~BusyGuard() { transfers_.busy_ = false; }
  BusyGuard(const BusyGuard&) = delete;
  BusyGuard& operator=(const BusyGuard&) = delete;

 private:
  ServedTransfers& transfers_;
};

Task<Status> ServedTransfers::announce(const std::string& path) {
  const Reply begun = path_.has_kept() ? make_reply(125, "Data connections are there: " + path)
                                       : make_reply(150, "Opening data connections: " + path);
  UDTCAT_CO_CHECK(co_await control_.send_reply(begun));
  if (cancelled_) co_return tl::unexpected(*cancelled_);
  co_return Status{};
}

void ServedTransfers::cancel(const Error& why) {
  cancelled_ = why;
  path_.cancel(why);
}

void ServedTransfers::end(const Error& why) {
  over_ = why;
  cancel(why);
}

StallTimer ServedTransfers::stall_timer(std::function<bool()> waits_for_disk) {
  using Count = std::optional<std::uint64_t>;
  const auto moved = [this, waits = std::move(waits_for_disk)] { return waits() ? Count() : path_.moved_bytes(); };
  return {
      io_, stall_timeout_, moved, [this] {
        cancel({Errc::peer_lost, "transfer for " + client_name_,
                fmt::format("nothing has moved for {:g} s", std::chrono::duration<double>(stall_timeout_).count())});
      }};
}

Task<Status> ServedTransfers::send(SendRequest request) {
  request.sent = [this](std::size_t bytes) { sent_bytes_ += bytes; };
  const auto stall = stall_timer([source = request.source] { return source->is_reading(); });
  if (parameters_.is_mode_e()) {
    request.block_bytes = std::min(request.block_bytes, parameters_.most_block_bytes());
    co_return co_await path_.send(parameters_.connections_to_each(), std::move(request));
  }
  UDTCAT_CO_TRY(const auto connection, co_await path_.single());
  UDTCAT_CO_CHECK(co_await path_.alone(connection, send_stream_mode(*connection, request)));
  // The end is awaited beside the reply: an older client ends its side only after that.
  if (parameters_.is_session())
    boost::asio::co_spawn(
        io_, [](auto held) -> Task<void> { std::ignore = co_await await_end(*held); }(connection), rethrow);
  co_return Status{};
}

Task<Reply> ServedTransfers::retrieve(std::string path, std::optional<files::ByteRange> part) {
  const files::ByteRanges left_out = std::exchange(restart_, {});
  allocated_.reset();
  if (auto cannot = parameters_.refusal(DataPath::Role::active)) co_return *cannot;
  const BusyGuard busy(*this);
  struct Opened {
    BlockStore file;
    std::optional<std::uint64_t> size;
  };
  auto opened = co_await on_disk(io_, [&]() -> Result<Opened> {
    UDTCAT_TRY(auto descriptor, place_.root().open_to_read(path));
    UDTCAT_TRY(auto file, BlockStore::of(std::move(descriptor), path));
    place_.charge(file);
    UDTCAT_CHECK(file.has_its_size(std::nullopt));
    const auto size = file.size();
    return Opened{std::move(file), size};
  });
  const auto asked_at = std::chrono::steady_clock::now();
  const auto refuse = [&](const Error& why) {
    log_.report_transfer(tool::kSent, path, 0, asked_at, tl::unexpected(why));
    return to_reply(why);
  };
  if (!opened) co_return refuse(opened.error());
  const auto size = opened->size;
  if (!size && !part) co_return make_reply(550, path + ": it has no size; ERET takes a part of it.");
  files::ByteRange range = part.value_or(files::ByteRange{0, size.value_or(0)});
  if (size && range.begin > *size) co_return make_reply(554, fmt::format("{} has {} bytes.", path, *size));
  if (size) range.end = std::min(range.end, *size);
  SendRequest request;
  request.offset_on_wire = part ? part->begin : 0;
  std::vector<files::ByteRange> wanted;  // what is left out is counted as on the wire
  for (const files::ByteRange& missing : left_out.missing_from({0, range.bytes()}))
    wanted.push_back({missing.begin + range.begin, missing.end + range.begin});
  request.source = std::make_shared<FileSource>(io_, std::move(opened->file), std::move(wanted));
  if (auto begun = co_await announce(path); !begun) co_return refuse(begun.error());
  const auto begun_at = std::chrono::steady_clock::now();
  const std::uint64_t before = sent_bytes_;
  std::optional<TransferMarkers> markers;  // plain FTP clients take the next reply for the last one
  if (parameters_.is_mode_e())
    markers.emplace(
        io_, control_.send_reply, [this, before] { return sent_bytes_ - before; }, nullptr);
  auto sent = co_await send(std::move(request));
  const Statement done{Statement::Action::sent, part ? part->begin : 0, sent_bytes_ - before,
                       size.value_or(kUnknownFileBytes), path};
  if (sent) sent = co_await path_.send_statement(done);
  if (markers) co_await markers->stop();
  if (!parameters_.is_mode_e()) path_.close();
  log_.report_transfer(tool::kSent, path, sent_bytes_ - before, begun_at, sent);
  co_return sent ? make_reply(226, "Transfer complete.") : broken_off(sent.error());
}

struct ServedTransfers::StoreParameters {
  files::ByteRanges restart;
  std::optional<std::uint64_t> allocated;
  std::string source{};
  bool has_name = false;  // the name is granted: it need not be added
};

struct ServedTransfers::Incoming {
  std::optional<std::uint64_t> at;  // as in store()
  std::shared_ptr<FileSink> sink{};
  files::ByteRanges have{};
  std::optional<files::ByteRange> expected{};
};

/// Whether a client that does not name its source skips exactly the bytes of the file here, so that it appends.
bool ServedTransfers::is_whole_file(const std::string& path, const StoreParameters& parameters) const {
  if (parameters_.is_mode_e() || !parameters.source.empty()) return false;
  const auto facts = place_.root().facts_of(path);
  return facts && facts->kind == FileFacts::Kind::file && facts->size_bytes == parameters.restart.contiguous_from(0);
}

Result<ServedTransfers::Incoming> ServedTransfers::open_incoming(const std::string& path,
                                                                 std::optional<std::uint64_t> at,
                                                                 const StoreParameters& parameters) {
  Incoming incoming{at};
  incoming.have = parameters.restart;
  if (at && !incoming.have.empty())
    return fail(Errc::stream_refused, "write a part of " + path, "REST goes with a whole file only: ESTO the rest");
  if (parameters.allocated) incoming.expected = files::ByteRange{0, *parameters.allocated};
  UDTCAT_TRY(const auto location, place_.root().location_of(path));
  if (!at) UDTCAT_CHECK(published_.may_replace(location, path));
  UDTCAT_TRY(auto store, at ? BlockStore::open_in_place(location) : BlockStore::open_to_write(location));
  if (!at && store.ignores_case())
    if (auto beside = published_.may_stand_beside(location, path); !beside) {
      store.discard();
      return tl::unexpected(std::move(beside.error()));
    }
  std::optional<RestartJournal> journal;
  files::ByteRanges there;
  if (const auto size = store.size(); !at && size) {
    journal = store.journal(identity_of(path, parameters.source));
    if (journal) there = ranges_on_disk(*journal, size);
    for (const files::ByteRange& range : incoming.have.ranges()) {
      if (there.contains(range)) continue;
      const bool is_new = *size == 0;  // open_to_write() has just made it; else another upload was cut
      if (is_new) store.discard();
      if (is_new && is_whole_file(path, parameters)) {
        StoreParameters rest;
        if (parameters.allocated) rest.allocated = *parameters.allocated - std::min(*parameters.allocated, range.end);
        return open_incoming(path, range.end, rest);
      }
      return fail(Errc::stream_refused, "go on with " + path,
                  fmt::format("bytes {} to {} are not here: begin anew", range.begin, range.end));
    }
  }
  // More may be there than the client skips: it asked while an earlier transfer stored its last blocks. Those count
  // only where the source has a name.
  if (incoming.have.empty() || parameters.source.empty()) there = incoming.have;
  place_.charge(store);
  const bool is_new = at ? store.is_made() && !parameters.has_name : store.size() == 0;
  if (const auto& limit = place_.limit(); limit && is_new) limit->use->charge(store.new_bytes());
  if (journal) journal = store.journal(identity_of(path, parameters.source));  // a counted one
  incoming.sink = std::make_shared<FileSink>(io_, std::move(store), std::move(there), std::move(journal),
                                             at.value_or(0), place_.limit());
  return incoming;
}

/// A file that is made in place needs room for its name; PATH.part is looked at once it is there.
Task<Result<ServedTransfers::Incoming>> ServedTransfers::open_with_room(const std::string& path,
                                                                        std::optional<std::uint64_t> at,
                                                                        StoreParameters& parameters) {
  if (cancelled_) co_return tl::unexpected(*cancelled_);
  if (at && place_.limit())
    parameters.has_name = co_await on_disk(io_, [&] { return place_.root().has_nothing_at(path); });
  const std::uint64_t name_bytes = parameters.has_name ? files::kNameBytes : 0;
  UDTCAT_CO_TRY(const auto name, co_await place_.reserve(name_bytes, "write " + path));
  auto incoming = co_await on_disk_in_turn(
      io_, [&] { return open_incoming(path, at, parameters); }, [this] { return !cancelled_; });
  if (!incoming && place_.limit()) place_.limit()->use->release(name_bytes);
  co_return incoming;
}

Reply ServedTransfers::name_source(const std::string& source) {
  if (source.empty() || source.size() > kMaxSourceBytes || core::printable(source, kMaxSourceBytes) != source)
    return make_reply(501, "A source is named by a line of at most 100 characters.");
  source_ = source;
  return make_reply(200, "The next upload has this source.");
}

Task<Reply> ServedTransfers::stored_ranges(std::string path) const {
  if (options_.read_only) co_return make_reply(550, "This server is read-only.");
  const auto have = co_await on_disk(io_, [&]() -> Result<files::ByteRanges> {
    UDTCAT_TRY(const auto location, place_.root().location_of(path));
    const auto there = find_partial_file(location);
    if (!there) return files::ByteRanges();
    return ranges_on_disk(there->journal_of(identity_of(path, source_)), there->part.size());
  });
  co_return have ? make_reply(250, "Range Marker " + have->to_text()) : to_reply(have.error());
}

Task<Status> ServedTransfers::receive(const Incoming& incoming) {
  const auto sink = std::make_shared<CountingSink>(
      incoming.sink, [received = received_bytes_](std::size_t bytes) { *received += bytes; });
  const auto stall = stall_timer([file = incoming.sink] { return file->is_storing(); });
  if (parameters_.is_mode_e()) co_return co_await path_.receive(IncomingFile(incoming.expected, incoming.have), sink);
  UDTCAT_CO_TRY(const auto connection, co_await path_.single());
  files::ByteRanges have = incoming.have;
  co_return co_await path_.alone(connection, receive_stream_mode(*connection, *sink, have, incoming.expected));
}

/// In stream mode a closed connection is the end of the file, also when the client has died: the control connection is
/// checked first.
Task<Status> ServedTransfers::publish(const std::string& path, bool in_place, const Incoming& incoming) {
  std::function<Status()> last_look;
  if (!parameters_.is_mode_e() && !incoming.expected && !in_place)
    last_look = [this, &path]() -> Status {
      if (control_.look()) return {};
      return fail(
          Errc::connection_broken, "store " + path,
          "its control connection has ended with its data, which may not have been all: what stood there stays");
    };
  UDTCAT_CO_CHECK(co_await incoming.sink->publish(std::move(last_look)));
  if (!in_place)
    co_await on_disk(io_, [&] {
      if (const auto location = place_.root().location_of(path)) published_.note(*location, path);
      return true;
    });
  co_return Status{};
}

Task<Reply> ServedTransfers::store(std::string path, std::optional<std::uint64_t> at) {
  StoreParameters parameters{std::exchange(restart_, {}), std::exchange(allocated_, {}), std::exchange(source_, {})};
  if (options_.read_only) co_return make_reply(550, "This server is read-only.");
  if (auto cannot = parameters_.refusal(DataPath::Role::passive)) co_return *cannot;
  const BusyGuard busy(*this);
  const auto asked_at = std::chrono::steady_clock::now();
  const auto refuse = [&](const Error& why) {
    const Error& cause = cancelled_ ? *cancelled_ : why;
    log_.report_transfer(tool::kReceived, path, 0, asked_at, tl::unexpected(cause));
    return cancelled_ ? broken_off(cause) : to_reply(cause);
  };
  if (auto counted = co_await place_.await_count(); !counted) co_return refuse(counted.error());
  const auto incoming = co_await open_with_room(path, at, parameters);
  if (!incoming) co_return refuse(incoming.error());
  auto fits = co_await place_.reserve(0, "write " + path);
  Status begun = fits ? Status() : tl::unexpected(std::move(fits.error()));
  if (begun) begun = co_await announce(path);
  if (!begun) {
    co_await incoming->sink->set_aside();
    co_return refuse(begun.error());
  }
  const auto begun_at = std::chrono::steady_clock::now();
  const std::uint64_t before = *received_bytes_;
  std::optional<TransferMarkers> markers;  // as in retrieve()
  if (parameters_.is_mode_e())
    markers.emplace(
        io_, control_.send_reply, [this, before] { return *received_bytes_ - before; },
        [sink = incoming->sink] { return sink->durable(); });
  const bool in_place = incoming->at.has_value();
  auto stored = co_await receive(*incoming);
  if (stored) stored = co_await publish(path, in_place, *incoming);
  if (!stored) co_await incoming->sink->set_aside();
  const Statement done{in_place ? Statement::Action::stored : Statement::Action::published, incoming->at.value_or(0),
                       *received_bytes_ - before, in_place ? kUnknownFileBytes : incoming->sink->end(), path};
  if (stored)
    std::ignore = co_await path_.send_statement(done);  // the file is there, whether or not the client hears so
  if (markers) co_await markers->stop();                // last: markers go on while a slow disk works
  if (!parameters_.is_mode_e()) path_.close();
  log_.report_transfer(tool::kReceived, path, *received_bytes_ - before, begun_at, stored);
  if (stored) co_return make_reply(226, "Transfer complete: the file is stored.");
  co_return broken_off(stored.error());
}

std::uint64_t ServedTransfers::partial_bytes(const std::string& path) const {
  const auto location = place_.root().location_of(path);
  const auto there = location ? find_partial_file(*location) : std::nullopt;
  if (!there || options_.read_only) return 0;
  const std::uint64_t bytes =
      ranges_on_disk(there->journal_of(identity_of(path, {})), there->part.size()).contiguous_from(0);
  return bytes - std::min<std::uint64_t>(bytes, 1);  // a client that has sent all still has to ask for the file
}

Task<Reply> ServedTransfers::append(std::string path) {
  restart_ = {};
  const auto [told_path, told_bytes] = std::exchange(told_, {});
  const auto end = co_await on_disk(io_, [&]() -> Result<std::optional<std::uint64_t>> {
    if (place_.root().has_nothing_at(path)) return std::nullopt;
    UDTCAT_TRY(const FileFacts facts, place_.root().facts_of(path));
    return facts.size_bytes;
  });
  if (!end) co_return to_reply(end.error());
  if (!*end && told_path == path && told_bytes > 0)
    std::ignore = restart_.add({0, told_bytes});  // one range always fits
  co_return co_await store(std::move(path), *end);
}

Task<Reply> ServedTransfers::status_of(std::string path) const {
  constexpr std::size_t kMostLines = 1'000;  // guess: more is for LIST
  const auto slice = co_await on_disk(io_, [&]() -> Result<std::vector<FileFacts>> {
    if (auto walk = place_.root().list(path)) return walk->next(kMostLines);
    UDTCAT_TRY(auto file, place_.root().facts_of(path));
    return std::vector<FileFacts>(1, file);
  });
  if (!slice) co_return make_reply(450, slice.error().message());
  Reply reply = make_reply(213, "Status of " + path);
  const bool cut = slice->size() == kMostLines;
  for (const FileFacts& facts : *slice) {
    std::string line =
        ' ' + listing_text({&facts, 1}, ListingFormat::long_lines, options_.read_only, std::time(nullptr));
    line.resize(line.size() - std::min<std::size_t>(line.size(), 2));
    reply.lines.push_back(std::move(line));
  }
  reply.lines.emplace_back(cut ? "End, of what may be more: LIST has all" : "End");
  co_return reply;
}

Task<Reply> ServedTransfers::checksum(ChecksumRequest request) {
  constexpr std::size_t kPieceBytes = 262'144;  // guess: less than a millisecond of a disk thread
  constexpr std::size_t kMostChecksums = 2;     // guess: half of the disk threads
  auto sum = Checksum::named(request.algorithm);
  if (!sum) co_return make_reply(504, "The checksums are ADLER32, MD5, SHA1, SHA256 and SHA512.");
  // A disk thread is busy for as long as it takes.
  if (service_->checksums >= (is_anonymous_ ? 1 : kMostChecksums))
    co_return make_reply(450, "Other checksums are under way; ask again.");
  ++service_->checksums;
  const std::shared_ptr<void> counted(nullptr, [service = service_](void*) { --service->checksums; });
  const BusyGuard busy(*this);
  auto file = co_await on_disk(io_, [&]() -> Result<BlockStore> {
    UDTCAT_TRY(auto descriptor, place_.root().open_to_read(request.path));
    UDTCAT_TRY(auto opened, BlockStore::of(std::move(descriptor), request.path));
    place_.charge(opened);
    return opened;
  });
  if (!file) co_return to_reply(file.error());
  std::uint64_t left = request.bytes.value_or(IncomingFile::kMaxBytes);
  std::vector<std::byte> piece(kPieceBytes);
  for (std::uint64_t at = request.offset; left > 0 && !cancelled_;) {
    const auto read = co_await on_disk(io_, [&]() -> Result<std::size_t> {
      const auto into = std::span(piece).first(std::min<std::uint64_t>(left, kPieceBytes));
      UDTCAT_TRY(const std::size_t bytes, file->read_at(at, into));
      sum->add(into.first(bytes));
      return bytes;
    });
    if (!read) co_return to_reply(read.error());
    if (*read == 0) break;
    at += *read;
    left -= *read;
    summed_bytes_ += *read;
  }
  if (cancelled_) co_return broken_off(*cancelled_);
  if (left > 0 && request.bytes)
    co_return make_reply(554, fmt::format("{} ends {} bytes before the last of these.", request.path, left));
  co_return make_reply(213, sum->text());
}

Task<Status> ServedTransfers::make_directory(std::string path) {
  const BusyGuard busy(*this);
  co_return co_await place_.make_directory(std::move(path));
}

Status ServedTransfers::rename(const std::string& from, const std::string& to) {
  UDTCAT_CHECK(place_.rename(from, to));
  if (const auto location = place_.root().location_of(to)) published_.forget(*location);
  return {};
}

Task<Reply> ServedTransfers::list(std::string path, ListingFormat form, std::string above) {
  restart_ = {};
  allocated_.reset();
  if (auto cannot = parameters_.refusal(DataPath::Role::active)) co_return *cannot;
  const BusyGuard busy(*this);
  SendRequest request;
  const std::int64_t now = std::time(nullptr);
  auto listing = co_await on_disk(io_, [&]() -> Result<std::shared_ptr<ListingSource>> {
    auto walk = place_.root().list(path);
    if (!walk && form != ListingFormat::facts && is_pattern(path) && !place_.root().facts_of(path)) {
      const auto name_at = path.rfind('/') + 1;
      walk = place_.root().list(path.substr(0, name_at));
      if (walk) walk->select(path.substr(name_at), std::move(above));
    }
    if (walk)
      return std::make_shared<ListingSource>(io_, std::move(*walk), form, options_.read_only, now);
    else if (const auto facts = place_.root().facts_of(path);
             // LIST of a file lists that file.
             facts && form != ListingFormat::facts && facts->kind != FileFacts::Kind::directory)
      return std::make_shared<ListingSource>(io_, *facts, form, options_.read_only, now);
    else
      return tl::unexpected(std::move(walk.error()));
  });
  if (!listing) co_return to_reply(listing.error());
  request.source = *listing;
  if (auto begun = co_await announce(path); !begun) co_return to_reply(begun.error());
  const auto sent = co_await send(std::move(request));
  if (!parameters_.is_mode_e()) path_.close();
  if (!sent) co_return broken_off(sent.error());
  const std::string end = end_of_listing((*listing)->missing());
  if ((*listing)->missing().count() > 0) core::log().warn("{}: {}", core::printable(path, core::kShownBytes), end);
  co_return make_reply(226, end);
}

}  // namespace udtcat::gridftp
