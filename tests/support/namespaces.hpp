// SPDX-License-Identifier: Apache-2.0
/// A network of two hosts: two namespaces joined by a veth pair, with IPv4 and IPv6.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace udtcat::test {

/// Needs root; removed with the object. Threads: unsynchronised.
class Namespaces {
 public:
  struct Host {
    std::string name;
    std::filesystem::path file;  ///< what Command::network_namespace takes
    std::string ipv4;
    std::string ipv6;
  };

  Namespaces();
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;
  ~Namespaces();

  /// Whether this user may make namespaces at all.
  [[nodiscard]] static bool allowed();
  [[nodiscard]] const Host& near_host() const { return near_; }
  [[nodiscard]] const Host& far_host() const { return far_; }

  /// Frames vanish silently both ways: each host is told a link address for the other that nobody has.
  /// Neither end's sockets see an error, as on a path that is black-holed further out.
  void black_hole();
  void restore();

 private:
  Host near_;
  Host far_;
};

}  // namespace udtcat::test
