// SPDX-License-Identifier: Apache-2.0
/// A product under a fault: two ends that can be struck, and what has to hold afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fault/report.hpp"
#include "fault/scenario.hpp"
#include "fault/stage.hpp"
#include "support/consumer.hpp"
#include "support/process.hpp"
#include "support/producer.hpp"

namespace udtcat::fault {

using Arguments = std::vector<std::string>;
using Content = std::vector<std::byte>;

/// One process that plays an end, with what it reads from and writes to. An end that is started again has one more.
struct Life {
  Arguments told;
  std::unique_ptr<test::Producer> producer;
  std::unique_ptr<test::Consumer> consumer;
  std::filesystem::path out_file;  ///< in place of the consumer
  std::unique_ptr<test::Process> process;
  bool killed = false;
};

/// Threads: confined.
class Case {
 public:
  /// number  which of the sessions that run at once
  Case(Stage& stage, const Scenario& scenario, unsigned number);
  virtual ~Case() = default;
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  void start();
  /// Called again and again while the run lasts.
  virtual void tick() {}
  /// Whether everything that ends by itself has ended, but for ends that are stopped.
  [[nodiscard]] virtual bool over();
  /// Bytes that have come out, of both directions; where that is not seen, what the path has carried.
  [[nodiscard]] virtual std::uint64_t progress() const;

  virtual void send_signal(Side side, int signal);
  void restart(Side side);
  /// Ends what only a signal ends, and says what did not end.
  void finish(Report& report);
  /// Everything has ended.
  void check(Report& report);

 protected:
  /// The command line of an end; empty where somebody else starts it.
  [[nodiscard]] virtual Arguments arguments(Side side) = 0;
  /// Whether it goes on until it is told to end.
  [[nodiscard]] virtual bool serves(Side side) const { return side == Side::far; }
  [[nodiscard]] virtual bool documented(Side side, int status) const;
  /// Ties a life's descriptors to their other ends; /dev/null where nothing is said.
  virtual void tie(Side, Life&, test::Command&) {}
  /// Waits for what processes have left behind.
  virtual void settle(Report&) {}
  virtual void check_promises(Report& report) = 0;

  [[nodiscard]] std::deque<Life>& lives(Side side) { return side == Side::near ? near_ : far_; }
  [[nodiscard]] const std::deque<Life>& lives(Side side) const { return side == Side::near ? near_ : far_; }
  /// How a life ended; -1: it has not.
  [[nodiscard]] static int status_of(const Life& life);
  [[nodiscard]] bool is_stopped(Side side) const { return stopped_[static_cast<std::size_t>(side)]; }

  /// How an end names the other: where it is dialled, and where it waits.
  [[nodiscard]] Arguments dialled() const;
  [[nodiscard]] Arguments waits() const;
  /// Options of an end that are about the session.
  [[nodiscard]] Arguments session(Side side) const;
  void limit_rate(Arguments& arguments) const;
  [[nodiscard]] Arguments environment() const;
  [[nodiscard]] std::string port() const { return std::to_string(9000 + number_); }
  [[nodiscard]] std::string place() const { return Path::kFarAddress + (":" + std::to_string(9500 + 20 * number_)); }
  /// Where what comes out of the run is written.
  [[nodiscard]] std::filesystem::path target_directory() const {
    return scenario_.fault == Fault::full_disk ? small_ : directory_;
  }
  void give_from(Life& life, test::Command& command, const Content& content) const;
  void take_into(Life& life, test::Command& command, bool on_full_disk) const;
  /// The digest of a life's stdout, when it has ended.
  [[nodiscard]] test::Digest taken(const Life& life, Report& report) const;
  /// A lie unless the bytes are a beginning of the content.
  void expect_beginning(const test::Digest& came, const Content& content, const std::string& what,
                        Report& report) const;
  /// A lie unless the file, where there is one, is all of the content.
  void expect_whole_file(const std::filesystem::path& file, const Content& content, Report& report) const;

  Stage& stage_;
  const Scenario scenario_;
  const unsigned number_;
  const std::filesystem::path directory_;
  const std::filesystem::path small_;
  const Content out_;  ///< what goes from the near end to the far one
  const Content back_;

 private:
  void launch(Side side);
  [[nodiscard]] std::unique_ptr<test::Process> started(Side side, test::Command command) const;

  std::unique_ptr<test::Process> place_;
  std::deque<Life> near_;
  std::deque<Life> far_;
  bool stopped_[2] = {false, false};
};

/// None where the program under test has no such product.
[[nodiscard]] std::unique_ptr<Case> make_case(Stage& stage, const Scenario& scenario, unsigned number);

[[nodiscard]] bool equals(const test::Digest& came, const Content& content);
void write_content(const std::filesystem::path& file, const Content& content);

}  // namespace udtcat::fault
