// SPDX-License-Identifier: Apache-2.0
#include "wan/trace.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::size_t kMostFileBytes = 64 * kMiB;              // guess: ten minutes at 100 Mbit/s have 35 MB
constexpr std::size_t kShownBytes = 40;                        // guess: of a line, enough to find it
constexpr milliseconds kLongestTrace = std::chrono::hours(1);  // guess: those that are measured have minutes

tl::unexpected<Error> bad_line(std::size_t number, const std::string& why) {
  return fail(Errc::bad_argument, "line " + std::to_string(number), why);
}

Result<milliseconds> parse_line(std::string_view line, std::size_t number) {
  std::uint32_t time = 0;
  const char* end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data(), end, time);
  if (error != std::errc{} || rest != end || milliseconds(time) > kLongestTrace)
    return bad_line(number,
                    "\"" + core::printable(line, kShownBytes) + "\", allowed: whole milliseconds, up to an hour");
  return milliseconds(time);
}

}  // namespace

Result<Trace> Trace::parse(std::string_view text) {
  std::vector<milliseconds> times;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t number = times.size() + 1;
    UDTCAT_TRY(const milliseconds time, parse_line(text.substr(0, end), number));
    if (!times.empty() && time < times.back())
      return bad_line(number, std::to_string(time.count()) + " comes after " + std::to_string(times.back().count()));
    times.push_back(time);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (times.empty()) return bad_line(1, "the trace is empty");
  if (times.back() == milliseconds(0))
    return bad_line(times.size(), "the last time is the length, and must be after 0");
  return Trace(std::move(times));
}

Result<std::shared_ptr<const Trace>> Trace::load(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return fail(Errc::bad_argument, "trace \"" + core::printable(path, core::kShownBytes) + "\"", why);
  };
  std::error_code none;
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none))
    return refuse("it is no regular file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> block(64 * kKiB);
  while (file && text.size() <= kMostFileBytes) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) return refuse(core::errno_text(errno));
  if (text.size() > kMostFileBytes) return refuse("it is longer than 64 MiB");
  auto trace = parse(text);
  if (!trace) return refuse(trace.error().message());
  return std::make_shared<const Trace>(std::move(*trace));
}

nanoseconds Trace::at(std::uint64_t number) const {
  const auto round = static_cast<std::int64_t>(number / times_.size());
  return times_.back() * round + times_[number % times_.size()];
}

std::uint64_t Trace::first_after(nanoseconds time) const {
  if (time < nanoseconds(0)) return 0;
  const auto round = static_cast<std::uint64_t>(time / nanoseconds(times_.back()));
  const auto later = std::ranges::upper_bound(times_, time % nanoseconds(times_.back()));
  return round * times_.size() + static_cast<std::uint64_t>(later - times_.begin());
}

BitRate Trace::mean_rate() const { return BitRate::from_bytes_per(times_.size() * kOpportunityBytes, times_.back()); }

}  // namespace udtcat::wan
