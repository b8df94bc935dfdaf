#include "gridftp/gateway/greeted_stream.hpp"

#include <algorithm>
#include <cstring>

namespace udtcat::gridftp {

LocalStream::ReadResult GreetedStream::read_some(std::span<std::byte> into) {
  const std::size_t bytes = std::min(greeting_.size() - given_bytes_, into.size());
  if (bytes == 0) return stream_->read_some(into);
  std::memcpy(into.data(), greeting_.data() + given_bytes_, bytes);
  given_bytes_ += bytes;
  return {.state = ReadState::data, .bytes = bytes};
}

}  // namespace udtcat::gridftp
