// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/child_process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/asio/post.hpp>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::bridge {

namespace {

constexpr std::chrono::milliseconds kGroupPollInterval(100);  // guess: a process id is used again after seconds

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0)
    return fail(Errc::out_of_resources, "make a pipe", core::errno_text(last_error().value()));
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  for (const int end : ends) std::ignore = ::fcntl(end, F_SETFD, FD_CLOEXEC);  // fails for no open descriptor
  return pipe;
}

std::vector<std::string> environment_with(const std::vector<EnvironmentVariable>& own) {
  std::vector<std::string> entries;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (std::ranges::none_of(own, [&](const EnvironmentVariable& each) { return each.name == name; }))
      entries.emplace_back(text);
  }
  for (const EnvironmentVariable& each : own)
    if (each.value) entries.push_back(each.name + "=" + *each.value);
  return entries;
}

std::vector<char*> argv_of(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words)
    argv.push_back(const_cast<char*>(word.c_str()));  // exec() promises not to write
  argv.push_back(nullptr);
  return argv;
}

/// The arguments of exec(), made before a fork: behind it no memory may be asked for.
struct ExecVectors {
  explicit ExecVectors(const ChildRequest& request)
      : environment(environment_with(request.variables)), argv(argv_of(request.words)), envp(argv_of(environment)) {}
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
};

/// Everything here is allowed between fork() and exec() of a process with threads: no memory is asked for.
int run_program(const char* program, const ExecVectors& vectors, const std::optional<std::uint64_t>& core_limit_bytes) {
  if (core_limit_bytes) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_CORE, &limit) == 0) {
      limit.rlim_cur = *core_limit_bytes;
      std::ignore = ::setrlimit(RLIMIT_CORE, &limit);  // fails only where the hard limit has been lowered since
    }
  }
  // exec() resets handlers; signals that are ignored or blocked would stay so.
  std::ignore = ::signal(SIGPIPE, SIG_DFL);
  std::ignore = ::signal(SIGXFSZ, SIG_DFL);
  std::ignore = ::signal(SIGUSR1, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  std::ignore = ::sigprocmask(SIG_SETMASK, &none, nullptr);
  close_on_exec_above(STDERR_FILENO);
  std::ignore = ::execvpe(program, vectors.argv.data(), vectors.envp.data());
  return errno;
}

/// The child's side of the fork; writes the errno that stopped it to `error_pipe`.
[[noreturn]] void be_child(const ChildRequest& request, const ExecVectors& vectors, const std::array<int, 3>& standard,
                           int error_pipe, const ChildWatchdog* watchdog) {
  constexpr int kNotStarted = 127;  // spec: what a shell exits with
  int error = 0;
  if (watchdog != nullptr) {
    std::ignore = ::setsid();  // fails where this leads a group already, which serves as well
    error = watchdog->watch_my_group();
  }
  if (request.ends_with_us) std::ignore = ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // fails for no valid signal
  for (int number = STDIN_FILENO; number <= STDERR_FILENO && error == 0; ++number) {
    const int from = standard[static_cast<std::size_t>(number)];
    if (from >= 0 && ::dup2(from, number) < 0) error = errno;
  }
  if (error == 0) error = run_program(request.program.c_str(), vectors, request.core_limit_bytes);
  std::ignore = ::write(error_pipe, &error, sizeof error);
  ::_exit(kNotStarted);
}

/// Waits until the child runs its program.  returns  the errno that kept it from doing so, or 0
int wait_for_exec(int from) {
  int error = 0;
  for (;;) {
    const ssize_t got = ::read(from, &error, sizeof error);
    if (got < 0 && errno == EINTR) continue;
    return got == sizeof error ? error : 0;
  }
}

tl::unexpected<Error> not_run(const std::string& program, int error) {
  return fail(Errc::local_connect_failed, "run " + program, core::errno_text(error));
}

/// Whether a member of the group is alive, or /proc cannot tell; kill(2) finds dead ones, too, that are not reaped.
/// spec: proc(5), "stat"
bool has_living_member(pid_t group) {
  std::error_code error;
  bool lacks_descriptors = false;
  for (std::filesystem::directory_iterator process("/proc", error), none; !error && process != none;
       process.increment(error)) {
    std::string stat;
    std::ifstream file(process->path() / "stat");
    lacks_descriptors |= !file.is_open() && (errno == EMFILE || errno == ENFILE);
    std::getline(file, stat);
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream behind_name(stat.substr(name_end + 1));
    char state = 0;
    pid_t parent = 0;
    pid_t its_group = 0;
    if (behind_name >> state >> parent >> its_group && its_group == group && state != 'Z' && state != 'X') return true;
  }
  return error || lacks_descriptors;  // /proc could not be read: kill(2) has found a member, alive or not
}

}  // namespace

int exec_program(const ChildRequest& request) {
  const ExecVectors vectors(request);
  const itimerval none{};
  std::ignore = ::setitimer(ITIMER_REAL, &none, nullptr);  // an alarm of ours would outlive us
  return run_program(request.program.c_str(), vectors, request.core_limit_bytes);
}

ChildProcess::ChildProcess(boost::asio::io_context& io, bool leads_group, EndHandler on_end)
    : leads_group_(leads_group), io_(io), on_end_(std::move(on_end)), child_ends_(io, SIGCHLD), group_timer_(io) {}

Result<std::unique_ptr<ChildProcess>> ChildProcess::start(boost::asio::io_context& io, const ChildRequest& request,
                                                          EndHandler on_end) {
  std::unique_ptr<ChildProcess> child(new ChildProcess(io, request.own_session, std::move(on_end)));
  UDTCAT_TRY(Pipe input, make_pipe());
  UDTCAT_TRY(Pipe output, request.pipe_stdout ? make_pipe() : Result<Pipe>(Pipe{}));
  UDTCAT_TRY(Pipe errors, request.pipe_stderr ? make_pipe() : Result<Pipe>(Pipe{}));
  UDTCAT_TRY(Pipe exec_error, make_pipe());
  if (request.own_session) {
    UDTCAT_TRY(child->watchdog_, ChildWatchdog::start(input.write));
  }
  const ExecVectors vectors(request);
  const std::array<int, 3> standard{input.read.number(), output.write.number(), errors.write.number()};
  child->pid_ = ::fork();
  if (child->pid_ == 0) be_child(request, vectors, standard, exec_error.write.number(), child->watchdog_.get());
  if (child->pid_ < 0) return not_run(request.program, errno);
  std::ignore = exec_error.write.close();
  if (const int error = wait_for_exec(exec_error.read.number()); error != 0) {
    std::ignore = ::waitpid(child->pid_, nullptr, 0);
    child->watchdog_.reset();
    return not_run(request.program, error);
  }
  child->pipes_ = {std::move(input.write), std::move(output.read), std::move(errors.read)};
  child->wait_for_end();
  return child;
}

ChildProcess::~ChildProcess() {
  if (watchdog_) signal(SIGKILL);
}

void ChildProcess::end_input() {
  if (watchdog_) watchdog_->end_input();
}

void ChildProcess::wait_for_end() {
  child_ends_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled, int) {
    if (!cancelled) reap();
  }));
}

void ChildProcess::reap() {
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0) return wait_for_end();  // the signal was for another child
  if (ended < 0)
    end_ = {.status = 127};  // unknown: another part of the program has reaped it
  else if (WIFSIGNALED(status))
    end_ = {.signal = WTERMSIG(status), .dumped_core = WCOREDUMP(status) != 0};
  else
    end_ = {.status = WEXITSTATUS(status)};
  watch_group();
  if (when_ended_) boost::asio::post(io_, std::exchange(when_ended_, nullptr));
  const EndHandler handler = std::move(on_end_);
  handler(*end_);
}

/// Polls for the group's end, so that it is noticed before the number of an empty group is used again.
void ChildProcess::watch_group() {
  if (!leads_group_) return;
  if (!group_lives()) {
    group_is_gone_ = true;
    return watchdog_.reset();
  }
  group_timer_.expires_after(kGroupPollInterval);
  group_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) watch_group();
  }));
}

void ChildProcess::when_ended(std::function<void()> handler) {
  if (end_) return boost::asio::post(io_, std::move(handler));
  when_ended_ = std::move(handler);
}

void ChildProcess::signal(int number) const {
  if (end_ || pid_ < 0) return;  // its number may be that of another process by now
  std::ignore = ::kill(leads_group_ ? -pid_ : pid_, number);
}

bool ChildProcess::group_lives() const {
  return leads_group_ && !group_is_gone_ && (::kill(-pid_, 0) == 0 || errno == EPERM);
}

bool ChildProcess::group_is_out_of_reach() const { return group_lives() && ::kill(-pid_, 0) != 0 && errno == EPERM; }

bool ChildProcess::group_outlives_a_kill() const {
  return group_is_out_of_reach() || (group_lives() && has_living_member(pid_));
}

bool ChildProcess::incomplete_input_has_reader() const {
  return group_lives() && watchdog_ && watchdog_->incomplete_input_has_reader();
}

void ChildProcess::signal_group(int number) const {
  if (group_lives()) std::ignore = ::kill(-pid_, number);  // the last member may have ended meanwhile
}

}  // namespace udtcat::bridge
