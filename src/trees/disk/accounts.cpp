// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/accounts.hpp"

#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include "files/sha256.hpp"
#include "lib/core/byte_order.hpp"
#include "lib/core/mutex.hpp"
#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

namespace {

constexpr std::size_t kAccountBytes = 65'536;      // guess: a group with a thousand members
constexpr std::size_t kMaxNameBytesOfOwner = 255;  // spec: docs/spec/trees.md §1: text8
constexpr std::size_t kMaxRemembered = 65'536;     // guess: of each kind: then they are asked for again

/// Answers by their questions.
/// Threads: internally synchronised.
template <typename Question, typename Answer>
class LookupCache {
 public:
  template <typename Ask>
  Answer of(const Question& question, Ask ask) {
    const core::MutexLock lock(mutex_);
    const auto known = answers_.find(question);
    if (known != answers_.end()) return known->second;
    if (answers_.size() >= kMaxRemembered) answers_.clear();
    return answers_.emplace(question, ask()).first->second;
  }

 private:
  core::Mutex mutex_;
  std::map<Question, Answer> answers_ UDTCAT_GUARDED_BY(mutex_);
};

std::string short_enough(const char* name) {
  const std::string text = name;
  return text.size() <= kMaxNameBytesOfOwner ? text : std::string();
}

/// The answer about an account, or a group, which one of the calls of getpwnam(3) finds; about null where there is
/// none.
template <typename Account, typename Call, typename Key, typename Answer>
auto ask(Call call, Key key, Answer answer) {
  std::vector<char> memory(kAccountBytes);
  Account account{};
  Account* found = nullptr;
  return answer(call(key, &account, memory.data(), memory.size(), &found) == 0 ? found : nullptr);
}

std::string user_name(std::uint32_t uid) {
  static LookupCache<std::uint32_t, std::string> known;
  const auto name_of = [](const passwd* user) { return user != nullptr ? short_enough(user->pw_name) : std::string(); };
  return known.of(uid, [&] { return ask<passwd>(::getpwuid_r, uid, name_of); });
}

std::string group_name(std::uint32_t gid) {
  static LookupCache<std::uint32_t, std::string> known;
  const auto name_of = [](const group* all) { return all != nullptr ? short_enough(all->gr_name) : std::string(); };
  return known.of(gid, [&] { return ask<group>(::getgrgid_r, gid, name_of); });
}

std::optional<std::uint32_t> user_id(const std::string& name) {
  static LookupCache<std::string, std::optional<std::uint32_t>> known;
  const auto id_of = [](const passwd* user) { return user != nullptr ? std::optional(user->pw_uid) : std::nullopt; };
  return known.of(name, [&] { return ask<passwd>(::getpwnam_r, name.c_str(), id_of); });
}

std::optional<std::uint32_t> group_id(const std::string& name) {
  static LookupCache<std::string, std::optional<std::uint32_t>> known;
  const auto id_of = [](const group* all) { return all != nullptr ? std::optional(all->gr_gid) : std::nullopt; };
  return known.of(name, [&] { return ask<group>(::getgrnam_r, name.c_str(), id_of); });
}

}  // namespace

Owner owner_of(std::uint32_t uid, std::uint32_t gid) {
  return {.uid = uid, .gid = gid, .user = user_name(uid), .group = group_name(gid)};
}

Result<OwnerIds> ids_of(const Owner& owner) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();  // spec: chown(2): -1
  const auto uid = owner.user.empty() ? std::nullopt : user_id(owner.user);
  const auto gid = owner.group.empty() ? std::nullopt : group_id(owner.group);
  const OwnerIds ids{uid.value_or(owner.uid), gid.value_or(owner.gid)};
  if (ids.uid == kNone || ids.gid == kNone)
    return fail(Errc::local_write_failed, fmt::format("give a file to {}:{}", owner.uid, owner.gid),
                "there is no such number of a user or a group");
  return ids;
}

bool is_home(const struct stat& directory) {
  return ask<passwd>(::getpwuid_r, directory.st_uid, [&](const passwd* owner) {
    struct stat home {};
    return owner != nullptr && ::stat(owner->pw_dir, &home) == 0 && is_same_file(home, directory);
  });
}

std::uint64_t this_machine() {
  static const std::uint64_t machine = [] {
    std::ifstream file("/etc/machine-id");  // spec: machine-id(5); none: fingerprints tell fewer machines apart
    std::string text;
    std::getline(file, text);
    return core::load_be<std::uint64_t>(files::digest_of({std::as_bytes(std::span(text))}));
  }();
  return machine;
}

}  // namespace udtcat::trees
