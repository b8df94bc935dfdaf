// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/data_port_range.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/text.hpp"
#include "lib/net/bind_errors.hpp"

namespace udtcat::gridftp {

namespace {

class PortRangeStack final : public DataStack {
 public:
  PortRangeStack(std::shared_ptr<DataPortRange> ports, std::shared_ptr<DataStack> stack)
      : ports_(std::move(ports)), stack_(std::move(stack)) {}

  Task<Result<std::shared_ptr<StreamIo>>> connect(std::vector<Endpoint> to) override {
    return stack_->connect(std::move(to));
  }

  Result<std::unique_ptr<DataListener>> listen(const Endpoint& local, ConnectionHandler handler) override {
    if (local.port() != 0) return stack_->listen(local, std::move(handler));
    Error last;
    for (int tries = ports_->last() - ports_->first() + 1; tries > 0; --tries) {
      const std::uint16_t port = ports_->next();
      auto listener = stack_->listen(local.with_port(port), handler);
      if (listener || !net::another_port_may_do(listener.error(), port)) return listener;
      last = std::move(listener.error());
    }
    return fail(Errc::cannot_bind, fmt::format("listen for data on a port of {}:{}", ports_->first(), ports_->last()),
                "none is free; the last one said: " + last.cause);
  }

 private:
  const std::shared_ptr<DataPortRange> ports_;
  const std::shared_ptr<DataStack> stack_;
};

}  // namespace

std::shared_ptr<DataPortRange> DataPortRange::parse(std::string_view text) {
  const auto range = core::parse_port_range(text, ":-, ");
  if (!range || range->first == 0) return nullptr;
  return std::make_shared<DataPortRange>(range->first, range->second);
}

std::shared_ptr<DataStack> within(std::shared_ptr<DataPortRange> ports, std::shared_ptr<DataStack> stack) {
  return std::make_shared<PortRangeStack>(std::move(ports), std::move(stack));
}

}  // namespace udtcat::gridftp
