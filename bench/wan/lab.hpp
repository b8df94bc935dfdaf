// SPDX-License-Identifier: Apache-2.0
/// A running lab: two ends, the link between them, and whatever runs there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <udtcat/result.hpp>

#include "wan/child.hpp"
#include "wan/control_socket.hpp"
#include "wan/forwarder.hpp"
#include "wan/lab_record.hpp"
#include "wan/link_settings.hpp"

namespace udtcat::wan {

struct LabOptions {
  std::vector<PathSettings> paths;  ///< one at least
  unsigned mtu_bytes = 1500;
  std::uint64_t seed = 1;
  std::vector<std::pair<std::string, std::string>> sysctls;  ///< for both ends
  std::vector<std::string> near_command;                     ///< empty: hold the lab until it is told to end
  std::string far_command;                                   ///< for sh -c; empty: none
  bool quiet = false;                                        ///< no summary at the end
};

/// One thread, one loop. Leaves nothing behind: see kill_processes_in(). Threads: confined to the thread that runs it.
class Lab {
 public:
  /// errors   Errc::out_of_resources: what the system refused; Errc::bad_argument
  [[nodiscard]] static Result<std::unique_ptr<Lab>> create(const LabOptions& options);
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  /// Until the near command ends, or a signal says so. Returns the exit status for the lab itself.
  [[nodiscard]] Result<int> run();

 private:
  Lab(LabOptions options, Descriptor user, NetworkNamespace near, NetworkNamespace far, TunDevice near_device,
      TunDevice far_device);
  [[nodiscard]] Status announce();
  [[nodiscard]] Status start_children();
  [[nodiscard]] std::vector<std::string> environment() const;
  [[nodiscard]] bool wait(TimePoint at);
  void take_signals();
  void on_signal(int signal, bool from_terminal);
  [[nodiscard]] std::chrono::nanoseconds wake_delay() const;
  void watch_children();
  [[nodiscard]] std::string answer(const std::string& words);
  [[nodiscard]] Status set_outage(bool on, const std::string& path);
  [[nodiscard]] Status set(const std::string& name, const std::string& value);
  [[nodiscard]] Status change_address(End end);
  [[nodiscard]] std::string stats() const;
  void report() const;

  LabOptions options_;
  Descriptor user_;
  NetworkNamespace near_;
  NetworkNamespace far_;
  Forwarder forwarder_;
  LabRecord record_;
  std::optional<ControlSocket> control_;
  Descriptor signals_;
  std::optional<Child> near_child_;
  std::optional<Child> far_child_;
  std::chrono::nanoseconds wake_delay_{0};  // how late the kernel wakes us, on average
  unsigned next_address_ = 3;               // the ends begin with 1 and 2
  std::optional<TimePoint> give_up_at_;     // what a signal asked to end has until then
  int interrupted_by_ = 0;
  std::optional<int> status_;  // what to exit with, once that is known
};

}  // namespace udtcat::wan
