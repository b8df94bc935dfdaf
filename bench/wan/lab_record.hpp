// SPDX-License-Identifier: Apache-2.0
/// Where a running lab can be found, and what a killed one has left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <udtcat/result.hpp>

#include "wan/network_namespace.hpp"
#include "wan/tun_device.hpp"

namespace udtcat::wan {

enum class End { near, far };
/// "near", "far".
[[nodiscard]] std::optional<End> parse_end(const std::string& text);

/// A file of JSON, named by the process.
struct LabRecord {
  pid_t pid = 0;
  std::uint64_t started = 0;  ///< tells the process from a later one of the same number; ticks, proc(5) "starttime"
  int user_fd = -1;  ///< the lab's descriptors of its namespaces, to be opened through /proc; -1: no user namespace
  int near_fd = -1;
  int far_fd = -1;
  NamespaceId near;
  NamespaceId far;

  [[nodiscard]] std::filesystem::path path() const;
  [[nodiscard]] std::filesystem::path control_path() const;
  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] bool is_running() const;
};

/// Only the user can read or write there. From the first call on it is the same, whoever the process becomes.
[[nodiscard]] Result<std::filesystem::path> record_directory();
[[nodiscard]] std::uint64_t start_time_of(pid_t pid);
[[nodiscard]] Status write_record(const LabRecord& record);
void remove_record(const LabRecord& record);

/// All that there are; of labs that were killed, too.
[[nodiscard]] Result<std::vector<LabRecord>> read_records();
/// Ends what lives in the namespaces of a lab that runs no more, and forgets it.
void clean_up_after(const LabRecord& record);
/// The running lab that is meant: the one of this number, or the only one.
[[nodiscard]] Result<LabRecord> find_lab(std::optional<pid_t> pid);

/// Enters an end of a running lab, and its user namespace if it has one. From a process with one thread.
[[nodiscard]] Status enter(const LabRecord& record, End end);

}  // namespace udtcat::wan
