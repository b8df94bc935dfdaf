// SPDX-License-Identifier: Apache-2.0
#include "wan/lab_record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <tuple>

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

namespace fs = std::filesystem;

constexpr auto kDirectoryVariable = "WANLAB_DIR";

fs::path directory() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const char* given = std::getenv(kDirectoryVariable);
  if (given != nullptr && *given != '\0') return given;
  const fs::path base = runtime != nullptr && *runtime != '\0' ? fs::path(runtime) : fs::temp_directory_path();
  return base / ("wanlab-" + std::to_string(::getuid()));
}

std::optional<LabRecord> read_record(const fs::path& path) {
  std::ifstream file(path);
  try {
    const auto json = nlohmann::json::parse(file);
    LabRecord record;
    record.pid = json.at("pid");
    record.started = json.at("started");
    record.user_fd = json.at("user_fd");
    record.near_fd = json.at("near_fd");
    record.far_fd = json.at("far_fd");
    record.near = {json.at("near_inode"), json.at("near_cookie")};
    record.far = {json.at("far_inode"), json.at("far_cookie")};
    if (record.pid > 0) return record;
  } catch (const nlohmann::json::exception&) {
    // half written, or somebody else's: no lab's
  }
  return std::nullopt;
}

/// Where the lab's own programs are; nobody may enter the user namespace that he is in.
bool is_own_user_namespace(const Descriptor& other) {
  struct stat own {};
  struct stat theirs {};
  return ::stat("/proc/self/ns/user", &own) == 0 && ::fstat(other.fd(), &theirs) == 0 && own.st_ino == theirs.st_ino;
}

Status enter_descriptor(pid_t pid, int fd, int kind) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (kind == CLONE_NEWUSER && descriptor.valid() && is_own_user_namespace(descriptor)) return {};
  if (!descriptor.valid() || ::setns(descriptor.fd(), kind) != 0)
    return fail(Errc::out_of_resources, "enter a namespace of the lab " + std::to_string(pid), core::errno_text(errno));
  return {};
}

}  // namespace

std::optional<End> parse_end(const std::string& text) {
  if (text == "near") return End::near;
  if (text == "far") return End::far;
  return std::nullopt;
}

fs::path LabRecord::path() const { return directory() / (std::to_string(pid) + ".json"); }
fs::path LabRecord::control_path() const { return directory() / (std::to_string(pid) + ".sock"); }

std::string LabRecord::to_json() const {
  const auto near_addresses = addresses_of(1);
  const auto far_addresses = addresses_of(2);
  return nlohmann::ordered_json{{"pid", pid},
                                {"started", started},
                                {"user_fd", user_fd},
                                {"near_fd", near_fd},
                                {"far_fd", far_fd},
                                {"near_inode", near.inode},
                                {"near_cookie", near.cookie},
                                {"far_inode", far.inode},
                                {"far_cookie", far.cookie},
                                {"near", {near_addresses.ipv4, near_addresses.ipv6}},
                                {"far", {far_addresses.ipv4, far_addresses.ipv6}}}
      .dump();
}

bool LabRecord::is_running() const { return started != 0 && start_time_of(pid) == started; }

Result<fs::path> record_directory() {
  const fs::path path = directory();
  constexpr mode_t kOnlyOwner = 0700;
  ::mkdir(path.c_str(), kOnlyOwner);
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != ::geteuid() ||
      (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(Errc::out_of_resources, "use " + path.string(), "it is not a directory that only this user can write");
  ::setenv(kDirectoryVariable, path.c_str(), 1);
  return path;
}

std::uint64_t start_time_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  fields >> state;
  if (state == "Z" || state == "X") return 0;  // it has ended; nobody has asked how
  constexpr int kFieldsBetween = 18;           // spec: proc(5): the state is the third field, the start time the 22nd
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  std::uint64_t started = 0;
  fields >> started;
  return started;
}

Status write_record(const LabRecord& record) {
  std::ofstream file(record.path());
  file << record.to_json() << std::endl;
  if (!file) return fail(Errc::out_of_resources, "write " + record.path().string(), core::errno_text(errno));
  return {};
}

void remove_record(const LabRecord& record) {
  std::error_code error;  // what is gone already need not be removed
  fs::remove(record.path(), error);
  fs::remove(record.control_path(), error);
}

Result<std::vector<LabRecord>> read_records() {
  const auto directory = record_directory();
  if (!directory) return tl::unexpected(directory.error());
  std::vector<LabRecord> records;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(*directory, error)) {
    if (entry.path().extension() != ".json") continue;
    if (const auto record = read_record(entry.path())) records.push_back(*record);
  }
  return records;
}

void clean_up_after(const LabRecord& record) {
  for (const NamespaceId& id : {record.near, record.far}) kill_processes_in(id);
  remove_record(record);
}

Result<LabRecord> find_lab(std::optional<pid_t> pid) {
  auto all = read_records();
  if (!all) return tl::unexpected(all.error());
  std::vector<LabRecord> records = std::move(*all);
  std::erase_if(records, [&](const LabRecord& record) { return !record.is_running() || (pid && record.pid != *pid); });
  if (records.size() == 1) return records.front();
  const std::string which = pid ? "lab " + std::to_string(*pid) : "a lab";
  if (records.empty())
    return fail(Errc::bad_argument, "find " + which, "none is running; start one with wanlab --hold");
  return fail(Errc::bad_argument, "find " + which, "several are running; say which with --lab PID or $WANLAB_PID");
}

Status enter(const LabRecord& record, End end) {
  if (record.user_fd >= 0)
    if (auto entered = enter_descriptor(record.pid, record.user_fd, CLONE_NEWUSER); !entered) return entered;
  return enter_descriptor(record.pid, end == End::near ? record.near_fd : record.far_fd, CLONE_NEWNET);
}

}  // namespace udtcat::wan
