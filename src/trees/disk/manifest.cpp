// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/manifest.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::trees {

namespace {

constexpr std::string_view kManifestFirstLine = "udtcat manifest 1";   // spec: docs/spec/manifest.md
constexpr const char* kNextManifestSuffix = ".new";                    // guess: of what takes a manifest's place
constexpr std::size_t kWriteBytes = 65'536;                            // guess: some hundred lines a write
constexpr std::size_t kReadBytes = 4 * ManifestReader::kMaxLineBytes;  // guess: three of four reads find whole lines

std::span<const std::byte> bytes_of_text(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

struct ManifestWriter::State {
  [[nodiscard]] Status write_out() {
    hash.add(bytes_of_text(gathered));
    UDTCAT_CHECK(files::write_whole(file, bytes_of_text(gathered), next.shown()));
    gathered.clear();
    return {};
  }
  [[nodiscard]] Status add(const ManifestEntry& entry) {
    if (!is_manifest_entry(entry))
      return fail(Errc::bad_argument, "write " + entry.path + " to the manifest " + location.shown(),
                  "its name or one of its numbers is beyond the limits");
    gathered += encode_line(entry) + '\n';
    ++entries;
    if (gathered.size() < kWriteBytes) return {};
    return write_out();
  }
  [[nodiscard]] Status finish() {
    UDTCAT_CHECK(write_out());
    const std::string end = encode_line(ManifestEnd{entries, hash.digest()}) + '\n';
    UDTCAT_CHECK(files::write_whole(file, bytes_of_text(end), next.shown()));
    if (::fdatasync(file.number()) != 0) return core::fail_by_errno(Errc::local_write_failed, "write " + next.shown());
    if (std::exchange(is_nameless, false)) {
      UDTCAT_CHECK(next.take_name(file));
      // Some file systems, as btrfs, keep nothing of a file that had no name.
      if (::fdatasync(file.number()) != 0)
        return core::fail_by_errno(Errc::local_write_failed, "write " + next.shown());
    }
    UDTCAT_CHECK(next.rename_to(location));
    return location.sync_name();
  }
  /// The result of `call`, or the error of an earlier one.
  template <typename Call>
  [[nodiscard]] Status unless_failed(const Call& call) {
    if (failed) return tl::unexpected(*failed);
    Status done = call();
    if (!done) failed = done.error();
    return done;
  }

  files::FileLocation location;
  files::FileLocation next;
  bridge::Descriptor file;
  bool is_nameless = false;  // until all is written, so that a process that is killed leaves nothing
  std::string gathered;
  std::uint64_t entries = 0;
  files::Sha256 hash{};
  bool is_finished = false;
  std::optional<Error> failed{};
};

void ManifestWriter::Discard::operator()(State* state) const {
  const std::unique_ptr<State> owned(state);
  if (!owned->is_finished && !owned->is_nameless) owned->next.remove();
}

Result<ManifestWriter> ManifestWriter::create(const files::FileLocation& location) {
  if (location.is_special() || location.is_directory())
    return fail(Errc::local_write_failed, "write the manifest " + location.shown(),
                "there is something that is no file");
  // Of this process and this manifest alone: others may write one of that name meanwhile.
  static std::atomic<unsigned> number{0};
  files::FileLocation next = location.with_suffix(fmt::format(".{}-{}{}", ::getpid(), ++number, kNextManifestSuffix));
  auto file = next.make_nameless_file(O_WRONLY);
  const bool is_nameless = file.has_value();
  if (!is_nameless) {
    UDTCAT_TRY(file, next.open(O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, Errc::local_write_failed));
  }
  auto state = std::make_unique<State>(State{.location = location,
                                             .next = std::move(next),
                                             .file = std::move(*file),
                                             .is_nameless = is_nameless,
                                             .gathered = std::string(kManifestFirstLine) + '\n'});
  return ManifestWriter(std::unique_ptr<State, Discard>(state.release()));
}

Status ManifestWriter::add(const ManifestEntry& entry) {
  UDTCAT_INVARIANT(!state_->is_finished, "nothing is added behind the end");
  return state_->unless_failed([&] { return state_->add(entry); });
}

Status ManifestWriter::finish() {
  UDTCAT_INVARIANT(!state_->is_finished, "a manifest is finished once");
  UDTCAT_CHECK(state_->unless_failed([&] { return state_->finish(); }));
  state_->is_finished = true;
  return {};
}

Result<ManifestReader> ManifestReader::open(const files::FileLocation& location) {
  UDTCAT_TRY(auto file, location.open(O_RDONLY, Errc::bad_argument));
  // A pipe's reads have to wait for its writer.
  if (const int flags = ::fcntl(file.number(), F_GETFL); flags >= 0)
    std::ignore = ::fcntl(file.number(), F_SETFL, flags & ~O_NONBLOCK);  // then the first read says so
  return of(std::move(file), location.shown());
}

Result<ManifestReader> ManifestReader::of(bridge::Descriptor file, std::string shown) {
  ManifestReader reader(std::move(file), std::move(shown));
  reader.arrived_.resize(kReadBytes);
  UDTCAT_TRY(const auto line, reader.next_line());
  if (line != kManifestFirstLine)
    return fail(Errc::local_read_failed, "read " + reader.shown_, "it is not a manifest of udtcat, version 1");
  return reader;
}

tl::unexpected<Error> ManifestReader::wrong_line(const std::string& cause) const {
  return fail(Errc::local_read_failed, fmt::format("read {}, line {}", shown_, line_number_), cause);
}

Result<std::optional<std::string_view>> ManifestReader::next_line() {
  ++line_number_;
  for (;;) {
    const std::string_view rest(arrived_.data() + next_, filled_ - next_);
    const auto length = rest.find('\n');
    if (std::min(length, rest.size()) > kMaxLineBytes)
      return wrong_line(fmt::format("it is longer than {} KiB", kMaxLineBytes / kKiB));
    if (length != std::string_view::npos) {
      next_ += length + 1;
      return rest.substr(0, length);
    }
    std::copy(rest.begin(), rest.end(), arrived_.begin());
    next_ = 0;
    filled_ = rest.size();
    const auto room = std::as_writable_bytes(std::span(arrived_).subspan(filled_));
    UDTCAT_TRY(const std::size_t got, files::read_whole(file_, room, shown_));
    filled_ += got;
    if (got == 0 && filled_ > 0) return wrong_line("it is cut off");
    if (got == 0) return std::nullopt;
  }
}

Status ManifestReader::check_end(std::string_view line) {
  auto end = parse_end_line(line);
  if (!end) return wrong_line(end.error().cause);
  if (end->entries != entries_)
    return wrong_line(fmt::format("there are {} entries before it, and it says {}", entries_, end->entries));
  if (end->digest != hash_.digest()) return wrong_line("the lines before it are not those that it was written for");
  UDTCAT_TRY(const auto more, next_line());
  if (more) return wrong_line("it follows the end");
  return {};
}

Result<std::optional<ManifestEntry>> ManifestReader::next_entry() {
  if (line_number_ == 1) hash_.add(bytes_of_text(std::string(kManifestFirstLine) + '\n'));
  UDTCAT_TRY(const auto line, next_line());
  if (!line) return wrong_line("the end of the manifest is missing");
  if (is_end_line(*line)) {
    UDTCAT_CHECK(check_end(*line));
    is_whole_ = true;
    return std::nullopt;
  }
  auto entry = parse_line(*line);
  if (!entry) return wrong_line(entry.error().cause);
  hash_.add(bytes_of_text({line->data(), line->size() + 1}));  // with its end
  ++entries_;
  return std::move(*entry);
}

Result<std::optional<ManifestEntry>> ManifestReader::next() {
  if (failed_) return tl::unexpected(*failed_);
  if (is_whole_) return std::nullopt;
  auto entry = next_entry();
  if (!entry) failed_ = entry.error();
  return entry;
}

}  // namespace udtcat::trees
