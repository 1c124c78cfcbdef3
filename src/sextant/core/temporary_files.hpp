// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

// Names of temporary files and folders next to outputs. If a process is killed, its temporaries
// remain until another process that writes to the same folder removes them. A lock (flock) shows
// whether a temporary's owner still runs. Temporaries of other hosts are never removed, because
// hosts may share a file system without sharing locks; names therefore identify the running system.
namespace sextant {

/// Returns `FOLDER/.sextant-<system>-<process>-<number>.tmp`, a name that this process has not used
/// before. <system> consists of hashes of this host's boot ID and of the process namespace.
std::string new_temporary_name(const std::string& folder);

/// The outcome of hold_temporary().
enum class Hold {
    held,    ///< locked; not locked on file systems without locks
    removed, ///< another process has just removed it
    failed   ///< the reason is in errno
};

/// Locks an existing temporary, until release_temporary() or the end of the process.
Hold hold_temporary(const std::string& path);
void release_temporary(const std::string& path);

/// Removes the temporaries of ended processes from a folder. Each process checks each folder only
/// once.
void remove_abandoned(const std::string& folder);

/// True for a path inside a temporary folder.
bool is_in_temporary(const std::string& path);

/// A new folder for files of this process, which other users cannot read or replace. The destructor
/// removes the folder with its files. If the process is killed, the next process that creates a
/// PrivateFolder there removes it.
class PrivateFolder {
  public:
    /// Creates a folder in `parent`; "": in the system's folder for temporary files. Throws
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
