// SPDX-License-Identifier: Apache-2.0
/// src/trees, the receiver's end, against tests/models/tree_file.pml: one file, and its transfer begun again.
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "models/runs.hpp"
#include "trees/ends.hpp"

namespace udtcat::models {
namespace {

using trees::Bytes;

constexpr char kOther = '9';
constexpr char kFailed = '5';  // the model's FAILED

/// A file of one chunk and a byte, with what the model says of its two chunks in the last byte of each.
Bytes content_of(char first, char second) {
  Bytes content(trees::kChunkBytes + 1);
  content[trees::kChunkBytes - 1] = static_cast<std::byte>(first);
  content[trees::kChunkBytes] = static_cast<std::byte>(second);
  return content;
}
/// "00": there is none.
std::string chunks_in(const std::filesystem::path& file) {
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  if (none) return "00";
  std::string shown;
  std::ifstream bytes(file, std::ios::binary);
  for (const std::size_t at : {trees::kChunkBytes - 1, trees::kChunkBytes}) {
    bytes.seekg(static_cast<std::streamoff>(at));
    char chunk = '0';
    if (size > at) bytes.get(chunk);
    shown += chunk == '\0' ? '0' : chunk;
  }
  return shown;
}

class FileBegunAgain {
 public:
  FileBegunAgain() { std::filesystem::create_directory(in_); }

  void take(const Step& step) {
    answer_ = '0';
    is_to_fail_ = step.seen[0] == kFailed;
    const auto found = kSteps.find(step.name);
    ASSERT_NE(found, kSteps.end()) << step.name;
    (this->*found->second)();
  }
  /// Without an answer the receiver does something that it does not tell of.
  [[nodiscard]] bool shows(const std::string& wanted) const { return answer_ == '0' || seen() == wanted; }
  /// As the model's OBSERVE has it.
  [[nodiscard]] std::string seen() const { return answer_ + hashes_ + chunks_in(in_ + "/f") + chunks_in(part()); }

 private:
  /// none: an empty path
  [[nodiscard]] std::filesystem::path part() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(in_))
      if (entry.is_regular_file() && entry.path().string().find(trees::kPartsName) != std::string::npos)
        return entry.path();
    return {};
  }
  void say(const trees::Message& message) { end_->peer.say(message); }
  void finish(char answer) {
    const Status over = end_->over();
    end_.reset();
    answer_ = over ? answer : kFailed;
  }

  void starts() {
    announced_ = version_;
    next_ = 0;
    end_.emplace(in_);
    say(trees::file_at("f", trees::kChunkBytes + 1));
    hashes_ = "00";
    const bool has_basis = chunks_in(part())[0] != '0' || std::filesystem::exists(in_ + "/f");
    answer_ = has_basis ? '2' : '1';
    if (!has_basis) return static_cast<void>(end_->peer.hear<trees::Want>());
    const auto told = end_->peer.hear<trees::Hashes>();
    for (std::size_t i = 0; i < told.digests.size() && i < hashes_.size(); ++i)
      hashes_[i] = chunk_with(i, told.digests[i]);
  }
  static char chunk_with(std::size_t chunk, const files::Digest& digest) {
    for (const char each : {'1', '2', kOther})
      if (trees::chunk_of(0, content_of(each, each), chunk).digest == digest) return each;
    return '?';
  }
  void sends() {
    const Bytes content = content_of('1', announced_);
    say(trees::chunk_of(0, content, next_++));
  }
  void copies() { say(trees::CopyChunks{0, next_++, 1}); }
  void lies_of_chunk() {
    const Bytes content = content_of('1', announced_);
    trees::Data data = trees::chunk_of(0, content, next_);
    data.digest = trees::chunk_of(0, content_of(kOther, kOther), next_).digest;
    say(data);
    finish('?');
  }
  void drops() { say(trees::Dropped{0, "it has changed"}); }
  void is_done() {
    say(trees::FileDone{0, trees::root_of(content_of('1', announced_)), {}});
    if (is_to_fail_) finish('?');
  }
  void lies_of_file() {
    say(trees::FileDone{0, trees::root_of(content_of(kOther, kOther)), {}});
    say(trees::End{1});  // whoever believes the lie ends well
    finish('?');
  }
  void ends() {
    say(trees::End{1});
    finish(end_->peer.hear_out<trees::Refused>() ? '4' : '3');
  }
  void ends_early() {
    say(trees::End{1});
    finish('?');
  }
  void breaks() {
    end_->peer.end();
    finish('?');
  }
  void sender_changes() { version_ = '2'; }
  void name_is_replaced() {
    const Bytes content = content_of(kOther, kOther);
    std::ofstream(in_ + "/.new", std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    std::filesystem::rename(in_ + "/.new", in_ + "/f");
  }
  void part_is_damaged() {
    std::fstream file(part(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(trees::kChunkBytes - 1));
    file.put(kOther);
  }

  using Action = void (FileBegunAgain::*)();
  static const std::map<std::string, Action> kSteps;

  files::Folder folder_;
  const std::string in_ = folder_ / "in";
  std::optional<trees::ReceivingEnd> end_;
  char version_ = '1';
  char announced_ = '1';
  std::uint64_t next_ = 0;
  std::string hashes_ = "00";
  char answer_ = '0';
  bool is_to_fail_ = false;  // as the model has it
};

const std::map<std::string, FileBegunAgain::Action> FileBegunAgain::kSteps{
    {"starts", &FileBegunAgain::starts},
    {"sends", &FileBegunAgain::sends},
    {"copies", &FileBegunAgain::copies},
    {"copies_another", &FileBegunAgain::copies},
    {"lies_of_chunk", &FileBegunAgain::lies_of_chunk},
    {"drops", &FileBegunAgain::drops},
    {"is_done", &FileBegunAgain::is_done},
    {"lies_of_file", &FileBegunAgain::lies_of_file},
    {"ends", &FileBegunAgain::ends},
    {"ends_early", &FileBegunAgain::ends_early},
    {"breaks", &FileBegunAgain::breaks},
    {"sender_changes", &FileBegunAgain::sender_changes},
    {"name_is_replaced", &FileBegunAgain::name_is_replaced},
    {"part_is_damaged", &FileBegunAgain::part_is_damaged},
};

TEST(TreeFile, DoesWhatItsModelDoes) {
  play_all_runs([](const Steps& run) -> std::string {
    FileBegunAgain file;
    return take_steps(run, file);
  });
}

}  // namespace
}  // namespace udtcat::models
