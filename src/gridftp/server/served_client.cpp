#include "gridftp/server/served_client.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "gridftp/coroutine/task.hpp"
#include "gridftp/dialogue/command.hpp"
#include "gridftp/dialogue/reply.hpp"
#include "gridftp/dialogue/url.hpp"
#include "gridftp/files/disk_threads.hpp"
#include "gridftp/server/served_transfers.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMostCommands = 64;                    // spec: docs/spec/gridftp.md §4: that wait
constexpr std::size_t kMostAheadBytes = 262'144;             // spec: the same: of all that waits; then the client waits
constexpr std::chrono::milliseconds kTakesReplies{60'000};   // guess: how long a client may refuse to read
constexpr std::chrono::milliseconds kTakesDismissal{1'000};  // guess: one line, which the system takes at once

/// spec: RFC 2389 §3.2: a blank in front of each
Reply features() {
  Reply made;
  made.code = 211;
  made.lines = {"Extensions:", " UTF8",   " MLST Type*;Size*;Modify*;Perm*;UNIX.mode*;",
                " SIZE",       " MDTM",   " REST STREAM",
                " PARALLEL",   " DCAU",   " ERET",
                " ESTO",       " SPAS",   " SPOR",
                " EPRT",       " EPSV",   " PBSZ",
                " PROT",       " UDTCAT", "End"};
  return made;
}

/// "P 0 1000 /path", "A 500 /path": as many numbers as asked for, and the rest.
struct PartialOperand {
  std::vector<std::uint64_t> numbers;
  std::string path;
};
std::optional<PartialOperand> partial_operand(const std::string& text, char kind, std::size_t count) {
  if (text.size() < 2 || std::toupper(static_cast<unsigned char>(text[0])) != kind || text[1] != ' ')
    return std::nullopt;
  PartialOperand operand;
  const char* at = text.data() + 2;
  const char* const end = text.data() + text.size();
  while (operand.numbers.size() < count) {
    std::uint64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || next == end || *next != ' ' || number > IncomingFile::kMostBytes) return std::nullopt;
    operand.numbers.push_back(number);
    at = next + 1;
  }
  operand.path.assign(at, end);
  return operand;
}

}  // namespace

/// Two coroutines: one reads commands, one answers them. Commands wait in a queue, so that ABOR and a hang-up are
/// noticed in a transfer.
class ServedClient::Dialogue : public std::enable_shared_from_this<Dialogue> {
 public:
  Dialogue(boost::asio::io_context& io, std::unique_ptr<ControlConnection> control, std::shared_ptr<Service> service,
           const Share& share)
      : io_(io),
        options_(service->options),
        control_(std::move(control)),
        name_(control_->peer().to_string()),
        heard_(io),
        transfers_(io, std::move(service), share, {control_->local(), control_->peer()},
                   [this](Reply what) { return say(std::move(what)); }) {}

  static Task<void> hear_on(std::shared_ptr<Dialogue> self);
  static Task<void> answer_on(std::shared_ptr<Dialogue> self, std::function<void()> on_gone);
  void close() {
    gone_ = true;
    control_->close();
    transfers_.end({Errc::interrupted, "transfer for " + name_, "the server is stopping"});
    heard_.notify();
  }
  // A client that has not taken the replies before is told nothing.
  void dismiss() {
    core::log().info("{} gives way to another", name_);
    if (turn_ != Turn::listens) return close();
    turn_ = Turn::dismissed;
    heard_.notify();
  }
  [[nodiscard]] bool is_dismissed() const { return turn_ == Turn::dismissed; }
  [[nodiscard]] bool is_logged_in() const { return login_ == Login::done; }
  [[nodiscard]] std::optional<Clock::duration> idle() const {
    return turn_ == Turn::answers ? std::nullopt : std::optional(Clock::now() - idle_since_);
  }
  [[nodiscard]] std::uint64_t moved_bytes() const { return transfers_.moved_bytes(); }

 private:
  ///  speaks ──► listens ── a command ──► answers ──► speaks ──► listens ── dismiss() ──► dismissed
  enum class Turn { speaks, listens, answers, dismissed };
  ///  none ── USER ──► named ── PASS ──► done
  enum class Login { none, named, done };
  [[nodiscard]] Task<Status> say(Reply what) { return control_->say(to_wire(what), kTakesReplies); }
  void sort_in();
  [[nodiscard]] std::size_t ahead_bytes() const { return queued_bytes_ + reader_.waiting_bytes(); }
  [[nodiscard]] Task<Reply> answer(FtpCommand command);
  [[nodiscard]] Task<std::optional<Reply>> transfer(const FtpCommand& command);
  [[nodiscard]] Task<std::optional<Reply>> look(const FtpCommand& command);
  [[nodiscard]] Task<std::optional<Reply>> change(const FtpCommand& command);
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
  bool garbled_ = false;  // a line was too long for a command
  Signal heard_;          // queue_, gone_ or turn_ has changed
  bool gone_ = false;
  bool leaving_ = false;
  Turn turn_ = Turn::speaks;
  Clock::time_point idle_since_ = Clock::now();
  Login login_ = Login::none;
  std::string directory_ = "/";
  std::string rename_from_;
  ServedTransfers transfers_;
};

/// Bytes become commands as far as there is room for them.
void ServedClient::Dialogue::sort_in() {
  while (!garbled_ && queue_.size() < kMostCommands) {
    auto command = reader_.next();
    if (!command) gone_ = garbled_ = true;  // commands before it are still answered
    if (!command || !*command) break;
    if ((*command)->verb == "ABOR" && transfers_.is_busy())
      transfers_.cancel({Errc::interrupted, "transfer for " + name_, "the client asked for its end"});
    queued_bytes_ += (*command)->verb.size() + (*command)->argument.size();
    queue_.push_back(std::move(**command));
  }
  heard_.notify();
}

Task<void> ServedClient::Dialogue::hear_on(std::shared_ptr<Dialogue> self) {
  while (!self->gone_) {
    while (self->ahead_bytes() > kMostAheadBytes && !self->gone_) co_await self->heard_.wait();
    const auto patience = self->is_logged_in() ? self->options_.idle_patience : self->options_.login_patience;
    // A client is not silent while its data move.
    const ControlConnection::Moved moved = [self] { return self->transfers_.moved_bytes(); };
    const auto heard = co_await self->control_->hear(patience, moved);
    if (!heard) {
      core::log().info("{}: {}", self->name_, heard.error().message());
      break;
    }
    self->reader_.push(*heard);
    self->sort_in();
  }
  self->gone_ = true;
  self->transfers_.end({Errc::connection_broken, "transfer for " + self->name_, "its control connection is gone"});
  self->heard_.notify();
}

namespace {

/// Calls from its destructor: also with a coroutine that is destroyed where it waits.
class AtTheEnd {
 public:
  explicit AtTheEnd(std::function<void()> call) : call_(std::move(call)) {}
  ~AtTheEnd() { call_(); }
  AtTheEnd(const AtTheEnd&) = delete;
  AtTheEnd& operator=(const AtTheEnd&) = delete;

 private:
  const std::function<void()> call_;
};

}  // namespace

Task<void> ServedClient::Dialogue::answer_on(std::shared_ptr<Dialogue> self, std::function<void()> on_gone) {
  const AtTheEnd tells(std::move(on_gone));
  auto said = co_await self->say(make_reply(220, "udtcat GridFTP server ready."));
  while (said && !self->leaving_) {
    self->turn_ = Turn::listens;
    while (self->queue_.empty() && !self->gone_ && !self->is_dismissed()) co_await self->heard_.wait();
    if (self->queue_.empty() || self->is_dismissed()) break;
    self->turn_ = Turn::answers;
    FtpCommand command = std::move(self->queue_.front());
    self->queue_.pop_front();
    self->queued_bytes_ -= command.verb.size() + command.argument.size();
    self->sort_in();  // there is room again
    core::log().debug("{}: > {} {}", self->name_, command.verb,
                      command.verb == "PASS" ? "" : core::printable(command.argument, core::kShownBytes));
    Reply answered = co_await self->answer(std::move(command));
    self->turn_ = Turn::speaks;
    self->idle_since_ = Clock::now();
    core::log().debug("{}: < {} {}", self->name_, answered.code, answered.text());
    said = co_await self->say(std::move(answered));
  }
  if (self->is_dismissed())
    said = co_await self->control_->say("421 Too many clients: another has your place.\r\n", kTakesDismissal);
  if (said && (self->leaving_ || self->is_dismissed())) co_await self->control_->finish();
  self->gone_ = true;
  self->control_->close();
}

Reply ServedClient::Dialogue::user(const std::string& name) {
  const bool anonymous = name == "anonymous" || name == "ftp" || name == ":globus-mapping:";
  if (!anonymous) return make_reply(530, "Only anonymous is known here.");
  login_ = std::max(login_, Login::named);
  return make_reply(331, "Any password will do.");
}

Task<std::optional<Reply>> ServedClient::Dialogue::look(const FtpCommand& command) {
  const auto& [verb, argument] = command;
  static constexpr std::array<std::string_view, 5> kVerbs{"SIZE", "MDTM", "MLST", "CWD", "CDUP"};
  if (std::ranges::find(kVerbs, verb) == kVerbs.end()) co_return std::nullopt;
  const std::string path = absolute(verb == "CDUP" ? ".." : argument);
  const auto facts = co_await on_disk(io_, [&] { return transfers_.root().facts_of(path); });
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
  std::string verb = argument.substr(0, blank);
  for (char& letter : verb) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  const std::string rest = blank == std::string::npos ? "" : argument.substr(blank + 1);
  if (verb == "SETNETSTACK") co_return transfers_.parameters().set_stack(rest);
  if (verb == "UPLOAD") co_return transfers_.name_source(rest);
  if (verb == "HAVE") co_return co_await transfers_.what_is_here(absolute(rest));
  if (verb == "CLIENTINFO") co_return make_reply(250, "Noted.");
  if (verb == "HELP") co_return make_reply(214, "SITE has SETNETSTACK, UPLOAD, HAVE, CLIENTINFO, HELP.");
  co_return make_reply(500, "SITE has SETNETSTACK, UPLOAD, HAVE, CLIENTINFO, HELP.");
}

/// Commands that change files.
Task<std::optional<Reply>> ServedClient::Dialogue::change(const FtpCommand& command) {
  const auto& [verb, argument] = command;
  static constexpr std::array<std::string_view, 5> kVerbs{"MKD", "RMD", "DELE", "RNFR", "RNTO"};
  if (std::ranges::find(kVerbs, verb) == kVerbs.end()) co_return std::nullopt;
  if (options_.read_only) co_return make_reply(550, "This server is read-only.");
  const std::string path = absolute(argument);
  const std::string from = verb == "RNFR" ? path : std::exchange(rename_from_, {});
  if (verb == "RNTO" && from.empty()) co_return make_reply(503, "RNFR first.");
  const auto done = co_await on_disk(io_, [&]() -> Status {
    const ServedRoot& root = transfers_.root();
    if (command.verb == "MKD") return root.make_directory(path);
    if (command.verb == "RNTO") return root.rename(from, path);
    if (command.verb != "RNFR") return root.remove(path, command.verb == "RMD");
    const auto there = root.facts_of(path);
    return there ? Status{} : tl::unexpected(there.error());
  });
  if (!done) co_return make_reply(550, done.error().message());
  if (verb == "RNFR") {
    rename_from_ = from;
    co_return make_reply(350, "And to which name?");
  }
  co_return verb == "MKD" ? make_reply(257, fmt::format("\"{}\" is there.", path)) : make_reply(250, "Done.");
}

Reply ServedClient::Dialogue::simple(const FtpCommand& command) {
  const auto& [verb, argument] = command;
  TransferParameters& parameters = transfers_.parameters();
  if (verb == "TYPE")
    return argument.starts_with('I') || argument.starts_with('A') || argument.starts_with('L')
               ? make_reply(200, "Bytes as they are, whatever their type.")
               : make_reply(504, "The types are I and A.");
  if (verb == "MODE") return parameters.set_mode(argument);
  if (verb == "STRU") return argument == "F" ? make_reply(200, "Files.") : make_reply(504, "The structure is F.");
  if (verb == "OPTS")
    return argument.starts_with("RETR ") || argument.starts_with("retr ") ? parameters.set_parallelism(argument)
                                                                          : make_reply(200, "Noted.");
  if (verb == "PASV") return parameters.listen(false);
  if (verb == "SPAS") return parameters.listen(true);
  if (verb == "EPSV") return parameters.listen_extended(argument);
  if (verb == "PORT" || verb == "SPOR") return parameters.aim(argument);
  if (verb == "EPRT") return parameters.aim_extended(argument);
  if (verb == "REST") return transfers_.restart_at(argument);
  if (verb == "ALLO") return transfers_.allocate(argument);
  if (verb == "DCAU") return parameters.set_authentication(argument);
  if (verb == "PROT") return parameters.set_protection(argument);
  if (verb == "PBSZ") return make_reply(200, "PBSZ=1048576");
  if (verb == "PWD" || verb == "XPWD") return make_reply(257, fmt::format("\"{}\"", directory_));
  if (verb == "ABOR") return make_reply(226, "Nothing is under way.");
  if (verb == "SYST") return make_reply(215, "UNIX Type: L8");
  if (verb == "AUTH" || verb == "ADAT") return make_reply(504, "There is no GSI here: ftp:// instead of gsiftp://.");
  return make_reply(500, fmt::format("{}: not known here.", core::printable(verb, 20)));
}

Task<std::optional<Reply>> ServedClient::Dialogue::transfer(const FtpCommand& command) {
  const auto& [verb, argument] = command;
  if (verb == "RETR") co_return co_await transfers_.retrieve(absolute(argument), std::nullopt);
  if (verb == "STOR") co_return co_await transfers_.store(absolute(argument), std::nullopt);
  if (verb == "ERET") {
    const auto operand = partial_operand(argument, 'P', 2);
    if (!operand) co_return make_reply(501, "ERET P OFFSET LENGTH PATH is known here.");
    const std::uint64_t offset = operand->numbers[0];
    co_return co_await transfers_.retrieve(absolute(operand->path), ByteRange{offset, offset + operand->numbers[1]});
  }
  if (verb == "ESTO") {
    const auto operand = partial_operand(argument, 'A', 1);
    if (!operand) co_return make_reply(501, "ESTO A OFFSET PATH is known here.");
    co_return co_await transfers_.store(absolute(operand->path), operand->numbers[0]);
  }
  if (verb == "MLSD") co_return co_await transfers_.list(absolute(argument), ListingForm::facts);
  // Flags, as in "LIST -a", are for a shell to understand.
  const std::string path = argument.starts_with('-') ? "" : argument;
  if (verb == "NLST") co_return co_await transfers_.list(absolute(path), ListingForm::names);
  if (verb == "LIST") co_return co_await transfers_.list(absolute(path), ListingForm::long_lines);
  co_return std::nullopt;
}

Task<Reply> ServedClient::Dialogue::answer(FtpCommand command) {
  if (command.argument.find('\0') != std::string::npos) co_return make_reply(501, "No name holds a zero byte.");
  if (command.verb == "QUIT") {
    leaving_ = true;
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
  if (!is_logged_in() && !asks_for_help) co_return make_reply(530, "USER and PASS first.");
  if (command.verb == "SITE") co_return co_await site(command.argument);
  if (auto moved = co_await transfer(command)) co_return std::move(*moved);
  if (auto seen = co_await look(command)) co_return std::move(*seen);
  if (auto changed = co_await change(command)) co_return std::move(*changed);
  co_return simple(command);
}

ServedClient::ServedClient(boost::asio::io_context& io, std::unique_ptr<ControlConnection> control,
                           std::shared_ptr<Service> service, const Share& share, std::function<void()> on_gone)
    : dialogue_(std::make_shared<Dialogue>(io, std::move(control), std::move(service), share)) {
  boost::asio::co_spawn(io, Dialogue::hear_on(dialogue_), boost::asio::detached);
  boost::asio::co_spawn(io, Dialogue::answer_on(dialogue_, std::move(on_gone)), boost::asio::detached);
}

ServedClient::~ServedClient() {
  if (!dialogue_->is_dismissed()) close();
}
void ServedClient::dismiss() { dialogue_->dismiss(); }
std::optional<ServedClient::Clock::duration> ServedClient::idle() const { return dialogue_->idle(); }
void ServedClient::close() { dialogue_->close(); }
bool ServedClient::is_logged_in() const { return dialogue_->is_logged_in(); }
std::uint64_t ServedClient::moved_bytes() const { return dialogue_->moved_bytes(); }

}  // namespace udtcat::gridftp
