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

/// The number that begins `at` bytes into a header, in its byte order. Requires that it lies within
/// (std::logic_error): headers are read whole before they are looked at.
template <class T>
T number_in(std::span<const std::byte> header, std::size_t at, bool swapped) {
    if (at + sizeof(T) > header.size())
        throw std::logic_error("a number read beyond its header");
    std::array<std::byte, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), header.data() + at, sizeof(T));
    if (swapped)
        std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<T>(bytes);
}

/// Puts a number there, in this machine's byte order, which is that of the files we write.
template <class T>
void put_number(std::span<std::byte> header, std::size_t at, T value) {
    static_assert(std::endian::native == std::endian::little);
    if (at + sizeof(T) > header.size())
        throw std::logic_error("a number put beyond its header");
    std::memcpy(header.data() + at, &value, sizeof(T));
}

} // namespace sextant::format
