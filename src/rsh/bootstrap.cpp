#include "rsh/bootstrap.hpp"

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "lib/core/log.hpp"

namespace udtcat::rsh {

namespace {

constexpr int kSignalBase = 128;  // spec: what a shell says of a child that a signal ended

Result<std::vector<std::byte>> read_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || bytes.empty()) return fail(Errc::local_read_failed, "read " + path + " in order to push it");
  const auto raw = std::as_bytes(std::span(bytes));
  return std::vector<std::byte>(raw.begin(), raw.end());
}

}  // namespace

Bootstrap::Bootstrap(boost::asio::io_context& io, std::optional<ProgramToPush> push, Handlers handlers)
    : io_(io), push_(std::move(push)), handlers_(std::move(handlers)) {}

Bootstrap::~Bootstrap() = default;

Result<std::unique_ptr<Bootstrap>> Bootstrap::start(boost::asio::io_context& io, const bridge::ChildRequest& ssh,
                                                    std::optional<ProgramToPush> push, Handlers handlers) {
  std::unique_ptr<Bootstrap> bootstrap(new Bootstrap(io, std::move(push), std::move(handlers)));
  Bootstrap& self = *bootstrap;
  auto child = bridge::ChildProcess::start(io, ssh, [&self](const bridge::ChildEnd& end) { self.on_ssh_end(end); });
  if (!child) return tl::unexpected(std::move(child.error()));
  self.ssh_ = std::move(*child);
  auto pipes = self.ssh_->take_pipes();
  auto stream = make_stdio_stream(io, pipes.output.release(), pipes.input.release(), {});
  if (!stream) return tl::unexpected(std::move(stream.error()));
  self.ssh_stream_ = std::move(*stream);
  self.listen();
  return bootstrap;
}

void Bootstrap::listen() {
  ssh_stream_->async_wait_readable(lifetime_.guard([this] { hear(); }));
}

void Bootstrap::hear() {
  std::array<char, 4096> piece{};
  const auto got = ssh_stream_->read_some(std::as_writable_bytes(std::span(piece)));
  if (got.state == LocalStream::ReadState::would_block) return listen();
  if (got.state != LocalStream::ReadState::data) {
    output_ended_ = true;
    handlers_.on_noise(greeting_.take_noise(true));
    // ssh's own words and status say why; they come with its end.
    if (status_)
      fail_with({Errc::cannot_reach, "start the far end", fmt::format("ssh ended with status {}", *status_)});
    return;
  }
  greeting_.push({piece.data(), got.bytes});
  const auto words = greeting_.next();
  handlers_.on_noise(greeting_.take_noise());
  if (!words) return listen();
  if (after_told_)
    return fail_with({Errc::cannot_reach, "push this udtcat to the far side", "it goes on without having read it"});
  if (const auto* missing = std::get_if<MissingLine>(&*words)) return on_missing(*missing);
  if (const auto* other = std::get_if<OtherVersionLine>(&*words))
    return fail_with(
        {Errc::parameters_refused, "start the far end",
         fmt::format("the udtcat there speaks version {} of the command protocol, this one 1: install the same "
                     "there, or name another by --remote-udtcat",
                     other->version)});
  handlers_.on_connect(std::get<ConnectLine>(*words));
}

void Bootstrap::on_missing(const MissingLine& line) {
  if (!push_)
    return fail_with({Errc::cannot_reach, "start the far end",
                      "no udtcat in $PATH there, or where --remote-udtcat says (" + line.system +
                          "): install it, name it by --remote-udtcat PATH, or let --push copy this one there"});
  if (line.system != push_->system)
    return fail_with({Errc::cannot_reach, "push this udtcat to the far side",
                      fmt::format("it runs on {}, there is {}: install udtcat there", push_->system, line.system)});
  if (std::exchange(pushed_, true))
    return fail_with({Errc::cannot_reach, "push this udtcat to the far side", "it was asked for a second time"});
  auto program = read_program(push_->path);
  if (!program) return fail_with(std::move(program.error()));
  core::log().info("no udtcat there: pushing this one, {} bytes", program->size());
  tell_far_side(std::move(*program), [] {});
  listen();
}

void Bootstrap::tell_far_side(std::vector<std::byte> bytes, std::function<void()> then) {
  told_ = std::move(bytes);
  after_told_ = std::move(then);
  write_rest(told_);
}

void Bootstrap::write_rest(std::span<const std::byte> rest) {
  if (rest.empty()) return std::exchange(after_told_, nullptr)();
  ssh_stream_->async_write_some(rest, lifetime_.guard([this, rest](std::error_code error, std::size_t bytes) {
    if (!error) write_rest(rest.subspan(bytes));  // else ssh has ended, which is heard of otherwise
  }));
}

Status Bootstrap::fall_back(const ControlMessage& request, bool reads_input, std::function<void(int)> on_end) {
  auto user =
      make_stdio_stream(io_, STDIN_FILENO, STDOUT_FILENO, {.read = reads_input, .write = true, .until_read = false});
  if (!user) return tl::unexpected(std::move(user.error()));
  user_stream_ = std::move(*user);
  on_fallback_end_ = std::move(on_end);
  tell_far_side(encode(request), lifetime_.guard([this] {
    // A write that fails shows in the command's own end; a read that fails is no end of its input.
    upwards_ = std::make_unique<Relay>(*user_stream_, *ssh_stream_, [this](const Relay::Outcome& outcome) {
      if (!outcome.read_error) return;
      core::log().error("local read from stdin failed: {}", outcome.read_error.message());
      give_up_relay();
    });
  }));
  downwards_ = std::make_unique<Relay>(*ssh_stream_, *user_stream_, [this](const Relay::Outcome& outcome) {
    if (outcome.write_error || outcome.read_error) give_up_relay();
    if (outcome.write_error && outcome.write_error != std::errc::broken_pipe)
      core::log().error("write stdout: {}", outcome.write_error.message());
    downwards_ended_ = true;
    finish_if_relayed();
  });
  return {};
}

void Bootstrap::give_up_relay() {
  relay_failed_ = true;
  ssh_->signal(SIGTERM);
}

void Bootstrap::on_ssh_end(const bridge::ChildEnd& end) {
  status_ = end.signal == 0 ? end.status : kSignalBase + end.signal;
  core::log().debug("ssh ended with status {}", *status_);
  if (downwards_) return finish_if_relayed();
  if (output_ended_)
    fail_with({Errc::cannot_reach, "start the far end", fmt::format("ssh ended with status {}", *status_)});
}

void Bootstrap::finish_if_relayed() {
  constexpr int kBytesLost = 255;  // spec: docs/spec/rsh.md §5: of what it was told or said, something is missing
  if (!downwards_ended_ || !status_ || !on_fallback_end_) return;
  std::exchange(on_fallback_end_, nullptr)(relay_failed_ ? kBytesLost : *status_);
}

void Bootstrap::fail_with(Error error) {
  if (handlers_.on_failure) std::exchange(handlers_.on_failure, nullptr)(error, status_);
}

}  // namespace udtcat::rsh
