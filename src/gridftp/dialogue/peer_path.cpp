#include "gridftp/dialogue/peer_path.hpp"

#include <vector>

namespace udtcat::gridftp {

namespace {

void walk(std::vector<std::string_view>& words, std::string_view path) {
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view word = path.substr(0, slash);
    if (word == ".." && !words.empty()) words.pop_back();
    if (!word.empty() && word != "." && word != "..") words.push_back(word);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
}

}  // namespace

std::string peer_path(std::string_view directory, std::string_view path) {
  std::vector<std::string_view> words;
  if (path.starts_with("/~")) path.remove_prefix(1);
  const bool home = path == "~" || path.starts_with("~/");
  if (home) path.remove_prefix(1);
  if (!home && !path.starts_with('/')) walk(words, directory);
  walk(words, path);
  std::string all;
  for (const std::string_view word : words) (all += '/') += word;
  return all.empty() ? "/" : all;
}

}  // namespace udtcat::gridftp
