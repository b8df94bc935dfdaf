// SPDX-License-Identifier: Apache-2.0
#include "ssh/pushed_program.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::ssh {

namespace {

constexpr const char* kSelf = "/proc/self/exe";

/// Whether this user or root has put this file beside the program; in /tmp anybody may put one, or a link to another.
bool is_trusted(const std::filesystem::path& program) {
  constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
  struct stat it {
  }, self{};
  if (::lstat(program.c_str(), &it) != 0 || !S_ISREG(it.st_mode) || ::stat(kSelf, &self) != 0) return false;
  const bool ours = it.st_uid == 0 || it.st_uid == ::geteuid() || it.st_uid == self.st_uid;
  return ours && (it.st_mode & kOthersMayWrite) == 0;
}

/// The machine of a static program, by its file's name; none: it is no such program. A shell reads the result.
std::optional<std::string> machine_of(const std::filesystem::path& program) {
  constexpr std::string_view kPrefix = "udtcat-static-";
  constexpr std::string_view kMachine = "abcdefghijklmnopqrstuvwxyz0123456789_";  // spec: uname -m of any Linux
  std::string name = program.filename().string();
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.erase(0, kPrefix.size());
  if (name.empty() || name.find_first_not_of(kMachine) != std::string::npos || !is_trusted(program))
    return std::nullopt;
  return name;
}

/// By machine: the static programs in a directory, which need no libraries.
std::map<std::string, std::filesystem::path> static_programs_in(const std::filesystem::path& directory) {
  std::map<std::string, std::filesystem::path> found;
  std::error_code unreadable;
  for (auto at = std::filesystem::directory_iterator(directory, unreadable);
       at != std::filesystem::directory_iterator() && !unreadable; at.increment(unreadable))
    if (const auto machine = machine_of(at->path())) found.emplace(*machine, at->path());
  return found;
}

std::string own_machine() {
  utsname system{};
  std::ignore = ::uname(&system);  // fails for no valid argument
  return system.machine;
}

/// The hash in hexadecimal, as sha256sum(1) prints it; none where OpenSSL fails.
std::optional<std::string> sha256_hex(std::span<const std::byte> bytes) {
  constexpr std::size_t kDigestBytes = 32;  // spec: FIPS 180-4
  std::array<unsigned char, kDigestBytes> digest{};
  std::size_t length = 0;
  if (EVP_Q_digest(nullptr, "SHA256", nullptr, bytes.data(), bytes.size(), digest.data(), &length) != 1)
    return std::nullopt;
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

/// A structure of the file at `offset`; none where the file ends before it does.
template <typename Structure>
std::optional<Structure> read_at(std::span<const std::byte> file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(Structure)) return std::nullopt;
  Structure read{};
  std::memcpy(&read, file.data() + offset, sizeof read);
  return read;
}

/// The end of what the program's segments and their table take; none: they do not lie within the file.
std::optional<std::uint64_t> end_of_segments(std::span<const std::byte> file, const Elf64_Ehdr& header) {
  std::uint64_t end = sizeof header;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const std::uint64_t offset = header.e_phoff + i * sizeof(Elf64_Phdr);
    const auto segment = read_at<Elf64_Phdr>(file, offset);
    if (!segment || segment->p_offset > file.size() || segment->p_filesz > file.size() - segment->p_offset)
      return std::nullopt;
    end = std::max({end, offset + sizeof(Elf64_Phdr), segment->p_offset + segment->p_filesz});
  }
  return end;
}

}  // namespace

void strip(std::vector<std::byte>& program) {
  auto header = read_at<Elf64_Ehdr>(program, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_phentsize != sizeof(Elf64_Phdr))
    return;
  const auto end = end_of_segments(program, *header);
  if (!end) return;
  program.resize(*end);
  header->e_shoff = header->e_shnum = header->e_shstrndx = 0;  // the table of sections lay behind
  std::memcpy(program.data(), &*header, sizeof *header);
}

Result<std::vector<std::byte>> packed(std::span<const std::byte> bytes) {
  constexpr int kGzip = 16 + MAX_WBITS;  // spec: zlib.h, deflateInit2()
  constexpr int kMemoryLevel = 8;        // spec: zlib.h, its default
  const auto failed = [] { return fail(Errc::out_of_resources, "pack the program"); };
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    return failed();
  std::vector<std::byte> result(deflateBound(&stream, bytes.size()));
  // SAFETY: zlib reads and writes bytes; it does not write to its input, which its interface has without const.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int status = deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  std::ignore = deflateEnd(&stream);  // of a stream that is at its end it cannot fail
  if (status != Z_STREAM_END) return failed();
  return result;
}

Result<PushedProgram> program_at(const std::filesystem::path& path, const std::string& machine) {
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  std::ifstream file(path, std::ios::binary);
  PushedProgram program{.system = "Linux " + machine, .bytes = std::vector<std::byte>(unknown ? 0 : bytes)};
  // SAFETY: any object may be written to as chars.
  auto* const into = reinterpret_cast<char*>(program.bytes.data());
  if (program.bytes.empty() || !file.read(into, static_cast<std::streamsize>(bytes)))
    return fail(Errc::local_read_failed, "read " + path.string() + " in order to push it");
  strip(program.bytes);
  auto digest = sha256_hex(program.bytes);
  if (!digest) return fail(Errc::cipher_failed, "compute a digest");
  program.sha256_hex = std::move(*digest);
  return program;
}

Result<std::vector<PushedProgram>> programs_beside(const std::filesystem::path& self) {
  std::error_code unknown;
  auto paths = static_programs_in(std::filesystem::read_symlink(self, unknown).parent_path());
  if (paths.emplace(own_machine(), self).second)
    core::log().debug("no static udtcat of ours beside this one: what is pushed needs its libraries there");
  std::vector<PushedProgram> programs;
  for (const auto& [machine, path] : paths) {
    auto program = program_at(path, machine);
    if (!program && machine == own_machine()) return tl::unexpected(std::move(program.error()));
    if (!program)
      core::log().debug("{}", program.error().message());
    else
      programs.push_back(std::move(*program));
  }
  return programs;
}

Result<std::vector<PushedProgram>> own_programs() { return programs_beside(kSelf); }

}  // namespace udtcat::ssh
