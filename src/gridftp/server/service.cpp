#include "gridftp/server/service.hpp"

#include <fmt/format.h>

namespace udtcat::gridftp {

Result<DataPlaces::Place> DataPlaces::take(const Endpoint& client, std::size_t share) {
  const std::string what = "open a data connection for " + client.host_to_string();
  const core::Prefix prefix = core::prefix_of(client);
  if (held_->of(prefix) >= share)
    return fail(Errc::out_of_resources, what,
                fmt::format("the clients of its network have {} of {} already", held_->of(prefix), share));
  if (held_->all() >= most_)
    return fail(Errc::out_of_resources, what,
                fmt::format("all clients together have {} of {} already", held_->all(), most_));
  held_->add(prefix);
  return Place(nullptr, [held = held_, prefix](void*) { held->remove(prefix); });
}

}  // namespace udtcat::gridftp
