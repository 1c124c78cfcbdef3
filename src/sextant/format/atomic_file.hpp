// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::format {

/// A file that appears whole or not at all: bytes go to a temporary file in the folder of `path`,
/// and commit() renames it to `path`. Destroyed before that, it removes the temporary file, and a
/// file that was at `path` stays as it was.
///
/// A symbolic link at `path` stays a link: the file it points to is replaced. A device or a pipe
/// (/dev/stdout) is no file to replace and is written directly.
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
    void require_intact() const;
    void commit();

  private:
    void open_temporary(const std::string& folder);
    void write_through(std::span<const std::byte> bytes);
    void flush();
    [[noreturn]] void fail(int error);
    [[noreturn]] void fail(const std::string& reason);

    std::string path_;
    std::string target_;    ///< `path_`, or the file that a symbolic link there points to
    std::string temporary_; ///< empty when there is none (a device), or none any more
    int descriptor_ = -1;
    Bytes position_ = 0;
    std::vector<std::byte> buffer_; ///< what was written but not yet handed to the system
    std::string failure_;
};

/// Writes a whole file, such as a report, by way of an AtomicFile. Throws InvalidFile.
void write_file(const std::string& path, std::string_view bytes);

} // namespace sextant::format
