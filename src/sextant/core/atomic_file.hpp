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

/// A file that appears whole or not at all: bytes go to a file without a name in the folder of
/// `path`, which commit() names and renames to `path`. Destroyed before that, or where the process
/// is killed, nothing stays behind, and a file that was at `path` stays as it was. Where the file
/// system knows no such files (NFS) it is named from the start, and a signal leaves it behind:
/// `.sextant-<process>-<number>.tmp`.
///
/// A symbolic link at `path` stays a link: the file it points to is replaced. A device or a pipe
/// (/dev/stdout, /dev/null) is no file to replace and is written directly; a pipe must have a
/// reader within two seconds.
///
/// Requires  an existing folder that may be written; a file already at `path` may be written too.
///           Every function throws InvalidFile with the system's reason otherwise, also where the
///           disk is full. After a failed write or seek, require_intact() and commit() throw as
///           well: a library between this and the caller may have swallowed the exception.
class AtomicFile {
  public:
    explicit AtomicFile(std::string path);
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    ~AtomicFile();

    const std::string& path() const { return path_; }
    void write(std::span<const std::byte> bytes);
    void write(std::string_view bytes);
    /// Where the next byte goes, counted from the start of the file.
    Bytes position() const { return position_; }
    void seek(Bytes position);
    /// Reads back what was written from `position` on, as far as there is any. Returns how much.
    Bytes read_at(Bytes position, std::span<std::byte> to);
    void require_intact() const;
    void commit();

  private:
    void open_device();
    bool open_nameless();
    /// Calls `create` with names that may be free until it succeeds.
    void with_temporary_name(const std::function<bool(const char* name)>& create);
    void open_temporary();
    void write_through(std::span<const std::byte> bytes);
    void flush();
    [[noreturn]] void fail(int error);
    [[noreturn]] void fail(const std::string& reason);

    std::string path_;
    std::string target_;    ///< `path_`, or the file that a symbolic link there points to
    std::string temporary_; ///< empty when there is none (a device, no name yet), or none any more
    bool nameless_ = false;
    int descriptor_ = -1;
    Bytes position_ = 0;
    std::vector<std::byte> buffer_; ///< what was written but not yet handed to the system
    std::string failure_;
};

/// The folder that a path's file lies in.
std::string folder_of(const std::string& path);

/// Throws InvalidFile where a file at `path` could not be begun now; leaves nothing, and touches no
/// device. To be asked before work whose result is to go there.
void require_writable(const std::string& path);

/// Writes a whole file, such as a report, by way of an AtomicFile. Throws InvalidFile.
void write_file(const std::string& path, std::string_view bytes);

/// A folder that appears whole or not at all: files go to one with another name beside it, which
/// commit() renames. Destroyed before that, nothing stays behind, and what was at `path` stays as
/// it was; a signal that ends the process leaves `.sextant-<process>-<number>.tmp`.
///
/// A folder already at `path` is replaced, provided that it holds nothing but `entries`: what
/// others have put there is not ours to remove. A symbolic link to one stays a link.
///
/// Requires  an existing folder around it that may be written. Throws InvalidFile with the reason.
class AtomicFolder {
  public:
    AtomicFolder(const std::string& path, std::span<const std::string_view> entries);
    AtomicFolder(const AtomicFolder&) = delete;
    AtomicFolder& operator=(const AtomicFolder&) = delete;
    ~AtomicFolder();

    /// Where files go until then.
    const std::string& temporary() const { return temporary_; }
    void commit();

  private:
    void require_replaceable(std::span<const std::string_view> entries) const;
    std::string new_name(bool make) const;
    [[noreturn]] void fail(const std::string& reason) const;

    std::string path_;
    std::string target_;    ///< `path_` without a final slash, or what a link there points to
    std::string temporary_; ///< empty once there is none
};

} // namespace sextant
