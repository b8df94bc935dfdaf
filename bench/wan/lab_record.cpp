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

namespace udtcat::wan {
namespace {

namespace fs = std::filesystem;

/// Where the user's name for itself cannot change under the lab's feet: the real one, not that of a user namespace.
fs::path directory() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const char* given = std::getenv("WANLAB_DIR");
  if (given != nullptr && *given != '\0') return given;
  const fs::path base = runtime != nullptr && *runtime != '\0' ? fs::path(runtime) : fs::temp_directory_path();
  return base / ("wanlab-" + std::to_string(::getuid()));
}

std::optional<LabRecord> read_record(const fs::path& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  LabRecord record;
  record.pid = json.value("pid", 0);
  record.started = json.value("started", std::uint64_t{0});
  record.user_fd = json.value("user_fd", -1);
  record.near_fd = json.value("near_fd", -1);
  record.far_fd = json.value("far_fd", -1);
  record.near_inode = json.value("near_inode", std::uint64_t{0});
  record.far_inode = json.value("far_inode", std::uint64_t{0});
  if (record.pid <= 0) return std::nullopt;
  return record;
}

Status enter_descriptor(pid_t pid, int fd, int kind) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.valid() || ::setns(descriptor.fd(), kind) != 0)
    return fail(Errc::out_of_resources, "enter a namespace of the lab " + std::to_string(pid), errno_text(errno));
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
  const auto near = addresses_of(1);
  const auto far = addresses_of(2);
  return nlohmann::ordered_json{{"pid", pid},
                                {"started", started},
                                {"user_fd", user_fd},
                                {"near_fd", near_fd},
                                {"far_fd", far_fd},
                                {"near_inode", near_inode},
                                {"far_inode", far_inode},
                                {"near", {near.ipv4, near.ipv6}},
                                {"far", {far.ipv4, far.ipv6}}}
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
  return path;
}

std::uint64_t start_time_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  constexpr int kFieldsBetween =
      19;  // spec: proc(5): state is the third field and the first after the name, starttime the 22nd
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  std::uint64_t started = 0;
  fields >> started;
  return started;
}

Status write_record(const LabRecord& record) {
  std::ofstream file(record.path());
  file << record.to_json() << std::endl;
  if (!file) return fail(Errc::out_of_resources, "write " + record.path().string(), errno_text(errno));
  return {};
}

void remove_record(const LabRecord& record) {
  std::error_code error;  // what is gone already need not be removed
  fs::remove(record.path(), error);
  fs::remove(record.control_path(), error);
}

std::vector<LabRecord> read_records() {
  std::vector<LabRecord> records;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory(), error)) {
    if (entry.path().extension() != ".json") continue;
    if (const auto record = read_record(entry.path())) records.push_back(*record);
  }
  return records;
}

Result<LabRecord> find_lab(std::optional<pid_t> pid) {
  auto records = read_records();
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
