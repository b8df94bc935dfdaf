/// How many data connections a server has, and for whom. See docs/spec/gridftp.md §4.
#pragma once

#include <cstddef>
#include <memory>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/core/prefix_counts.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread.
class DataPlaces {
 public:
  using Place = std::shared_ptr<void>;  ///< is given back when it goes, which may be after this

  explicit DataPlaces(std::size_t most) : most_(most) {}
  /// share   of the client's prefix.  errors: Errc::out_of_resources
  [[nodiscard]] Result<Place> take(const Endpoint& client, std::size_t share);

 private:
  const std::size_t most_;
  const std::shared_ptr<core::PrefixCounts> held_ = std::make_shared<core::PrefixCounts>();
};

}  // namespace udtcat::gridftp
