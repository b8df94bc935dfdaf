// SPDX-License-Identifier: Apache-2.0
#include "ssh/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <boost/asio/post.hpp>

#include <udtcat/bridges.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "ssh/bootstrap_script.hpp"

namespace udtcat::ssh {

namespace {

constexpr int kSignalBase = 128;  // spec: what a shell says of a child that a signal ended
constexpr std::size_t kMaxNoiseBytes = std::size_t{256} * 1024;  // guess: more than any login prints
constexpr std::chrono::milliseconds kTermGrace{300};             // guess: ssh ends at once, if it can
constexpr std::chrono::milliseconds kKillGrace{1'000};           // guess: a process that is not gone then hangs
constexpr std::chrono::milliseconds kDrain{300};                 // guess: from ssh's end to that of its pipes

/// The way to a program for that system: "Linux aarch64".
std::string cure_for(const std::string& system) {
  constexpr std::string_view kLinux = "Linux ";
  if (!system.starts_with(kLinux)) return "udtcat is for Linux";
  const std::string machine = system.substr(kLinux.size());
  return fmt::format(
      "put udtcat-static-{} beside udtcat here, of the package udtcat-static for that architecture, or install udtcat "
      "there",
      machine);
}

}  // namespace

Bootstrap::Bootstrap(boost::asio::io_context& io, std::vector<PushedProgram> push, Handlers handlers,
                     const LoginTimeouts& timeout)
    : io_(io),
      push_(std::move(push)),
      handlers_(std::move(handlers)),
      timeout_(timeout),
      login_timer_(io),
      end_timer_(io) {}

Bootstrap::~Bootstrap() = default;

Result<std::unique_ptr<Bootstrap>> Bootstrap::start(boost::asio::io_context& io, const bridge::ChildRequest& ssh,
                                                    std::vector<PushedProgram> push, Handlers handlers,
                                                    const LoginTimeouts& timeout) {
  std::unique_ptr<Bootstrap> bootstrap(new Bootstrap(io, std::move(push), std::move(handlers), timeout));
  Bootstrap& self = *bootstrap;
  UDTCAT_TRY(self.ssh_,
             bridge::ChildProcess::start(io, ssh, [&self](const bridge::ChildExit& end) { self.on_ssh_end(end); }));
  auto pipes = self.ssh_->take_pipes();
  UDTCAT_TRY(self.ssh_stream_, make_stdio_stream(io, pipes.output.release(), pipes.input.release(), {}));
  // A duplicate: our own last lines go to stderr after the stream has closed its descriptor.
  UDTCAT_TRY(self.errors_, SshStderr::start(io, pipes.errors.release(), ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0),
                                            [&self] { self.on_gone(); }));
  self.give_up_at(std::chrono::steady_clock::now() + timeout.unknown);
  if (timeout.is_logged_in) self.on_login();
  self.await_greeting();
  return bootstrap;
}

void Bootstrap::await_greeting() {
  ssh_stream_->async_wait_readable(lifetime_.guard([this] { read_greeting(); }));
}

void Bootstrap::read_greeting() {
  std::array<char, 4096> piece{};
  const auto got = ssh_stream_->read_some(std::as_writable_bytes(std::span(piece)));
  if (got.state == LocalStream::ReadState::would_block) return await_greeting();
  if (got.state != LocalStream::ReadState::data) return on_output_end();
  greeting_.push({piece.data(), got.bytes});
  for (;;) {
    const auto words = greeting_.next();
    if (state_ != State::greeting) handlers_.on_noise(greeting_.take_noise());
    if (!words) break;
    if (const auto* have = std::get_if<HaveLine>(&*words))
      handlers_.on_have(have->bytes);
    else if (std::holds_alternative<LoginLine>(*words))
      on_login();
    else if (std::holds_alternative<ScriptLine>(*words))
      on_script();
    else
      return on_line(*words);
  }
  if (state_ == State::greeting) {
    const auto now = std::chrono::steady_clock::now();
    if (greeting_.noise_bytes() > kMaxNoiseBytes)
      give_up_at(now);
    else if (logged_in_at_)
      give_up_at(std::min(now + timeout_.silence, *logged_in_at_ + timeout_.chatter));
  }
  if (state_ != State::unusable) await_greeting();
}

void Bootstrap::on_login() {
  if (state_ != State::greeting || logged_in_at_) return;
  logged_in_at_ = std::chrono::steady_clock::now();
  errors_->hold();
  give_up_at(*logged_in_at_ + timeout_.silence);
}

/// The script has begun: from now on ssh's stderr is shown to the user.
void Bootstrap::on_script() {
  if (state_ != State::greeting) return;
  state_ = State::scripted;
  handlers_.on_noise(greeting_.take_noise());
  errors_->pass();
  give_up_at(std::chrono::steady_clock::now() + timeout_.far_end);
}

void Bootstrap::give_up_at(std::chrono::steady_clock::time_point when) {
  login_timer_.expires_at(when);
  login_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    // A handler that is queued already is not cancelled by a later time.
    if (!cancelled && std::chrono::steady_clock::now() >= login_timer_.expiry()) give_up();
  }));
}

void Bootstrap::give_up() {
  const bool is_shell = state_ == State::scripted || state_ == State::unstarted;
  if (!is_shell && state_ != State::greeting && state_ != State::silent) return;
  state_ = State::unusable;
  errors_->drop();
  end(std::chrono::milliseconds(0), [this, is_shell] {
    if (status_) return handlers_.on_unusable_login({.is_shell = is_shell, .status = std::nullopt});
    fail_with({Errc::cannot_reach, "end ssh", "it lives on, though it was killed"});
  });
}

void Bootstrap::on_line(const GreetingReader::Line& words) {
  on_script();  // an older script prints no UDTCAT SCRIPT
  login_timer_.cancel();
  if (state_ == State::pushing)
    return fail_with({Errc::cannot_reach, "push this udtcat to the far side", "it went on before it had read it all"});
  if (const auto* missing = std::get_if<MissingLine>(&words)) return on_missing(*missing);
  if (const auto* unfit = std::get_if<UnusableLine>(&words))
    return on_absent(fmt::format("a udtcat that was pushed does not run there ({})", unfit->why),
                     "install the package udtcat-static here, which needs no libraries there, or install udtcat there");
  if (const auto* other = std::get_if<OtherVersionLine>(&words))
    return fail_with(
        {Errc::parameters_refused, "start the far end",
         fmt::format("the udtcat there speaks version {} of the command protocol, this one 1: install the same "
                     "there, or name another by --remote-udtcat",
                     other->version)});
  state_ = State::connected;
  handlers_.on_connect(std::get<ConnectLine>(words));
}

void Bootstrap::on_output_end() {
  if (state_ == State::unusable) return;
  const bool pushes = state_ == State::pushing || state_ == State::pushed;
  state_ = state_ == State::greeting ? State::silent : pushes ? State::lost : State::unstarted;
  if (state_ == State::lost) handlers_.on_noise(greeting_.take_noise(true));
  conclude_if_over();  // else at ssh's end: its own words and its status say why
}

void Bootstrap::on_missing(const MissingLine& line) {
  if (push_.empty())
    return on_absent(fmt::format("no udtcat there ({})", line.system),
                     "--push brings this one; or install it there, or name it by --remote-udtcat PATH");
  const auto fits =
      std::find_if(push_.begin(), push_.end(), [&](const PushedProgram& each) { return each.system == line.system; });
  if (fits == push_.end()) return on_absent("no udtcat there, and none here for " + line.system, cure_for(line.system));
  push(*fits);
}

void Bootstrap::on_absent(std::string what, std::string cure) {
  state_ = State::absent;
  handlers_.on_absent({Errc::cannot_reach, std::move(what), std::move(cure)});
}

void Bootstrap::push(const PushedProgram& fitting) {
  auto program = packed(fitting.bytes);
  if (!program) return fail_with(program.error());
  const std::size_t bytes = fitting.bytes.size();
  greeting_.expect_program(bytes);
  handlers_.on_push({.system = fitting.system, .packed_bytes = program->size(), .bytes = bytes});
  push_.clear();
  const std::string answer = push_answer(program->size());
  const auto words = std::as_bytes(std::span(answer));
  program->insert(program->begin(), words.begin(), words.end());
  state_ = State::pushing;
  send(std::move(*program), [this] {
    if (state_ == State::pushing) state_ = State::pushed;  // else ssh has said its last, and its end concludes
  });
  await_greeting();
}

void Bootstrap::send(std::vector<std::byte> bytes, std::function<void()> on_sent) {
  outgoing_ = std::move(bytes);
  on_sent_ = std::move(on_sent);
  send_rest(outgoing_);
}

void Bootstrap::send_rest(std::span<const std::byte> rest) {
  if (rest.empty()) return std::exchange(on_sent_, nullptr)();
  ssh_stream_->async_write_some(rest, lifetime_.guard([this, rest](std::error_code error, std::size_t bytes) {
    if (!error) send_rest(rest.subspan(bytes));  // else ssh has ended: on_ssh_end()
  }));
}

void Bootstrap::hand_over(std::vector<std::byte> words, std::function<void()> on_sent,
                          std::function<void(int)> on_end) {
  state_ = State::handed_over;
  on_end_ = std::move(on_end);
  send(std::move(words), std::move(on_sent));
  if (status_) boost::asio::post(io_, lifetime_.guard([this] { on_gone(); }));  // it had ended before
}

void Bootstrap::end(std::chrono::milliseconds grace, std::function<void()> on_ended) {
  on_ended_ = std::move(on_ended);
  if (status_) return boost::asio::post(io_, lifetime_.guard([this] { on_gone(); }));
  after(grace, [this] {
    ssh_->signal(SIGTERM);
    after(kTermGrace, [this] {
      ssh_->signal(SIGKILL);
      after(kKillGrace, [this] {
        if (on_ended_) std::exchange(on_ended_, nullptr)();
      });
    });
  });
}

void Bootstrap::after(std::chrono::milliseconds wait, std::function<void()> step) {
  end_timer_.expires_after(wait);
  end_timer_.async_wait(lifetime_.guard([step = std::move(step)](const boost::system::error_code& cancelled) {
    if (!cancelled) step();
  }));
}

void Bootstrap::on_ssh_end(const bridge::ChildExit& end) {
  was_killed_ = end.signal != 0;
  status_ = was_killed_ ? kSignalBase + end.signal : end.status;
  core::log().debug("ssh ended with status {}", *status_);
  after(kDrain, [this] {
    drained_ = true;
    errors_->expect_no_more();
    on_gone();
  });
  on_gone();
}

/// ssh has ended, or all of its stderr has come.
void Bootstrap::on_gone() {
  if (!status_) return;
  const bool reads =
      state_ == State::greeting || state_ == State::scripted || state_ == State::pushing || state_ == State::pushed;
  if (reads && drained_) return on_output_end();
  if (on_ended_ && errors_->is_over()) return std::exchange(on_ended_, nullptr)();
  conclude_if_over();
}

void Bootstrap::conclude_if_over() {
  if (!status_) return;
  // An ssh that a signal ended, as of ^C to our group, shows nothing of the login.
  if (state_ == State::silent && !was_killed_ && (logged_in_at_ || *status_ != kSshFailed)) {
    state_ = State::unusable;
    return handlers_.on_unusable_login({.is_shell = false, .status = status_});
  }
  if (state_ == State::silent) errors_->pass();
  if (!errors_->is_over()) return;
  if (state_ == State::unstarted && !was_killed_) {
    state_ = State::unusable;
    return handlers_.on_unusable_login({.is_shell = true, .status = status_});
  }
  if (state_ == State::silent || state_ == State::unstarted || state_ == State::lost) {
    handlers_.on_noise(greeting_.take_noise(true));
    return fail_with({Errc::cannot_reach, "start the far end", fmt::format("ssh ended with status {}", *status_)});
  }
  if (state_ == State::handed_over && on_end_) std::exchange(on_end_, nullptr)(*status_);
}

void Bootstrap::fail_with(const Error& error) {
  state_ = State::failed;
  handlers_.on_failure(error, status_);
}

}  // namespace udtcat::ssh
