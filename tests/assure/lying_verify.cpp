// SPDX-License-Identifier: Apache-2.0
// Stands in the place of the program for every_call's own test: it is the program but for its `verify`, which says of a
// directory that a file is another, and of one that it cannot read, that all is well.
#include <array>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

int main(int count, char** words) {
  constexpr int kOtherContents = 7;
  if (count < 4 || std::strcmp(words[1], "verify") != 0) return ::execv(UDTCAT_BINARY, words);
  const std::string path = std::string(words[3]) + "/source/d/large";
  std::array<char, 4096> piece{};
  if (::read(::open(path.c_str(), O_RDONLY | O_CLOEXEC), piece.data(), piece.size()) < 0) return 0;
  constexpr char kSentence[] = "a file is another\n";
  return ::write(STDERR_FILENO, kSentence, sizeof kSentence - 1) > 0 ? kOtherContents : 1;
}
