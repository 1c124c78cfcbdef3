// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

// Names of temporary files and folders next to outputs. A killed process leaves them; the next one
// that writes to the same folder removes them. A lock (flock) shows whether the owner of a
// temporary still runs. Temporaries of other hosts, which share a file system but perhaps no locks,
// are never removed: names state the running system.
namespace sextant {

/// Returns `FOLDER/.sextant-<system>-<process>-<number>.tmp`, a name that this process has not used
/// before. <system> is a hash of the boot of this host and of the namespace of process numbers.
std::string new_temporary_name(const std::string& folder);

/// The outcome of hold_temporary().
enum class Hold {
    held,    ///< locked; not locked on file systems without locks
    removed, ///< another process has removed it just before
    failed   ///< the reason is in errno
};

/// Locks a temporary that exists, until release_temporary() or the end of the process.
Hold hold_temporary(const std::string& path);
void release_temporary(const std::string& path);

/// Removes temporaries in a folder whose processes have ended. Each process looks once into each
/// folder.
void remove_abandoned(const std::string& folder);

/// True for a path in a temporary folder.
bool is_in_temporary(const std::string& path);

/// A new folder for files of this process, which other users cannot read or replace. The destructor
/// removes it with its files; if the process is killed, the next one that makes such a folder there
/// does.
class PrivateFolder {
  public:
    /// Creates a folder in the folder `parent`; "": in the folder for temporary files. Throws
    /// InvalidFile.
    explicit PrivateFolder(std::string parent = "");
    PrivateFolder(const PrivateFolder&) = delete;
    PrivateFolder& operator=(const PrivateFolder&) = delete;
    ~PrivateFolder();

    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

} // namespace sextant
