// SPDX-License-Identifier: Apache-2.0
/// Places beside the files of a tree for those that are not whole yet, where a transfer that was cut finds them again.
/// spec: docs/spec/trees.md §5
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "files/file_tree.hpp"
#include "files/part_names.hpp"
#include "lib/bridge/descriptor.hpp"
#include "lib/core/mutex.hpp"
#include "trees/disk/file_system_traits.hpp"

namespace udtcat::trees {

using files::kPartsName;

/// One transfer's folder, `.udtcat-parts/JOB`, in one directory. What is made in it gets what that directory gives.
/// Every call may wait for the disk.
/// Threads: immutable.
class PartsFolder {
 public:
  /// It is made where it is not there. Where the name is somebody else's, or one of another kind, the next one serves:
  /// `.udtcat-parts-UID`, `.udtcat-parts-UID-1` and so on.
  /// tree   in which it is.  path   of the directory there; empty: the tree's own
  /// errors: Errc::local_write_failed
  [[nodiscard]] static Result<PartsFolder> open(const files::FileTree& tree, const std::string& path,
                                                const std::string& job);

  /// Asks its file system; see file_system_traits.hpp. For whoever has it alone.
  void find_traits() { traits_ = traits_of(*own_); }

  /// The file that is kept for a path, whole or not, or there at all or not.
  [[nodiscard]] files::FileLocation of(const std::string& path) const;
  /// Opens it to be read and written; it is made where it is not there.  errors: Errc::local_write_failed
  [[nodiscard]] Result<bridge::Descriptor> take(const std::string& path) const;
  [[nodiscard]] const FileSystemTraits& traits() const { return traits_; }
  /// The folder itself.
  [[nodiscard]] const bridge::Descriptor& descriptor() const { return *own_; }
  /// Removes it and all that is left in it, but for the parts of `kept`, and the folder of all where that is empty
  /// then.
  void remove(const std::set<std::string>& kept) const;
  /// Removes both where they are empty.
  void tidy() const;

 private:
  explicit PartsFolder(files::FileTree tree) : tree_(std::move(tree)) {}

  void make_usable(const std::string& path) const;

  files::FileTree tree_;
  std::shared_ptr<const bridge::Descriptor> directory_;
  std::shared_ptr<const bridge::Descriptor> all_;  // in directory_, of all transfers
  std::shared_ptr<const bridge::Descriptor> own_;
  std::string all_name_;
  std::string job_;
  FileSystemTraits traits_;
};

/// The folders of one transfer: one in the tree's directory, which is locked while this lives, and one in each
/// directory that gives its files something else (another file system, quota, group, default ACL or label): so a part
/// is what a file made there would be, and can be renamed. Every call may wait for the disk. Threads: internally
/// synchronised; copies are of the same folders.
class PartialFiles {
 public:
  /// job     names the transfer, also one that was cut: digits
  /// waits   called while another process has the transfer under way: waits a moment, and returns whether to look
  ///         again; none: this one is refused
  /// errors: Errc::local_write_failed; Errc::out_of_resources: it does not wait, or not any more
  [[nodiscard]] static Result<PartialFiles> open(const files::FileTree& tree, const std::string& job,
                                                 const std::function<bool()>& waits = {});

  /// The folder of the tree's directory.
  [[nodiscard]] const PartsFolder& top() const { return state_->top; }
  /// For files of a directory of the tree.  path   of it; empty: the tree's own
  /// errors: Errc::local_write_failed
  [[nodiscard]] Result<PartsFolder> folder_for(const std::string& path) const;
  /// Traits of a file system in which there is a folder already; none: there is none yet.
  [[nodiscard]] std::optional<FileSystemTraits> traits_on(dev_t device) const;
  /// A part that is whole, and cannot have its name now, stays for the next transfer.  path   of its file
  void keep(const std::string& path) const;
  /// Removes the folders with all that is left in them, but for what is kept.
  void remove() const;
  /// Removes them where they are empty.
  void tidy() const;

 private:
  static constexpr std::size_t kMaxOpen = 64;        // guess: a descriptor or three for each
  static constexpr std::size_t kMaxAsked = 1'024;    // guess: directories between the threads of a transfer
  static constexpr std::size_t kMaxPlaces = 65'536;  // guess: directories that differ from the one above

  struct State {
    State(files::FileTree in, PartsFolder folder, std::string of_job)
        : tree(std::move(in)),
          top(std::move(folder)),
          of_top(directory_context_of(top.descriptor())),
          job(std::move(of_job)) {}

    const files::FileTree tree;
    const PartsFolder top;  // its descriptor holds the lock
    const DirectoryContext of_top;
    const std::string job;
    bridge::Descriptor lock{};  // where a directory cannot be locked
    core::Mutex mutex;
    std::map<std::string, PartsFolder> open UDTCAT_GUARDED_BY(mutex);  // by their directories' paths
    std::map<dev_t, FileSystemTraits> traits UDTCAT_GUARDED_BY(mutex);
    std::set<std::string> like_top UDTCAT_GUARDED_BY(mutex);  // directories that were asked for, and give the same
    std::set<std::string> places UDTCAT_GUARDED_BY(mutex);    // all of them but the top
    std::set<std::string> kept UDTCAT_GUARDED_BY(mutex);
  };

  explicit PartialFiles(std::shared_ptr<State> state) : state_(std::move(state)) {}

  [[nodiscard]] Result<std::string> place_of(const std::string& path, const DirectoryContext& wanted) const;
  template <typename Act>
  void for_each_folder(Act act) const;

  std::shared_ptr<State> state_;
};

}  // namespace udtcat::trees
