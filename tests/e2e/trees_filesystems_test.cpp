// SPDX-License-Identifier: Apache-2.0
/// Trees that come to file systems of all kinds: content and names stand, what one does not keep is named once, and
/// nothing is sent twice.
#include <algorithm>
#include <iterator>

#include <gmock/gmock.h>

#include "e2e/support/mounted_trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::HasSubstr;

constexpr std::uint64_t kFileBytes = 200'000;

/// One name of each sort, with what a target may be unable to keep.
constexpr auto kSmallTree = R"(
  cd src
  head -c 200000 /dev/urandom >file; chmod 0640 file
  echo two >"second name"; ln "second name" "third name"
  echo attributes >attributed; setfattr -n user.text -v value attributed
  ln -s file link; mkfifo -m 0600 fifo; : >empty
  truncate -s 4M sparse; printf data | dd of=sparse bs=1 seek=2000000 conv=notrunc status=none
  echo group >setgid; chmod 2750 setgid
  mkdir -m 0750 sub; echo below >sub/inner
  touch -hd '2023-11-14 22:13:20.123456789' file link fifo empty sparse sub setgid
)";

/// Attributes that each is to keep; the times that one rounds are no loss.
std::vector<FileSystem> all_file_systems() {
  const std::string shared = "mkdir store && chmod 755 store";
  return {
      {"Ext4", image("64M", "mkfs.ext4 -qF")},
      {"Ext4WithSmallInodes", image("64M", "mkfs.ext4 -qF -I 128")},
      {"Xfs", image("300M", "mkfs.xfs -q")},
      {"XfsWithAProject",
       image("300M", "mkfs.xfs -q") + " && mkdir dst/src && xfs_io -c 'chproj 42' -c 'chattr +P' dst/src"},
      {"BtrfsWithASubvolume",
       image("128M", "mkfs.btrfs -q") + " && mkdir dst/src && btrfs -q subvolume create dst/src/sub >subvolume.log"},
      {"Tmpfs", "mount -t tmpfs none dst"},
      {"TmpfsBelow",
       "mkdir -p dst/src/sub && mount -t tmpfs none dst && mkdir -p dst/src/sub && "
       "mount -t tmpfs none dst/src/sub"},
      {"BindMountBelow",
       "mount -t tmpfs none dst && mkdir -p dst/src/sub dst/other && mount --bind dst/other dst/src/sub"},
      {"Ramfs", "mount -t ramfs none dst", {}, {"user."}},
      {"Overlay",
       "mount -t tmpfs none dst && mkdir dst/l dst/u dst/w && "
       "mount -t overlay -o lowerdir=dst/l,upperdir=dst/u,workdir=dst/w none dst"},
      {"BindfsOfNobody", shared, {"bindfs", "-f", "--force-user=nobody", "store", "dst"}},
      {"BindfsOfOneMode", shared, {"bindfs", "-f", "--perms=0777", "store", "dst"}, {"mode"}},
      {"BindfsWithoutChmod", shared, {"bindfs", "-f", "--chmod-ignore", "store", "dst"}, {"mode"}},
      {"Unionfs", "mkdir upper lower", {"unionfs", "-f", "-o", "cow", "upper=RW:lower=RO", "dst"}, {"user."}},
      {"Exfat",
       "truncate -s 64M image && mkfs.exfat image >exfat.log",
       {"bash", "-c",
        "loop=$(losetup -f --show image) && exec 9<$loop && losetup -d $loop && exec mount.exfat-fuse -d $loop dst"},
       {"mode", "user.", "hard link", "make dst/src/link", "make dst/src/fifo"},
       false},
      {"NtfsOfOneMode",
       "truncate -s 64M image && mkfs.ntfs -qF image >ntfs.log",
       {"lowntfs-3g", "-o", "no_detach", "image", "dst"},
       {"mode"}},
      {"Ntfs",
       "truncate -s 64M image && mkfs.ntfs -qF image >ntfs.log",
       {"lowntfs-3g", "-o", "no_detach,permissions", "image", "dst"}},
  };
}

class TreesFileSystems : public MountedTreesTest, public testing::WithParamInterface<FileSystem> {
 protected:
  void SetUp() override {
    MountedTreesTest::SetUp();
    if (IsSkipped()) return;
    script(kSmallTree);
    mount(GetParam());
  }
  /// All that is kept, said and returned is as the table has it.
  void expect_as_promised(const Outcome& outcome) const {
    const int status = GetParam().lost.empty() ? kSuccess : kReadOrWriteFailed;
    EXPECT_EQ(outcome.sender, status) << outcome.said_by_sender;
    EXPECT_EQ(outcome.receiver, status) << outcome.said_by_receiver;
    for (const std::string& words : GetParam().lost)
      for (const std::string* said : {&outcome.said_by_sender, &outcome.said_by_receiver})
        EXPECT_THAT(*said, HasSubstr(words));
    for (const std::string* said : {&outcome.said_by_sender, &outcome.said_by_receiver})
      EXPECT_LE(std::count(said->begin(), said->end(), '\n'), 10) << "each loss is said once:\n" << *said;
  }
  void expect_content_and_names() const {
    for (const char* name :
         {"file", "second name", "third name", "attributed", "empty", "sparse", "setgid", "sub/inner"}) {
      EXPECT_TRUE(fs::is_regular_file(here("dst/src") / name)) << name;
      EXPECT_TRUE(read_file(here("dst/src") / name) == read_file(here("src") / name)) << name;
    }
    EXPECT_FALSE(has_parts());
    if (!GetParam().has_links) return;
    EXPECT_EQ(fs::read_symlink(here("dst/src/link")), "file");
    EXPECT_TRUE(fs::is_fifo(here("dst/src/fifo")));
    // Some count the names of a file and give each another number.
    EXPECT_TRUE(fs::equivalent(here("dst/src/second name"), here("dst/src/third name")) ||
                fs::hard_link_count(here("dst/src/third name")) == 2);
  }
};

TEST_P(TreesFileSystems, KeepContentAndNamesAndReceiveNothingTwice) {
  expect_as_promised(transfer_src());
  expect_content_and_names();

  const Outcome again = transfer_src();
  expect_as_promised(again);
  expect_content_and_names();
  EXPECT_LT(again.bytes_sent, kFileBytes / 10);

  change_byte(here("src/file"), 1000);
  const Outcome changed = transfer_src();
  expect_as_promised(changed);
  expect_content_and_names();
  EXPECT_GT(changed.bytes_sent, kFileBytes);
  EXPECT_LT(changed.bytes_sent, 2 * kFileBytes);
}

INSTANTIATE_TEST_SUITE_P(Of, TreesFileSystems, testing::ValuesIn(all_file_systems()),
                         [](const auto& chosen) { return chosen.param.name; });

/// File systems that take nothing, or not all.
class TreesDiskErrors : public MountedTreesTest {
 protected:
  void SetUp() override {
    MountedTreesTest::SetUp();
    if (IsSkipped()) return;
    home_.write("src/a", "fits");
    write_random(here("src/big"), 1, 24 * kMiB);
  }
  /// The cause is said in the system's own words, what is whole stands, and nothing stands that is not.
  void expect_no_big_file(const std::string& cause) const {
    for (int run = 0; run < 2; ++run) {
      expect_refused(transfer_src(), cause);
      EXPECT_FALSE(fs::exists(here("dst/src/big")));
    }
  }
};

TEST_F(TreesDiskErrors, FullDiskIsReported) {
  mount({"", image("20M", "mkfs.ext4 -qF")});
  expect_no_big_file("space left on device");
}

/// Has the disk of an ext4 at `place` less space for what files have in them than the file system knows of.
std::string thin_volume(const std::string& place) {
  return "truncate -s 64M sparse && mkfs.ext4 -qFb 4096 -O ^has_journal,^uninit_bg,^metadata_csum,^flex_bg sparse && "
         "mkdir volume && mount -t tmpfs -o size=80M none volume && cp --sparse=never sparse volume/image && "
         "fallocate -p -o 24M -l 39M volume/image && "
         "mount -o remount,size=$(($(du -k volume/image | cut -f1) + 1024))k volume && mount -o loop volume/image " +
         place;
}

/// A write-back that fails leaves the pages as if they were on the disk, and is told of once.
TEST_F(TreesDiskErrors, PartOfWhichTheDiskHasNotAllIsNoPart) {
  mount({"", thin_volume("dst")});
  expect_refused(transfer_src(), "space left on device");
  script("mount -o remount,size=100M volume");
  const Outcome outcome = transfer_src();
  EXPECT_EQ(outcome.sender, kSuccess) << outcome.said_by_sender;
  EXPECT_EQ(outcome.receiver, kSuccess) << outcome.said_by_receiver;
  script("umount dst && mount -o loop volume/image dst && cmp src/big dst/src/big");
}

TEST_F(TreesDiskErrors, WriteBackThatFailsBelowAnOverlayIsReported) {
  mount({"", "mkdir lower disk && " + thin_volume("disk") +
                 " && mkdir disk/upper disk/work && "
                 "mount -t overlay -o lowerdir=lower,upperdir=disk/upper,workdir=disk/work none dst"});
  expect_refused(transfer_src(), "space left on device");
  EXPECT_FALSE(fs::exists(here("dst/src/big")));
}

TEST_F(TreesDiskErrors, ReadOnlyDiskIsReported) {
  mount({"", image("64M", "mkfs.ext4 -qF", "loop,ro")});
  expect_no_big_file("read-only file system");
}

TEST_F(TreesDiskErrors, DiskWithoutInodesIsReported) {
  script("for i in {1..40}; do echo $i >src/file$i; done");
  mount({"", image("20M", "mkfs.ext4 -qF -N 16") +
                 " && mkdir dst/taken && for ((i = 0;; ++i)); do mkdir dst/taken/$i 2>full.log || break; done && "
                 "rmdir dst/taken/{0..9}"});
  for (int run = 0; run < 2; ++run) {
    expect_refused(transfer_src(), "space left on device");
    for (const auto& entry : fs::directory_iterator(here("dst/src")))
      EXPECT_TRUE(read_file(entry.path()) == read_file(here("src") / entry.path().filename())) << entry.path();
  }
}

TEST_F(TreesDiskErrors, QuotaIsReported) {
  mount({"", image("256M", "mkfs.btrfs -q") +
                 " && btrfs quota enable dst && btrfs -q subvolume create dst/src && btrfs qgroup limit 10M dst/src"});
  expect_no_big_file("quota exceeded");
}

TEST_F(TreesDiskErrors, ErrorAtCloseIsReported) {
  mount({"", "mkdir store", {UDTCAT_SOURCE_DIR "/tests/e2e/support/store_with_quota", here("store"), "dst"}});
  expect_no_big_file("quota exceeded");
  EXPECT_EQ(read_file(here("dst/src/a")), "fits");
}

/// Names that are one at the target: README and readme.
class TreesOnACaseInsensitiveDisk : public MountedTreesTest {
 protected:
  void SetUp() override {
    MountedTreesTest::SetUp();
    if (IsSkipped()) return;
    mount({"",
           "truncate -s 64M image && mkfs.ntfs -qF image >ntfs.log",
           {"lowntfs-3g", "-o", "no_detach,permissions,ignore_case", "image", "dst"}});
  }
  void expect_one_stands(const std::vector<std::string>& names) const {
    for (int run = 0; run < 2; ++run) {
      const Outcome outcome = transfer_src();
      EXPECT_EQ(outcome.sender, kReadOrWriteFailed) << outcome.said_by_sender;
      EXPECT_EQ(outcome.receiver, kReadOrWriteFailed) << outcome.said_by_receiver;
      // This file system shows all names in small letters.
      std::vector<std::string> stand;
      for (const auto& entry : fs::recursive_directory_iterator(here("dst/src")))
        if (entry.is_regular_file()) stand.push_back(read_file(entry.path()));
      ASSERT_EQ(stand.size(), 1U);
      EXPECT_THAT(names, Contains(stand[0])) << "one name, with its own content";
      EXPECT_THAT(outcome.said_by_sender, HasSubstr("the same here"));
    }
  }
};

TEST_F(TreesOnACaseInsensitiveDisk, FirstFileStaysAndTheOtherIsReported) {
  home_.write("src/README", "README");
  home_.write("src/readme", "readme");
  expect_one_stands({"README", "readme"});
}

TEST_F(TreesOnACaseInsensitiveDisk, FileInADirectoryOfAnotherCaseIsReported) {
  for (const char* directory : {"src/A", "src/a"}) fs::create_directory(here(directory));
  home_.write("src/A/x", "A/x");
  home_.write("src/a/x", "a/x");
  expect_one_stands({"A/x", "a/x"});
}

TEST_F(TreesOnACaseInsensitiveDisk, LinkAndFileDoNotReplaceEachOther) {
  home_.write("src/readme", "readme");
  fs::create_symlink("elsewhere", here("src/README"));
  const Outcome outcome = transfer_src();
  EXPECT_EQ(outcome.sender, kReadOrWriteFailed) << outcome.said_by_sender;
  EXPECT_EQ(outcome.receiver, kReadOrWriteFailed) << outcome.said_by_receiver;
  const fs::path stands = fs::directory_iterator(here("dst/src"))->path();
  if (fs::is_symlink(stands))
    EXPECT_EQ(fs::read_symlink(stands), "elsewhere");
  else
    EXPECT_EQ(read_file(stands), "readme");
}

}  // namespace
}  // namespace udtcat::test::e2e
