// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// An output file that appears complete or not at all. Bytes go to an unnamed file in the folder of
/// `path`; commit() names the file and renames it to `path`. If the object is destroyed before
/// that, or the process is killed, nothing is left and a file already at `path` is unchanged. On
/// file systems without unnamed files (NFS), the file has a temporary name from the start
/// (temporary_files.hpp), and a signal that ends the process leaves it behind.
///
/// A symbolic link at `path` remains a link, and the file it points to is replaced, or created if
/// it is missing, unless links are replaced: files that the user does not name, such as caches,
/// replace links. A device or pipe (/dev/stdout, /dev/null) is written directly; a pipe must have a
/// reader within two seconds.
///
/// Requires  an existing, writable folder; a file already at `path` must be writable too.
/// Throws    Every function throws InvalidFile with the system's reason, for example if the disk is
///           full. After a failed write or seek, require_intact() and commit() throw as well,
///           because a library in between may have swallowed the exception.
class AtomicFile {
  public:
    enum class Links { followed, replaced };
    explicit AtomicFile(std::string path); ///< follows links
    AtomicFile(std::string path, Links links);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    const std::string& path() const { return path_; }
    void write(std::span<const std::byte> bytes);
    void write(std::string_view bytes);
    /// The offset of the next byte from the start of the file.
    Bytes position() const { return position_; }
    void seek(Bytes position);
    /// Reads back bytes from `position` on. Returns the number of bytes read.
    Bytes read_at(Bytes position, std::span<std::byte> to);
    void require_intact() const;
    void commit();

  private:
    void open_device();
    bool open_nameless();
    /// Calls `create` with unused names until it succeeds.
    void with_temporary_name(const std::function<bool(const char* name)>& create);
    void open_temporary();
    void write_through(std::span<const std::byte> bytes);
    void flush();
    [[noreturn]] void fail(int error);
    [[noreturn]] void fail(const std::string& reason);

    std::string path_;
    std::string target_;    ///< `path_`, or the file that a symbolic link there points to
    std::string temporary_; ///< empty for a device, before naming, and after renaming
    bool nameless_ = false;
    int descriptor_ = -1;
    Bytes position_ = 0;
    std::vector<std::byte> buffer_; ///< bytes not yet passed to the system
    std::string failure_;
};

/// The path to which a symbolic link at `path` points, even if no file exists there; `path` itself
/// if it is not a symbolic link.
std::string target_of(const std::string& path);

/// The folder that contains the file `path`.
std::string folder_of(const std::string& path);

/// Throws InvalidFile if a file at `path` could not be created now. Leaves no file behind and opens
/// no device. Call this before long work whose result goes to `path`.
void require_writable(const std::string& path);

/// Writes a whole file through an AtomicFile. Throws InvalidFile.
void write_file(const std::string& path, std::string_view bytes,
                AtomicFile::Links links = AtomicFile::Links::followed);

/// Lets several outputs appear together. While an object exists, commit() of each AtomicFile and
/// AtomicFolder of the same thread only completes the output on disk, under its temporary name;
/// commit() of this object then renames all of them, in the order in which they were completed. If
/// the object is destroyed before that, no output appears, so that an error such as a full disk
/// leaves all files of an earlier run. Devices and pipes are written at once. Of nested objects,
/// only the outermost has an effect.
///
/// Throws    commit(): InvalidFile if an output cannot be renamed; the outputs before it remain.
class JointCommit {
  public:
    JointCommit();
    JointCommit(const JointCommit&) = delete;
    JointCommit& operator=(const JointCommit&) = delete;
    ~JointCommit();

    void commit();

  private:
    /// Called with true to rename an output, or with false to remove it.
    std::vector<std::function<void(bool appear)>> outputs_;
};

/// An output folder that appears complete or not at all. Files go to a temporary folder next to it,
/// which commit() renames. If the object is destroyed before that, nothing is left and a folder
/// already at `path` is unchanged; a signal that ends the process leaves the temporary folder,
/// until another process writes there (temporary_files.hpp).
///
/// A folder already at `path` is replaced if it holds nothing but `entries`, so that no other files
/// are removed; it is exchanged in one step where the file system can. A symbolic link remains a
/// link, and the folder it points to is replaced or created.
///
/// Requires  an existing, writable parent folder. Throws InvalidFile with the reason.
class AtomicFolder {
  public:
    AtomicFolder(const std::string& path, std::span<const std::string_view> entries);
    /// Writes files to the folder `existing`, next to `path` or below it, which is kept if commit()
    /// is not called.
    AtomicFolder(const std::string& path, std::span<const std::string_view> entries,
                 std::string existing);
    AtomicFolder(const AtomicFolder&) = delete;
    AtomicFolder& operator=(const AtomicFolder&) = delete;
    ~AtomicFolder();

    /// The folder to write files to before commit().
    const std::string& temporary() const { return temporary_; }
    void commit();

  private:
    void find_target();
    void require_replaceable(std::span<const std::string_view> entries) const;
    std::string new_name(bool make) const;
    [[noreturn]] void fail(const std::string& reason) const;

    std::string path_;
    std::string target_;    ///< `path_` without a final slash, or the folder it links to
    std::string temporary_; ///< empty after commit()
    bool remains_ = false;  ///< true if the temporary folder is kept without commit()
};

} // namespace sextant
