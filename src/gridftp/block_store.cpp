#include "gridftp/block_store.hpp"

#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace udtcat::gridftp {

namespace {

constexpr const char* kUnfinished = ".part";  // custom
constexpr mode_t kNewFileMode = 0666;         // spec: POSIX: the umask takes from it

tl::unexpected<Error> failed(Errc code, const std::string& doing, const std::string& path, int error) {
  return fail(code, doing + ' ' + path, errno_text(error));
}

std::optional<std::uint64_t> regular_size(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

Result<BlockStore> BlockStore::open_to_read(const std::string& path) {
  bridge::Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open()) return failed(Errc::local_read_failed, "open", path, errno);
  struct stat status {};
  if (::fstat(descriptor.number(), &status) == 0 && S_ISDIR(status.st_mode))
    return failed(Errc::local_read_failed, "read", path, EISDIR);
  return BlockStore(std::move(descriptor), path);
}

Result<BlockStore> BlockStore::open_to_write(const std::string& path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return failed(Errc::local_write_failed, "write", path, EISDIR);
  const bool direct = exists && !S_ISREG(status.st_mode);
  const std::string name = direct ? path : path + kUnfinished;
  bridge::Descriptor descriptor(::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kNewFileMode));
  if (!descriptor.is_open()) return failed(Errc::local_write_failed, "open", name, errno);
  BlockStore store(std::move(descriptor), name);
  if (!direct) store.publish_as_ = path;
  return store;
}

std::optional<std::uint64_t> BlockStore::size() const { return regular_size(descriptor_.number()); }

Result<std::size_t> BlockStore::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got =
        ::pread(descriptor_.number(), into.data() + filled, into.size() - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(Errc::local_read_failed, "read", path_, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

Status BlockStore::write_at(std::uint64_t offset, std::span<const std::byte> from) const {
  while (!from.empty()) {
    const ssize_t put = ::pwrite(descriptor_.number(), from.data(), from.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed(Errc::local_write_failed, "write", path_, errno);
    from = from.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

Status BlockStore::publish(std::uint64_t bytes) const {
  if (publish_as_.empty()) return {};
  if (::ftruncate(descriptor_.number(), static_cast<off_t>(bytes)) != 0)
    return failed(Errc::local_write_failed, "set the size of", path_, errno);
  if (::fdatasync(descriptor_.number()) != 0) return failed(Errc::local_write_failed, "write", path_, errno);
  if (::rename(path_.c_str(), publish_as_.c_str()) != 0)
    return failed(Errc::local_write_failed, "rename " + path_ + " to", publish_as_, errno);
  return {};
}

}  // namespace udtcat::gridftp
