// SPDX-License-Identifier: Apache-2.0
/// src/gridftp/disk and IncomingFile against tests/models/gridftp_resume.pml: a file of two bytes, FILE.part and its
/// journal, and a process that is killed.
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "gridftp/disk/block_store.hpp"
#include "gridftp/mode_e/incoming_file.hpp"
#include "gridftp/support.hpp"
#include "models/runs.hpp"

namespace udtcat::models {
namespace {

using gridftp::BlockStore;
using gridftp::RestartJournal;

constexpr files::ByteRange kWhole{0, 2};

class ResumedTransfer {
 public:
  void take(const Step& step) {
    const auto found = kSteps.find(step.name);
    ASSERT_NE(found, kSteps.end()) << step.name;
    (this->*found->second)(step.end);
  }
  [[nodiscard]] bool shows(const std::string& wanted) const { return seen() == wanted; }
  /// As the model's OBSERVE has it.
  [[nodiscard]] std::string seen() const {
    std::string shown;
    for (std::uint64_t block = 0; block < kWhole.end; ++block) shown += has(block) ? '1' : '0';
    return shown + (folder_.has("file") ? test::text_of(folder_.read("file")) : "00");
  }

 private:
  [[nodiscard]] bool has(std::uint64_t block) const {
    return file_ && file_->arrived().missing_from({block, block + 1}).empty();
  }
  [[nodiscard]] RestartJournal journal() const { return store_->journal(std::string("source ") + source_).value(); }
  void expect(const Status& status) { ASSERT_TRUE(status) << status.error().message(); }
  /// A file of a transfer, to be put where a kill would have left it.
  [[nodiscard]] std::string path(const char* suffix) const { return folder_ / "file.part" + suffix; }

  void begins(std::size_t) {
    auto opened = BlockStore::open_to_write(files::FileLocation(folder_ / "file"));
    ASSERT_TRUE(opened) << opened.error().message();
    store_.emplace(std::move(*opened));
    source_ = version_;
    const auto have = journal().load().value_or(files::ByteRanges());
    if (have.empty()) {
      store_->clear();
      expect(store_->begin_journal());
    }
    file_.emplace(kWhole, have);
  }
  void block_comes(std::size_t block) {
    const std::array byte{static_cast<std::byte>(source_)};
    expect(file_->on_header(gridftp::data_header(block, 1)));
    expect(store_->write_at(block, byte));
    expect(file_->on_stored({block, block + 1}));
  }
  /// As save() does it, and what was there before is put back.
  void journal_is_written(std::size_t) {
    const std::string old = path(".have");
    const std::string next = path(".have.new");
    std::filesystem::copy_file(std::filesystem::exists(old) ? old : next, path(".old"));
    expect(journal().save(file_->arrived()));
    std::filesystem::rename(old, next);
    std::filesystem::rename(path(".old"), old);
  }
  void journal_is_renamed(std::size_t) { std::filesystem::rename(path(".have.new"), path(".have")); }
  void all_has_come(std::size_t) {
    expect(file_->on_header(gridftp::end_of_file(1)));
    expect(file_->on_end_of_data());
    ASSERT_TRUE(file_->ended());
    expect(file_->whole());
  }
  void all_is_on_the_disk(std::size_t) { expect(store_->complete(kWhole.end)); }
  void journal_is_removed(std::size_t) { journal().remove(); }
  void has_its_name(std::size_t) {
    expect(store_->put_in_place());
    is_killed(0);
  }
  void is_killed(std::size_t) {
    file_.reset();
    store_.reset();
    if (std::filesystem::exists(path("")) && !std::filesystem::exists(path(".have")) &&
        !std::filesystem::exists(path(".have.new")))
      std::filesystem::remove(path(""));  // without a journal it is a user's, and the next goes to another name
  }
  void source_changes(std::size_t) { version_ = '2'; }

  using Action = void (ResumedTransfer::*)(std::size_t);
  static const std::map<std::string, Action> kSteps;

  files::Folder folder_;
  std::optional<BlockStore> store_;
  std::optional<gridftp::IncomingFile> file_;
  char version_ = '1';
  char source_ = '1';
};

const std::map<std::string, ResumedTransfer::Action> ResumedTransfer::kSteps{
    {"begins", &ResumedTransfer::begins},
    {"block_comes", &ResumedTransfer::block_comes},
    {"journal_is_written", &ResumedTransfer::journal_is_written},
    {"journal_is_renamed", &ResumedTransfer::journal_is_renamed},
    {"all_has_come", &ResumedTransfer::all_has_come},
    {"all_is_on_the_disk", &ResumedTransfer::all_is_on_the_disk},
    {"journal_is_removed", &ResumedTransfer::journal_is_removed},
    {"has_its_name", &ResumedTransfer::has_its_name},
    {"is_killed", &ResumedTransfer::is_killed},
    {"source_changes", &ResumedTransfer::source_changes},
};

TEST(GridftpResume, DoesWhatItsModelDoes) {
  play_all_runs([](const Steps& run) -> std::string {
    ResumedTransfer transfer;
    return take_steps(run, transfer);
  });
}

}  // namespace
}  // namespace udtcat::models
