// SPDX-License-Identifier: Apache-2.0
/// Whether an uploaded file is at the server under its exact name.
/// spec: RFC 3659 §7; docs/spec/gridftp.md §4
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "gridftp/client/remote_server.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/dialogue/reply.hpp"

namespace udtcat::gridftp {

struct ListedFile {
  std::string path;
  std::optional<std::uint64_t> bytes;
};
/// None: it names nothing. Total.
[[nodiscard]] std::optional<ListedFile> parse_listed_file(const Reply& reply);
/// Whether the server's answer `said` may mean `path`: the names with bytes beyond ASCII are equal, from the last back
/// to the first ".." or the beginning of either.
[[nodiscard]] bool is_same_path(std::string_view said, std::string_view path);

struct StoredFile {
  std::string path;
  std::uint64_t bytes = 0;
  bool whole = true;  ///< it has no more than these
};
/// One command, where the server answers it.
/// doing   for messages
/// errors: Errc::remote_write_failed: it is there by another name, or the server does not say that it is there;
/// Errc::stream_refused: it has another size; those of ControlClient
[[nodiscard]] Task<Status> prove_stored(RemoteServer& server, StoredFile stored, std::string doing);
/// No command, but for a path with bytes beyond ASCII. A server that does not know MLST is believed.
/// otherwise   the code of the error where the server has it by another name.  errors: those of ControlClient
[[nodiscard]] Task<Status> check_name(RemoteServer& server, std::string path, Errc otherwise, std::string doing);

}  // namespace udtcat::gridftp
