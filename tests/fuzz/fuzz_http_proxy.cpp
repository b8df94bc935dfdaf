// SPDX-License-Identifier: Apache-2.0
// Any bytes as the answer of an HTTP proxy, as its URL, and as a list of exceptions.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "lib/core/text.hpp"
#include "lib/net/http_proxy.hpp"

namespace fuzz_http_proxy {

using udtcat::net::decode_proxy_answer;
using State = udtcat::net::ProxyAnswer::State;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto answer = decode_proxy_answer(bytes);
  if (answer.state == State::complete) {
    if (answer.status < 200 || answer.status > 999 || answer.header_bytes > size) std::abort();
    // Bytes behind an answer change nothing of it, and it is not there before its last byte.
    if (decode_proxy_answer(bytes.first(answer.header_bytes)).status != answer.status) std::abort();
    if (decode_proxy_answer(bytes.first(answer.header_bytes - 1)).state == State::complete) std::abort();
  }
  const auto text = udtcat::core::as_text(bytes);
  udtcat::HttpProxy proxy;
  if (auto parsed = udtcat::net::parse_proxy(text)) proxy = std::move(*parsed);
  for (const char byte : proxy.credentials)
    if (static_cast<unsigned char>(byte) < 0x20) std::abort();
  proxy.exceptions = udtcat::net::parse_proxy_exceptions(text);
  for (const char* host : {"a.example.org", "192.0.2.1", "2001:db8::1"})
    if (udtcat::net::connect_request(proxy, {host, 9000}).empty())
      std::abort();
    else
      std::ignore = udtcat::net::goes_by(proxy, host);
  std::ignore = udtcat::net::goes_by(proxy, text);
  return 0;
}

}  // namespace fuzz_http_proxy
