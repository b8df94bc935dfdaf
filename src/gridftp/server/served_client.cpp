// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/served_client.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>

#include <udtcat/units.hpp>

#include "gridftp/coroutine/task.hpp"
#include "gridftp/dialogue/command.hpp"
#include "gridftp/dialogue/reply.hpp"
#include "gridftp/dialogue/url.hpp"
#include "gridftp/disk/disk_threads.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMaxCommands = 64;                    // spec: docs/spec/gridftp.md §4: that wait
constexpr std::size_t kMaxAheadBytes = 256 * kKiB;          // spec: the same: of all that waits; then the client waits
constexpr std::chrono::milliseconds kReplyTimeout{60'000};  // guess: how long a client may refuse to read
constexpr std::chrono::milliseconds kDismissalTimeout{1'000};  // guess: one line, which the system takes at once

/// spec: RFC 2389 §3.2: a blank in front of each
Reply features() {
  Reply made;
  made.code = 211;
  made.lines = {"Extensions:", " UTF8",   " MLST Type*;Size*;Modify*;Perm*;UNIX.mode*;",
                " SIZE",       " MDTM",   " REST STREAM",
                " PARALLEL",   " DCAU",   " ERET",
                " ESTO",       " SPAS",   " SPOR",
                " EPRT",       " EPSV",   " PBSZ",
                " PROT",       " UDTCAT", " CKSUM ADLER32,MD5,SHA1,SHA256,SHA512",
                "End"};
  return made;
}

/// A name in quotes, as a client finds its end.  spec: RFC 959, appendix II
std::string in_quotes(const std::string& name) {
  std::string text = "\"";
  for (const char each : name) text.append(each == '"' ? 2 : 1, each);
  return text + '"';
}

/// "P 0 1000 /path", "A 500 /path": as many numbers as asked for, and the rest.
struct PartialOperand {
  std::vector<std::uint64_t> numbers;
  std::string path;
};
std::optional<PartialOperand> partial_operand(const std::string& text, char kind, std::size_t count) {
  if (to_upper(text.substr(0, 2)) != std::string{kind, ' '}) return std::nullopt;
  PartialOperand operand;
  std::size_t at = 2;
  while (operand.numbers.size() < count) {
    const std::size_t end = text.find(' ', at);
    const auto number = core::parse_number<std::uint64_t>(std::string_view(text).substr(at, end - at));
    if (end == std::string::npos || !number || *number > IncomingFile::kMaxBytes) return std::nullopt;
    operand.numbers.push_back(*number);
    at = end + 1;
  }
  operand.path = text.substr(at);
  return operand;
}

}  // namespace

/// Two coroutines: one reads commands, one answers them. Commands wait in a queue, so that ABOR and a hang-up are
/// noticed in a transfer.
class ServedClient::Dialogue : public std::enable_shared_from_this<Dialogue> {
 public:
  Dialogue(boost::asio::io_context& io, std::unique_ptr<ControlConnection> control,
           const std::shared_ptr<Service>& service, bool has_key)
      : io_(io),
        options_(service->options),
        control_(std::move(control)),
        name_(control_->peer().to_string()),
        changed_(io),
        transfers_(io, service, service->options.quota_for(has_key),
                   {control_->local(), control_->peer(), control_->peer_key(), control_->peer_name(), has_key},
                   {[this](Reply reply) { return send(std::move(reply)); }, [this] { return control_->look(); }}) {}

  static Task<void> read_commands(std::shared_ptr<Dialogue> self);
  static Task<void> answer_commands(std::shared_ptr<Dialogue> self, EndHandler on_gone);
  void close() {
    end_input();
    control_->close();
    transfers_.end({Errc::interrupted, "transfer for " + name_, "the server is stopping"});
    changed_.notify();
  }
  // No 421 to a client that has not read earlier replies.
  void dismiss() {
    core::log().info("{} gives way to another", name_);
    if (state_ != State::waits) return close();
    state_ = State::dismissed;
    changed_.notify();
  }
  [[nodiscard]] bool is_dismissed() const { return state_ == State::dismissed; }
  [[nodiscard]] bool is_logged_in() const { return login_ == Login::done; }
  [[nodiscard]] std::optional<Clock::duration> idle() const {
    return state_ == State::answers ? std::nullopt : std::optional(Clock::now() - idle_since_);
  }
  [[nodiscard]] ByteCounts moved() const { return transfers_.moved(); }

 private:
  ///  replies ──► waits ── a command ──► answers ──► replies      answers ── QUIT ──► quits
  ///              waits ── dismiss() ──► dismissed
  enum class State { replies, waits, answers, quits, dismissed };
  ///  open ── a line too long for a command ──► garbled      open ── the client hangs up, or close() ──► ended
  enum class Input { open, garbled, ended };
  ///  none ── USER ──► named ── PASS ──► done
  enum class Login { none, named, done };
  [[nodiscard]] Task<Status> enter();
  [[nodiscard]] Task<Status> send(Reply reply) { return control_->write(to_wire(reply), kReplyTimeout); }
  void end_input() {
    if (input_ == Input::open) input_ = Input::ended;
  }
  void queue_commands();
  [[nodiscard]] std::size_t ahead_bytes() const { return queued_bytes_ + reader_.waiting_bytes(); }
  [[nodiscard]] Task<Reply> answer(FtpCommand command);
  [[nodiscard]] Task<std::optional<Reply>> transfer(const FtpCommand& command);
  [[nodiscard]] Task<std::optional<Reply>> inspect(const FtpCommand& command);
  [[nodiscard]] Task<std::string> without_flags(std::string argument);
  [[nodiscard]] Task<std::optional<Reply>> query_path(const FtpCommand& command);
  [[nodiscard]] Task<std::optional<Reply>> change_files(const FtpCommand& command);
  [[nodiscard]] Reply simple(const FtpCommand& command);
  [[nodiscard]] Task<Reply> site(const std::string& argument);
  [[nodiscard]] Reply user(const std::string& name);
  [[nodiscard]] std::string absolute(const std::string& path) const { return absolute_path(directory_, path); }

  boost::asio::io_context& io_;
  const ServeOptions& options_;  // lives with transfers_
  const std::unique_ptr<ControlConnection> control_;
  const std::string name_;
  CommandReader reader_;
  std::deque<FtpCommand> queue_;
  std::size_t queued_bytes_ = 0;
  Input input_ = Input::open;
  AsyncCondition changed_;  // queue_, input_ or state_
  State state_ = State::replies;
  Clock::time_point idle_since_ = Clock::now();
  Login login_ = Login::none;
  std::string directory_ = "/";
  std::string rename_from_;
  Status gone_{};  // why the client is gone; nothing: by its own QUIT
  ServedTransfers transfers_;
};

/// Bytes become commands as far as there is room for them.
void ServedClient::Dialogue::queue_commands() {
  while (input_ != Input::garbled && queue_.size() < kMaxCommands) {
    auto command = reader_.next();
    if (!command) input_ = Input::garbled;  // commands before it are still answered
    if (!command || !*command) break;
    if ((*command)->verb == "ABOR" && transfers_.is_busy())
      transfers_.cancel({Errc::interrupted, "transfer for " + name_, "the client asked for its end"});
    queued_bytes_ += (*command)->verb.size() + (*command)->argument.size();
    queue_.push_back(std::move(**command));
  }
  changed_.notify();
}

Task<void> ServedClient::Dialogue::read_commands(std::shared_ptr<Dialogue> self) {
  while (self->input_ == Input::open) {
    while (self->ahead_bytes() > kMaxAheadBytes && self->input_ == Input::open) co_await self->changed_.wait();
    const auto timeout = self->is_logged_in() ? self->options_.idle_timeout : self->options_.login_timeout;
    // A client is not silent while its data move.
    const ControlConnection::Moved moved = [self] { return self->transfers_.done_bytes(); };
    const auto bytes = co_await self->control_->read(timeout, moved);
    if (!bytes) {
      core::log().info("{}: {}", self->name_, bytes.error().message());
      if (self->state_ != State::quits) self->gone_ = tl::unexpected(bytes.error());
      break;
    }
    self->reader_.push(*bytes);
    self->queue_commands();
  }
  self->end_input();
  self->transfers_.end({Errc::connection_broken, "transfer for " + self->name_, "its control connection is gone"});
  self->changed_.notify();
}

namespace {

/// Calls `call` from its destructor, so also where the coroutine that holds it is destroyed while it waits.
class ScopeExit {
 public:
  explicit ScopeExit(std::function<void()> call) : call_(std::move(call)) {}
  ~ScopeExit() { call_(); }
  ScopeExit(const ScopeExit&) = delete;
  ScopeExit& operator=(const ScopeExit&) = delete;

 private:
  const std::function<void()> call_;
};

}  // namespace

/// Where the peer has a directory of its own, that is all there is.
Task<Status> ServedClient::Dialogue::enter() {
  const auto& key = control_->peer_key();
  if (!options_.peers || !key) co_return Status{};
  const auto place = options_.peers->place_of(*key);
  if (!place) co_return fail(Errc::authentication_failed, "serve " + name_, "its key is listed no longer");
  auto entered = co_await on_disk(io_, [&] { return transfers_.enter(*place); });
  if (!entered) transfers_.log().report_refusal(entered.error());
  co_return entered;
}

Task<void> ServedClient::Dialogue::answer_commands(std::shared_ptr<Dialogue> self, EndHandler on_gone) {
  const ScopeExit calls([self, on_gone = std::move(on_gone)] { on_gone(self->gone_); });
  const Status entered = co_await self->enter();
  Reply greeting =
      entered ? make_reply(220, "udtcat GridFTP server ready.") : make_reply(421, entered.error().message());
  auto sent = co_await self->send(std::move(greeting));
  if (!entered) {
    self->gone_ = entered;
    self->state_ = State::quits;
  }
  while (sent && self->state_ != State::quits) {
    self->state_ = State::waits;
    while (self->queue_.empty() && self->input_ == Input::open && !self->is_dismissed()) co_await self->changed_.wait();
    if (self->queue_.empty() || self->is_dismissed()) break;
    self->state_ = State::answers;
    FtpCommand command = std::move(self->queue_.front());
    self->queue_.pop_front();
    self->queued_bytes_ -= command.verb.size() + command.argument.size();
    self->queue_commands();  // there is room again
    core::log().debug("{}: > {} {}", self->name_, command.verb,
                      command.verb == "PASS" ? "" : core::printable(command.argument, core::kShownBytes));
    Reply reply = co_await self->answer(std::move(command));
    if (self->state_ == State::answers) self->state_ = State::replies;
    self->idle_since_ = Clock::now();
    core::log().debug("{}: < {} {}", self->name_, reply.code, reply.text());
    sent = co_await self->send(std::move(reply));
  }
  if (self->is_dismissed()) {
    self->gone_ = fail(Errc::out_of_resources, "serve " + self->name_, "others came while it was idle");
    sent =
        co_await self->control_->write("421 Too many clients: closing this control connection.\r\n", kDismissalTimeout);
  }
  if (sent && (self->state_ == State::quits || self->is_dismissed())) co_await self->control_->finish();
  self->end_input();
  self->control_->close();
}

Reply ServedClient::Dialogue::user(const std::string& name) {
  const bool anonymous = name == "anonymous" || name == "ftp" || name == ":globus-mapping:";
  if (!anonymous) return make_reply(530, "Only anonymous is known here.");
  login_ = std::max(login_, Login::named);
  return make_reply(331, "Any password is accepted.");
}

/// Facts of a file or directory, and which directory is the current one.
Task<std::optional<Reply>> ServedClient::Dialogue::query_path(const FtpCommand& command) {
  const auto& [verb, argument] = command;
  static constexpr std::array<std::string_view, 5> kVerbs{"SIZE", "MDTM", "MLST", "CWD", "CDUP"};
  if (std::ranges::find(kVerbs, verb) == kVerbs.end()) co_return std::nullopt;
  const std::string path = absolute(verb == "CDUP" ? ".." : argument);
  const bool verb_is_size = verb == "SIZE";
  std::uint64_t unfinished = 0;
  const auto facts = co_await on_disk(io_, [&] {
    auto found = transfers_.root().facts_of(path);
    if (verb_is_size && transfers_.root().has_nothing_at(path)) unfinished = transfers_.partial_bytes(path);
    return found;
  });
  if (unfinished > 0) {
    transfers_.note_told(path, unfinished);
    co_return make_reply(213, std::to_string(unfinished));
  }
  if (!facts) co_return make_reply(550, facts.error().message());
  if (verb == "MLST") {
    Reply listing;
    listing.code = 250;
    listing.lines = {"Facts:", ' ' + facts_line(*facts, options_.read_only), "End"};
    co_return listing;
  }
  if (verb == "CWD" || verb == "CDUP") {
    if (facts->kind != FileFacts::Kind::directory) co_return make_reply(550, path + ": not a directory");
    directory_ = path;
    co_return make_reply(250, "Done.");
  }
  if (facts->kind != FileFacts::Kind::file) co_return make_reply(550, argument + ": not a file");
  co_return make_reply(213, verb == "SIZE" ? std::to_string(facts->size_bytes) : time_text(facts->changed));
}

Task<Reply> ServedClient::Dialogue::site(const std::string& argument) {
  const auto blank = argument.find(' ');
  const std::string verb = to_upper(argument.substr(0, blank));
  const std::string rest = blank == std::string::npos ? "" : argument.substr(blank + 1);
  if (verb == "SETNETSTACK") co_return transfers_.parameters().set_stack(rest);
  if (verb == "UPLOAD") co_return transfers_.name_source(rest);
  if (verb == "HAVE") co_return co_await transfers_.stored_ranges(absolute(rest));
  if (verb == "CLIENTINFO") co_return make_reply(250, "Ignored.");
  if (verb == "HELP") co_return make_reply(214, "SITE has SETNETSTACK, UPLOAD, HAVE, CLIENTINFO, HELP.");
  co_return make_reply(500, "SITE has SETNETSTACK, UPLOAD, HAVE, CLIENTINFO, HELP.");
}

namespace {

std::string change_text(const std::string& verb, const std::string& from, const std::string& path) {
  const std::string name = core::printable(path, core::kShownBytes);
  if (verb == "MKD") return "made the directory " + name;
  if (verb == "RMD") return "deleted the directory " + name;
  if (verb == "RNTO") return fmt::format("renamed {} to {}", core::printable(from, core::kShownBytes), name);
  return "deleted " + name;
}

}  // namespace

Task<std::optional<Reply>> ServedClient::Dialogue::change_files(const FtpCommand& command) {
  const auto& [verb, argument] = command;
  static constexpr std::array<std::string_view, 5> kVerbs{"MKD", "RMD", "DELE", "RNFR", "RNTO"};
  if (std::ranges::find(kVerbs, verb) == kVerbs.end()) co_return std::nullopt;
  if (options_.read_only) co_return make_reply(550, "This server is read-only.");
  const std::string path = absolute(argument);
  const std::string from = verb == "RNFR" ? path : std::exchange(rename_from_, {});
  if (verb == "RNTO" && from.empty()) co_return make_reply(503, "RNFR first.");
  const auto on_names = [&]() -> Status {
    if (command.verb == "RNTO") return transfers_.rename(from, path);
    if (command.verb != "RNFR") return transfers_.place().remove(path, command.verb == "RMD");
    UDTCAT_CHECK(transfers_.root().facts_of(path));
    return {};
  };
  Status done;
  if (verb == "MKD")
    done = co_await transfers_.make_directory(path);
  else
    done = co_await on_disk(io_, on_names);
  if (!done) co_return make_reply(550, done.error().message());
  if (verb == "RNFR") {
    rename_from_ = from;
    co_return make_reply(350, "RNTO gives the new name.");
  }
  transfers_.log().report_change(change_text(verb, from, path), path);
  co_return verb == "MKD" ? make_reply(257, in_quotes(path) + " created.") : make_reply(250, "Done.");
}

Reply ServedClient::Dialogue::simple(const FtpCommand& command) {
  const auto& [verb, argument] = command;
  TransferParameters& parameters = transfers_.parameters();
  if (verb == "TYPE")
    return argument.starts_with('I') || argument.starts_with('A') || argument.starts_with('L')
               ? make_reply(200, "Files are sent as they are, whatever the type.")
               : make_reply(504, "The types are I and A.");
  if (verb == "MODE") return parameters.set_mode(argument);
  if (verb == "STRU") return argument == "F" ? make_reply(200, "Files.") : make_reply(504, "The structure is F.");
  if (verb == "OPTS")
    return to_upper(argument.substr(0, 5)) == "RETR " ? parameters.set_parallelism(argument)
                                                      : make_reply(200, "Ignored.");
  if (verb == "PASV") return parameters.answer_pasv();
  if (verb == "SPAS") return parameters.answer_spas();
  if (verb == "EPSV") return parameters.answer_epsv(argument);
  if (verb == "PORT" || verb == "SPOR") return parameters.aim(argument);
  if (verb == "EPRT") return parameters.aim_extended(argument);
  if (verb == "REST") return transfers_.restart_at(argument);
  if (verb == "ALLO") return transfers_.allocate(argument);
  if (verb == "DCAU") return parameters.set_authentication(argument);
  if (verb == "PROT") return parameters.set_protection(argument);
  if (verb == "PBSZ") return make_reply(200, "PBSZ=1048576");
  if (verb == "PWD" || verb == "XPWD") return make_reply(257, in_quotes(directory_));
  if (verb == "ABOR") return make_reply(226, "No transfer is in progress.");
  if (verb == "SYST") return make_reply(215, "UNIX Type: L8");
  if (verb == "AUTH" || verb == "ADAT") return make_reply(504, "There is no GSI here: ftp:// instead of gsiftp://.");
  return make_reply(500, fmt::format("{}: not a command of this server.", core::printable(verb, 20)));
}

/// DIR of "-la DIR", unless a file has that whole name: many clients use LIST like ls(1).
Task<std::string> ServedClient::Dialogue::without_flags(std::string argument) {
  const auto is_there = [this, &argument] { return transfers_.root().facts_of(absolute(argument)).has_value(); };
  const auto is_letter = [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '1';
  };
  constexpr int kMostFlags = 8;  // guess: words of flags; a client may write 128 KiB of them
  for (int words = 0; words < kMostFlags && argument.starts_with('-'); ++words) {
    if (co_await on_disk(io_, is_there)) break;
    const std::string flags = argument.substr(1, std::min(argument.find(' '), argument.size()) - 1);
    if (flags != "-" && (flags.empty() || !std::ranges::all_of(flags, is_letter))) break;
    argument.erase(0, flags.size() + 1);
    argument.erase(0, argument.find_first_not_of(' '));
    if (flags == "-") break;
  }
  co_return argument;
}

Task<std::optional<Reply>> ServedClient::Dialogue::transfer(const FtpCommand& command) {
  const auto& [verb, argument] = command;
  if (verb == "RETR") co_return co_await transfers_.retrieve(absolute(argument), std::nullopt);
  if (verb == "APPE") co_return co_await transfers_.append(absolute(argument));
  if (verb == "STOR") co_return co_await transfers_.store(absolute(argument), std::nullopt);
  if (verb == "ERET") {
    const auto operand = partial_operand(argument, 'P', 2);
    if (!operand) co_return make_reply(501, "ERET P OFFSET LENGTH PATH is known here.");
    const std::uint64_t offset = operand->numbers[0];
    co_return co_await transfers_.retrieve(absolute(operand->path),
                                           files::ByteRange{offset, offset + operand->numbers[1]});
  }
  if (verb == "ESTO") {
    const auto operand = partial_operand(argument, 'A', 1);
    if (!operand) co_return make_reply(501, "ESTO A OFFSET PATH is known here.");
    co_return co_await transfers_.store(absolute(operand->path), operand->numbers[0]);
  }
  if (verb == "MLSD") co_return co_await transfers_.list(absolute(argument), ListingFormat::facts);
  if (verb != "NLST" && verb != "LIST") co_return std::nullopt;
  const std::string path = co_await without_flags(argument);
  co_return co_await transfers_.list(absolute(path), verb == "NLST" ? ListingFormat::names : ListingFormat::long_lines,
                                     path.substr(0, path.rfind('/') + 1));
}

/// CKSM, and STAT, whose listing goes over the control connection.
Task<std::optional<Reply>> ServedClient::Dialogue::inspect(const FtpCommand& command) {
  const auto& [verb, argument] = command;
  if (verb == "CKSM") {
    auto request = parse_checksum_request(argument);
    if (!request) co_return make_reply(501, "CKSM ALGORITHM OFFSET LENGTH PATH is known here; LENGTH -1 is all.");
    request->path = absolute(request->path);
    co_return co_await transfers_.checksum(std::move(*request));
  }
  if (verb == "STAT" && argument.empty())
    co_return make_reply(211, "udtcat GridFTP server: " + name_ + " is logged in.");
  if (verb == "STAT") co_return co_await transfers_.status_of(absolute(co_await without_flags(argument)));
  co_return std::nullopt;
}

Task<Reply> ServedClient::Dialogue::answer(FtpCommand command) {
  if (command.argument.find('\0') != std::string::npos) co_return make_reply(501, "No name holds a zero byte.");
  if (command.verb == "QUIT") {
    state_ = State::quits;
    gone_ = {};
    co_return make_reply(221, "Goodbye.");
  }
  if (command.verb == "NOOP") co_return make_reply(200, "Done.");
  if (command.verb == "FEAT") co_return features();
  if (command.verb == "HELP") co_return make_reply(214, "See udtcat-gridftp(1).");
  if (command.verb == "USER") co_return user(command.argument);
  if (command.verb == "PASS" && login_ == Login::none) co_return make_reply(503, "USER first.");
  if (command.verb == "PASS") {
    login_ = Login::done;
    co_return make_reply(230, "Welcome.");
  }
  const bool asks_for_help = command.verb == "SITE" && command.argument.starts_with("HELP");
  if (!is_logged_in() && !asks_for_help) co_return make_reply(530, "Not logged in: USER and PASS first.");
  if (command.verb == "SITE") co_return co_await site(command.argument);
  if (auto moved = co_await transfer(command)) co_return std::move(*moved);
  if (auto seen = co_await inspect(command)) co_return std::move(*seen);
  if (auto told = co_await query_path(command)) co_return std::move(*told);
  if (auto changed = co_await change_files(command)) co_return std::move(*changed);
  co_return simple(command);
}

ServedClient::ServedClient(boost::asio::io_context& io, std::unique_ptr<ControlConnection> control,
                           std::shared_ptr<Service> service, bool has_key, EndHandler on_gone)
    : dialogue_(std::make_shared<Dialogue>(io, std::move(control), std::move(service), has_key)) {
  boost::asio::co_spawn(io, Dialogue::read_commands(dialogue_), rethrow);
  boost::asio::co_spawn(io, Dialogue::answer_commands(dialogue_, std::move(on_gone)), rethrow);
}

ServedClient::~ServedClient() {
  if (!dialogue_->is_dismissed()) close();
}
void ServedClient::dismiss() { dialogue_->dismiss(); }
std::optional<ServedClient::Clock::duration> ServedClient::idle() const { return dialogue_->idle(); }
void ServedClient::close() { dialogue_->close(); }
bool ServedClient::is_logged_in() const { return dialogue_->is_logged_in(); }
ByteCounts ServedClient::moved() const { return dialogue_->moved(); }

}  // namespace udtcat::gridftp
