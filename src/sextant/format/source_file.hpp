// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

namespace sextant::format {

/// A regular file, open for reading from its start. A missing file, a folder, a device or a pipe
/// (which could block) is refused. Every function throws InvalidFile with the reason.
class SourceFile {
  public:
    explicit SourceFile(std::string path);

    const std::string& path() const { return path_; }
    Bytes size() const { return size_; }
    /// For libraries that read by themselves; it is closed with this object.
    std::FILE* handle() { return handle_.get(); }

    /// Reads until `to` is full or the file ends. Returns how many bytes came.
    Bytes read(std::span<std::byte> to);
    /// The same from a position of the file, whatever was read before and without moving on.
    Bytes read_at(Bytes position, std::span<std::byte> to) const;
    /// Moves on by `bytes`, which may lie beyond the end: then the next read returns 0.
    void skip(Bytes bytes);

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> handle_;
    Bytes size_ = 0;
};

} // namespace sextant::format
