// SPDX-License-Identifier: Apache-2.0
#include "ssh/pushed_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <elf.h>
#include <gmock/gmock.h>
#include <sys/utsname.h>

#include "support/scale.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::ssh {
namespace {

constexpr const char* kSelf = "/proc/self/exe";  // with debug information, as it is built

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(PushedPrograms, AreStripped) {
  const auto program = program_at(kSelf, "x").value();
  constexpr std::size_t kTenthsLeft = test::kSanitized ? 9 : 5;  // what sanitizers add is code
  EXPECT_LT(program.bytes.size(), std::filesystem::file_size(kSelf) / 10 * kTenthsLeft);
  EXPECT_EQ(program.sha256_hex.size(), 64U);
  EXPECT_EQ(program.system, "Linux x");
}

TEST(PushedPrograms, RunStripped) {
  const test::TempDir folder;
  const auto program = program_at(kSelf, "x").value();
  const std::string text(reinterpret_cast<const char*>(program.bytes.data()), program.bytes.size());
  const auto file = folder.write("program", text, 0700);
  EXPECT_EQ(std::system((std::string(file) + " --gtest_list_tests >/dev/null").c_str()), 0);
}

TEST(PushedPrograms, ThatAreScriptsStayAsTheyAre) {
  auto script = bytes_of("#!/bin/sh\necho hi\n");
  const auto before = script;
  strip(script);
  EXPECT_EQ(script, before);
}

TEST(PushedPrograms, ThatCannotBeReadAreNamed) {
  EXPECT_THAT(program_at("/nonesuch", "x").error().message(), testing::HasSubstr("/nonesuch"));
}

TEST(PushedPrograms, AreThoseBesideThisOneByMachine) {
  const test::TempDir folder;
  utsname here{};
  ASSERT_EQ(::uname(&here), 0);
  const std::string own = std::string("Linux ") + here.machine;
  const auto self = folder.path() / "self";
  folder.write("udtcat", "this program");
  std::filesystem::create_symlink(folder.path() / "udtcat", self);
  const auto found = [&] {
    std::map<std::string, std::vector<std::byte>> by_system;
    const auto programs = programs_beside(self);
    for (const auto& each : programs.value()) by_system[each.system] = each.bytes;
    return by_system;
  };
  EXPECT_THAT(found(), testing::ElementsAre(testing::Pair(own, bytes_of("this program"))));
  folder.write("udtcat-static-other", "of another");
  folder.write("udtcat-static-a b", "odd");
  const auto writable = folder.write("udtcat-static-writable", "by anybody");
  std::filesystem::permissions(writable, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "udtcat-static-link");
  EXPECT_THAT(found(), testing::UnorderedElementsAre(testing::Pair(own, bytes_of("this program")),
                                                     testing::Pair("Linux other", bytes_of("of another"))));
  folder.write(std::string("udtcat-static-") + here.machine, "the static one");
  EXPECT_EQ(found()[own], bytes_of("the static one"));
}

TEST(Stripping, IsTotalAtEveryTruncationAndChange) {
  Elf64_Ehdr header{};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  const Elf64_Phdr segment{.p_type = PT_LOAD,
                           .p_flags = 0,
                           .p_offset = 0,
                           .p_vaddr = 0,
                           .p_paddr = 0,
                           .p_filesz = 150,
                           .p_memsz = 150,
                           .p_align = 1};
  std::vector<std::byte> file(200);
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, &segment, sizeof segment);
  auto stripped = file;
  strip(stripped);
  EXPECT_EQ(stripped.size(), 150U);
  for (std::size_t length = 0; length < file.size(); ++length) {
    std::vector<std::byte> part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    strip(part);
    EXPECT_LE(part.size(), length);
  }
  for (std::size_t at = 0; at < sizeof header + sizeof segment; ++at) {
    auto changed = file;
    changed[at] ^= std::byte{0xff};
    strip(changed);
    EXPECT_LE(changed.size(), file.size());
  }
}

TEST(PackedBytes, AreWhatGzipUnpacks) {
  const test::TempDir folder;
  const std::string text(1'000'000, 'x');
  const auto small = packed(bytes_of(text)).value();
  EXPECT_LT(small.size(), 10'000U);
  folder.write("text", text);
  folder.write("packed.gz", std::string(reinterpret_cast<const char*>(small.data()), small.size()));
  const std::string in = "cd " + folder.path().string() + " && ";
  EXPECT_EQ(std::system((in + "gzip -dc packed.gz | cmp - text").c_str()), 0);
}

}  // namespace
}  // namespace udtcat::ssh
