// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/accounts.hpp"

#include <cerrno>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <tl/expected.hpp>

#include "files/sha256.hpp"
#include "lib/core/byte_order.hpp"
#include "lib/core/mutex.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

namespace {

constexpr std::size_t kAccountBytes = 65'536;        // guess: a group with a thousand members
constexpr std::size_t kMaxAccountBytes = 16 * kMiB;  // guess: one with a million
constexpr std::size_t kMaxNameBytesOfOwner = 255;    // spec: docs/spec/trees.md §1: text8
constexpr std::size_t kMaxRemembered = 65'536;       // guess: of each kind: then they are asked for again

/// An answer, or the errno where nobody could be asked.
template <typename Answer>
using LookupResult = tl::expected<Answer, int>;

/// Answers by their questions; a failure is no answer.
/// Threads: internally synchronised.
template <typename Question, typename Answer>
class LookupCache {
 public:
  template <typename Ask>
  LookupResult<Answer> of(const Question& question, Ask ask) {
    const core::MutexLock lock(mutex_);
    const auto known = answers_.find(question);
    if (known != answers_.end()) return known->second;
    LookupResult<Answer> answer = ask();
    if (!answer) return answer;
    if (answers_.size() >= kMaxRemembered) answers_.clear();
    answers_.emplace(question, *answer);
    return answer;
  }

 private:
  core::Mutex mutex_;
  std::map<Question, Answer> answers_ UDTCAT_GUARDED_BY(mutex_);
};

std::string short_enough(const char* name) {
  const std::string text = name;
  return text.size() <= kMaxNameBytesOfOwner ? text : std::string();
}

/// Whether such an error of getpwnam(3) does not say that there is no such account: others may.
bool is_failure(int error) {
  return error == EINTR || error == EIO || error == EMFILE || error == ENFILE || error == ENOMEM || error == ERANGE;
}

/// The answer about an account, or a group, which one of the calls of getpwnam(3) finds; about null where there is
/// none.
template <typename Account, typename Call, typename Key, typename Answer>
auto ask(Call call, Key key, Answer answer) -> LookupResult<decltype(answer(nullptr))> {
  std::vector<char> memory(kAccountBytes);
  for (;;) {
    Account account{};
    Account* found = nullptr;
    const int error = call(key, &account, memory.data(), memory.size(), &found);
    if (!is_failure(error)) return answer(error == 0 ? found : nullptr);
    if (error == EINTR) continue;
    if (error != ERANGE || memory.size() >= kMaxAccountBytes) return tl::unexpected(error);
    memory.resize(2 * memory.size());
  }
}

LookupResult<std::string> user_name(std::uint32_t uid) {
  static LookupCache<std::uint32_t, std::string> known;
  const auto name_of = [](const passwd* user) { return user != nullptr ? short_enough(user->pw_name) : std::string(); };
  return known.of(uid, [&] { return ask<passwd>(::getpwuid_r, uid, name_of); });
}

LookupResult<std::string> group_name(std::uint32_t gid) {
  static LookupCache<std::uint32_t, std::string> known;
  const auto name_of = [](const group* all) { return all != nullptr ? short_enough(all->gr_name) : std::string(); };
  return known.of(gid, [&] { return ask<group>(::getgrgid_r, gid, name_of); });
}

LookupResult<std::optional<std::uint32_t>> user_id(const std::string& name) {
  static LookupCache<std::string, std::optional<std::uint32_t>> known;
  const auto id_of = [](const passwd* user) { return user != nullptr ? std::optional(user->pw_uid) : std::nullopt; };
  return known.of(name, [&] { return ask<passwd>(::getpwnam_r, name.c_str(), id_of); });
}

LookupResult<std::optional<std::uint32_t>> group_id(const std::string& name) {
  static LookupCache<std::string, std::optional<std::uint32_t>> known;
  const auto id_of = [](const group* all) { return all != nullptr ? std::optional(all->gr_gid) : std::nullopt; };
  return known.of(name, [&] { return ask<group>(::getgrnam_r, name.c_str(), id_of); });
}

/// The id of a name, where it is known here.
LookupResult<std::uint32_t> id_or(std::uint32_t number, const std::string& name,
                                  LookupResult<std::optional<std::uint32_t>> (*id_of)(const std::string&)) {
  if (name.empty()) return number;
  const auto id = id_of(name);
  if (!id) return tl::unexpected(id.error());
  return id->value_or(number);
}

}  // namespace

Result<Owner> owner_of(std::uint32_t uid, std::uint32_t gid) {
  const auto user = user_name(uid);
  const auto group = group_name(gid);
  if (!user || !group)
    return core::fail_by_errno(Errc::local_read_failed, fmt::format("look up the names of {}:{}", uid, gid),
                               user ? group.error() : user.error());
  return Owner{.uid = uid, .gid = gid, .user = *user, .group = *group};
}

Result<OwnerIds> ids_of(const Owner& owner) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();  // spec: chown(2): -1
  const LookupResult<std::uint32_t> uid = id_or(owner.uid, owner.user, user_id);
  const LookupResult<std::uint32_t> gid = id_or(owner.gid, owner.group, group_id);
  if (!uid || !gid)
    return core::fail_by_errno(Errc::local_write_failed, fmt::format("look up {}:{}", owner.user, owner.group),
                               uid ? gid.error() : uid.error());
  const OwnerIds ids{*uid, *gid};
  if (ids.uid == kNone || ids.gid == kNone)
    return fail(Errc::local_write_failed, fmt::format("give a file to {}:{}", owner.uid, owner.gid),
                "there is no such number of a user or a group");
  return ids;
}

bool is_home(const struct stat& directory) {
  const auto is_its_home = [&](const passwd* owner) {
    struct stat home {};
    return owner != nullptr && ::stat(owner->pw_dir, &home) == 0 && is_same_file(home, directory);
  };
  return ask<passwd>(::getpwuid_r, directory.st_uid, is_its_home).value_or(true);
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
