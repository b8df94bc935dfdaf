// SPDX-License-Identifier: Apache-2.0
#include "fault/case.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <sstream>
#include <tuple>

#include "support/scale.hpp"

namespace udtcat::fault {

namespace {

using namespace std::chrono_literals;

constexpr int kKilled = 128 + SIGKILL;
constexpr auto kEndsWithin = test::patience(8s);  // spec: udtcat(1), SIGNALS: a second; the rest is a loaded machine's
constexpr auto kStdoutEndsWithin = test::patience(5s);  // guess: the kernel closes it with the process
constexpr std::uint64_t kSessionsApart = 1000;          // seeds of contents that are unlike

Content content_of(const Scenario& scenario, unsigned number, std::uint64_t way, std::uint64_t bytes) {
  return test::random_bytes(bytes, scenario.seed * 2 + way + number * kSessionsApart);
}

std::string unique_name(const Scenario& scenario, unsigned number) {
  return std::to_string(scenario.seed) + "-" + std::to_string(number);
}

}  // namespace

Case::Case(Stage& stage, const Scenario& scenario, unsigned number)
    : stage_(stage),
      scenario_(scenario),
      number_(number),
      directory_(stage.directory(unique_name(scenario, number))),
      small_(stage.small_directory(unique_name(scenario, number))),
      out_(content_of(scenario, number, 0, scenario.bytes_out)),
      back_(content_of(scenario, number, 1, scenario.bytes_back)) {}

void Case::start() {
  if (scenario_.via_place) place_ = started(Side::far, {.argv = {"meet", "-l", place(), "--public", "--pairs", "8"}});
  launch(Side::far);
  launch(Side::near);
}

std::unique_ptr<test::Process> Case::started(Side side, test::Command command) const {
  command.argv.insert(command.argv.begin(), stage_.subject().program);
  command.working_directory = directory_;
  command.network_namespace = stage_.path().host(side).file;
  return std::make_unique<test::Process>(std::move(command));
}

void Case::launch(Side side) {
  Arguments words = arguments(side);
  if (words.empty()) return;
  Life& life = lives(side).emplace_back();
  test::Command command{.argv = std::move(words), .environment = environment()};
  life.told = command.argv;
  tie(side, life, command);
  life.process = started(side, std::move(command));
}

bool Case::over() {
  const auto ended = [&](Side side) {
    return serves(side) || is_stopped(side) ||
           std::ranges::all_of(lives(side), [](Life& life) { return !life.process->running(); });
  };
  return ended(Side::near) && ended(Side::far);
}

std::uint64_t Case::progress() const {
  std::uint64_t bytes = 0;
  bool seen = false;
  for (const auto* side : {&near_, &far_})
    for (const Life& life : *side) {
      if (!life.consumer) continue;
      seen = true;
      bytes += life.consumer->bytes_read();
    }
  return seen ? bytes : stage_.path().bytes();
}

void Case::send_signal(Side side, int signal) {
  Life& life = lives(side).back();
  life.process->send_signal(signal);
  life.killed = life.killed || signal == SIGKILL;
  if (signal == SIGSTOP || signal == SIGCONT) stopped_[static_cast<std::size_t>(side)] = signal == SIGSTOP;
}

void Case::restart(Side side) {
  send_signal(side, SIGKILL);
  if (!lives(side).empty()) std::ignore = lives(side).back().process->wait(kEndsWithin);
  launch(side);
}

void Case::finish(Report& report) {
  for (const Side side : {Side::near, Side::far})
    for (Life& life : lives(side)) {
      if (serves(side)) life.process->send_signal(SIGTERM);
      if (life.process->wait(kEndsWithin)) continue;
      report.hangs.push_back(std::string("the ") + (side == Side::near ? "near" : "far") + " end did not end");
      life.killed = true;
      life.process->send_signal(SIGKILL);
      std::ignore = life.process->wait(kEndsWithin);
    }
  settle(report);
}

void Case::check(Report& report) {
  for (const Side side : {Side::near, Side::far})
    for (Life& life : lives(side)) {
      const int status = status_of(life);
      std::ostringstream text;
      text << (side == Side::near ? "near" : "far") << " end " << number_ << ":";
      for (const std::string& word : life.told) text << ' ' << word;
      text << "\n  status " << status << "\n";
      for (const std::string& line : life.process->error_lines()) text << "  | " << line << '\n';
      report.ends += text.str();
      if (side == Side::near && status == 0) report.whole = true;
      const bool expected = documented(side, status) || (life.killed && status == kKilled);
      if (!expected || life.process->wait(0ms)->core_dumped)
        report.odd.push_back(std::string("status ") + std::to_string(status) + " of the " +
                             (side == Side::near ? "near" : "far") + " end");
    }
  check_promises(report);
}

bool Case::documented(Side, int status) const {
  constexpr std::array kStatuses{0, 3,   4,   5,  6,
                                 7, 129, 130, 143};  // spec: udtcat(1), EXIT STATUS; 2 would be our fault
  return std::ranges::count(kStatuses, status) > 0;
}

int Case::status_of(const Life& life) {
  const auto ending = life.process->wait(0ms);
  return ending ? ending->status : -1;
}

Arguments Case::dialled() const {
  return scenario_.via_place ? Arguments{"--via", place()} : Arguments{Path::kFarAddress, port()};
}

Arguments Case::waits() const {
  return scenario_.via_place ? Arguments{"-l", "--via", place()} : Arguments{"-l", Path::kFarAddress + (":" + port())};
}

Arguments Case::session(Side side) const {
  Arguments options{"--idle-timeout", "3s",
                    "--protect",      std::string(name_of(scenario_.level)),
                    "--flows",        std::to_string(scenario_.flows)};
  if (scenario_.by_tcp) options.insert(options.end(), {"--transport", "tcp"});
  if (scenario_.key_pairs) {
    const KeyPairs& pairs = stage_.subject().pairs;
    const Arguments own = side == Side::near
                              ? Arguments{"-k", pairs.directory / "near", "--peer", pairs.far_public}
                              : Arguments{"-k", pairs.directory / "far", "--peers", pairs.directory / "peers"};
    options.insert(options.end(), own.begin(), own.end());
  }
  if (side == Side::near) options.insert(options.end(), {"--connect-timeout", "4s"});
  return options;
}

void Case::limit_rate(Arguments& arguments) const {
  if (scenario_.rate_bits_per_second > 0)
    arguments.insert(arguments.end(), {"--rate", std::to_string(scenario_.rate_bits_per_second)});
}

Arguments Case::environment() const {
  Arguments variables{"HOME=" + directory_.string(), "TMPDIR=" + directory_.string()};
  if (scenario_.level != Level::kClear && !scenario_.key_pairs)
    variables.push_back("UDTCAT_KEY=" + stage_.subject().key);
  return variables;
}

void Case::give_from(Life& life, test::Command& command, const Content& content) const {
  const std::uint64_t seed = scenario_.seed * 2 + (&content == &back_ ? 1 : 0) + number_ * kSessionsApart;
  life.producer = std::make_unique<test::Producer>(seed, content.size(), test::Producer::Afterwards::end);
  command.in = life.producer->take_stdin();
}

void Case::take_into(Life& life, test::Command& command, bool on_full_disk) const {
  if (on_full_disk) {
    life.out_file = small_ / "out";
    command.out = test::open_for_writing(life.out_file);
    return;
  }
  life.consumer = std::make_unique<test::Consumer>();
  command.out = life.consumer->take_stdout();
}

test::Digest Case::taken(const Life& life, Report& report) const {
  if (!life.out_file.empty()) return test::digest_of_prefix(life.out_file, UINT64_MAX);
  if (!life.consumer) return {};
  if (!life.consumer->wait_for_end(kStdoutEndsWithin)) {
    report.hangs.emplace_back("a stdout outlived its process");
    return {};
  }
  return life.consumer->digest();
}

void Case::expect_beginning(const test::Digest& came, const Content& content, const std::string& what,
                            Report& report) const {
  if (came.bytes <= content.size() && came == test::digest_of(std::span(content).first(came.bytes))) return;
  report.lies.push_back(what + ": " + std::to_string(came.bytes) + " bytes came that were not sent so");
}

void Case::expect_whole_file(const std::filesystem::path& file, const Content& content, Report& report) const {
  if (!std::filesystem::exists(file)) return;
  const auto came = test::digest_of_prefix(file, UINT64_MAX);
  if (!equals(came, content))
    report.lies.push_back("published " + file.filename().string() + " with " + std::to_string(came.bytes) + " of " +
                          std::to_string(content.size()) + " bytes, or others");
}

bool equals(const test::Digest& came, const Content& content) { return came == test::digest_of(content); }

void write_content(const std::filesystem::path& file, const Content& content) {
  std::ofstream stream(file, std::ios::binary);
  // SAFETY: any byte is a char.
  stream.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  stream.flush();
  if (!stream) test::die("write " + file.string());
}

}  // namespace udtcat::fault
