// SPDX-License-Identifier: Apache-2.0
#include "gridftp/xio/settings.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/core/duplicate.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::gridftp::xio {
namespace {

tl::unexpected<Error> refused(std::string_view name, std::string why) {
  return fail(Errc::bad_argument, "udtcat option " + std::string(name), std::move(why));
}

Result<std::size_t> parse_number(std::string_view name, std::string_view text, std::size_t least, std::size_t most) {
  const auto number = core::parse_number<std::size_t>(text);
  if (!number || *number < least || *number > most)
    return refused(name, "must be a number of " + std::to_string(least) + " to " + std::to_string(most));
  return *number;
}

std::optional<Protection> parse_level(std::string_view text) {
  return text == "none" ? Protection::clear : core::parse_protection(text);
}

Result<std::optional<Key>> from_file(const std::string& path) {
  UDTCAT_TRY(auto key, Key::from_file(path, Key::FromFile::regular_only));
  return std::optional<Key>(std::move(key));
}

}  // namespace

Settings Settings::duplicate() const { return {core::duplicate(key), key_file, session, transport, error}; }

Status Settings::set_all(std::string_view text) {
  while (!text.empty() && !error) {
    const auto one = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const auto equals = one.find('=');
    if (one.empty()) continue;
    const Status done = equals == std::string_view::npos ? Status(refused(one, "wants a value: name=value"))
                                                         : set(one.substr(0, equals), one.substr(equals + 1));
    if (!done) error = done.error();
  }
  if (error) return tl::unexpected(*error);
  return {};
}

Status Settings::set(std::string_view name, std::string_view value) {
  if (name == "key") {
    auto parsed = Key::parse(value);
    if (!parsed) return refused(name, parsed.error().cause.empty() ? parsed.error().message() : parsed.error().cause);
    key = std::move(*parsed);
  } else if (name == "keyfile") {
    key_file = std::string(value);
  } else if (name == "protection") {
    const auto level = parse_level(value);
    if (!level) return refused(name, "must be none, auth, safe or private");
    session.protection = *level;
  } else if (name == "as" || name == "peer") {
    if (!is_end_name(value)) return refused(name, "must be 1 to 64 printable characters without white space");
    (name == "as" ? session.own_name : session.expected_peer) = std::string(value);
  } else if (name == "threads") {
    UDTCAT_TRY(const auto threads, parse_number(name, value, 1, core::kMaxThreads));
    session.threads = threads;
  } else if (name == "lanes") {
    UDTCAT_TRY(const auto lanes, parse_number(name, value, 1, kMaxLanes));
    session.lanes = lanes;
  } else if (name == "rate") {
    const auto rate = core::parse_rate(value);
    if (!rate) return refused(name, rate.error().message());
    transport.rate = *rate;
  } else if (name == "blocksize") {
    const auto bytes = core::parse_size(value);
    if (!bytes) return refused(name, bytes.error().message());
    if (*bytes < kMinBlockBytes || *bytes > kMaxBlockBytes) return refused(name, "must be 4KiB to 1MiB");
    session.block_bytes = *bytes;
  } else {
    return refused(name, "there is no such option");
  }
  return {};
}

Result<std::optional<Key>> find_key(const Settings& settings, const EnvironmentLookup& environment,
                                    std::string_view environment_key, const std::string& host_key_file) {
  if (settings.error) return tl::unexpected(*settings.error);
  if (settings.session.protection == Protection::clear) return std::optional<Key>();
  if (settings.key) return std::optional<Key>(settings.key->duplicate());
  if (settings.key_file) return from_file(*settings.key_file);
  if (const auto file = environment(kKeyFileVariable); file && !file->empty()) return from_file(*file);
  if (!environment_key.empty()) {
    auto key = Key::parse(environment_key);
    if (!key) return refused(kKeyVariable, key.error().cause.empty() ? key.error().message() : key.error().cause);
    return std::optional<Key>(std::move(*key));
  }
  std::error_code unknown;
  const auto host_key = std::filesystem::symlink_status(host_key_file, unknown);
  if (host_key.type() != std::filesystem::file_type::not_found) return from_file(host_key_file);
  return fail(Errc::bad_argument, "find the key of a udtcat data connection",
              std::string("there is none: give the driver's option keyfile or key, set ") + kKeyFileVariable + " or " +
                  kKeyVariable + ", or write it to " + host_key_file);
}

Result<UdpPortRange> parse_udp_port_range(std::string_view text) {
  const auto range = core::parse_port_range(text, ", ");
  if (!range || range->first == 0)
    return fail(Errc::bad_argument, "GLOBUS_UDP_PORT_RANGE", "must be two ports, such as 50000,51000");
  return UdpPortRange{range->first, range->second};
}

}  // namespace udtcat::gridftp::xio
