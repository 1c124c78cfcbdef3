// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace sextant::test {

/// A TIFF directory: for each tag the number of values, and the first value or the offset of all.
struct TiffDirectory {
    struct Entry {
        std::uint64_t type = 0, count = 0, value = 0;
        std::string field; ///< the value field as stored
    };
    std::map<int, Entry> entries;

    std::uint64_t value(int tag) const { return entries.at(tag).value; }
};

/// Reads the directories of a file in this machine's byte order, according to the specification.
class TiffParser {
  public:
    explicit TiffParser(std::string bytes) : bytes_(std::move(bytes)) {
        big_ = number(2, 2) == 43;
        for (std::uint64_t at = big_ ? number(8, 8) : number(4, 4); at != 0;)
            at = read_directory(at);
    }

    bool big() const { return big_; }
    const std::vector<TiffDirectory>& directories() const { return directories_; }

    std::string text(const TiffDirectory& directory, int tag) const {
        const TiffDirectory::Entry& entry = directory.entries.at(tag);
        return bytes_.substr(entry.value, entry.count - 1);
    }
    double rational(const TiffDirectory& directory, int tag) const {
        const TiffDirectory::Entry& entry = directory.entries.at(tag);
        const std::string both = big_ ? entry.field : bytes_.substr(entry.value, 8);
        std::uint32_t parts[2];
        std::memcpy(parts, both.data(), 8);
        return static_cast<double>(parts[0]) / static_cast<double>(parts[1]);
    }

  private:
    std::uint64_t number(std::uint64_t at, std::size_t size) const {
        std::uint64_t value = 0; // assumes a little-endian machine
        std::memcpy(&value, bytes_.data() + at, size);
        return value;
    }

    std::uint64_t read_directory(std::uint64_t at) {
        const std::size_t wide = big_ ? 8 : 4;
        const std::uint64_t count = number(at, big_ ? 8 : 2);
        at += big_ ? 8 : 2;
        TiffDirectory directory;
        for (std::uint64_t i = 0; i < count; ++i, at += 4 + 2 * wide) {
            const std::uint64_t type = number(at + 2, 2);
            const std::size_t size = type == 3 ? 2 : type == 4 ? 4 : wide;
            directory.entries[static_cast<int>(number(at, 2))] = {
                type, number(at + 4, wide), number(at + 4 + wide, size),
                bytes_.substr(at + 4 + wide, wide)};
        }
        directories_.push_back(directory);
        return number(at, wide);
    }

    std::string bytes_;
    bool big_ = false;
    std::vector<TiffDirectory> directories_;
};

} // namespace sextant::test
