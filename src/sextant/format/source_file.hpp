// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace sextant::format {

/// A regular file, opened for reading from its start. Missing files, folders, devices and pipes
/// (which could block) cause InvalidFile. All functions throw InvalidFile with the reason.
class SourceFile {
  public:
    explicit SourceFile(std::string path);

    const std::string& path() const { return path_; }
    Bytes size() const { return size_; }
    /// The stream, for libraries that read by themselves. This object closes it.
    std::FILE* handle() { return handle_.get(); }

    /// Reads until `to` is full or the file ends. Returns the number of bytes read.
    Bytes read(std::span<std::byte> to);
    /// Reads from a given position. The current position is neither used nor changed.
    Bytes read_at(Bytes position, std::span<std::byte> to) const;
    /// Advances by `bytes`, possibly beyond the end of the file; the next read then returns 0.
    void skip(Bytes bytes);

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> handle_;
    Bytes size_ = 0;
};

/// Returns the number at byte `at` of a header in memory. Throws std::logic_error if the number is
/// not within the header.
template <class T>
T number_in(std::span<const std::byte> header, std::size_t at, bool swapped) {
    if (at + sizeof(T) > header.size())
        throw std::logic_error("read beyond the end of the header");
    std::array<std::byte, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), header.data() + at, sizeof(T));
    if (swapped)
        std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<T>(bytes);
}

/// Stores a number in little-endian byte order, which all files written by Sextant have.
template <class T>
void put_number(std::span<std::byte> header, std::size_t at, T value) {
    static_assert(std::endian::native == std::endian::little);
    if (at + sizeof(T) > header.size())
        throw std::logic_error("write beyond the end of the header");
    std::memcpy(header.data() + at, &value, sizeof(T));
}

} // namespace sextant::format
