// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/format/frames.hpp"

namespace sextant::test {

/// A TIFF file written according to the specification, with one strip per page.
class TiffBytes {
  public:
    TiffBytes(std::endian order, bool big) : order_(order), big_(big), file_(order) {
        file_.text(order == std::endian::little ? "II" : "MM").put<std::uint16_t>(big ? 43 : 42);
        if (big)
            file_.put<std::uint16_t>(8).put<std::uint16_t>(0);
        link_ = file_.size();
        put_offset(file_, 0);
    }

    /// A tag without a field of its own in Page; `bytes` are its values in the order of the file.
    struct Tag {
        std::uint16_t tag, type;
        std::uint64_t count;
        std::string bytes;
    };
    static Tag text(std::uint16_t tag, const std::string& letters) {
        return {tag, 2, letters.size() + 1, letters + '\0'};
    }
    Tag number(std::uint16_t tag, double value) const {
        return {tag, 12, 1, Bytewise(order_).put<double>(value).bytes()};
    }

    struct Page {
        ImageShape shape = {};
        int bits = 16, format = 1, photometric = 1, channels = 1, subfile = 0;
        std::string description = {};
        std::uint32_t pixels_per_unit = 0;   ///< 0: unknown
        std::uint32_t y_pixels_per_unit = 0; ///< 0: as along x
        int resolution_unit = 3;             ///< 3: centimetres, 2: inches
        int extra = -1;                      ///< meaning of the last sample; negative: unspecified
        /// Side of the square tiles, which are stored one after another; 0: the page is one strip.
        int tile = 0;
        int compression = 1;
        std::vector<Tag> tags = {};
    };

    /// Adds a page: first its samples, then the directory that points to them.
    void add(const Page& page, const std::string& samples) {
        const std::size_t start = file_.size();
        file_.text(samples);
        const std::size_t text = file_.size();
        file_.text(page.description + '\0');
        const std::size_t resolution = file_.size();
        file_.put<std::uint32_t>(page.pixels_per_unit).put<std::uint32_t>(1);
        file_
            .put<std::uint32_t>(page.y_pixels_per_unit > 0 ? page.y_pixels_per_unit
                                                           : page.pixels_per_unit)
            .put<std::uint32_t>(1);
        if (file_.size() % 2 != 0)
            file_.text(std::string(1, '\0'));
        const Tiles tiles = put_tiles(page, start, samples.size());
        std::vector<Entry> entries{
            {254, 4, 1, static_cast<std::uint64_t>(page.subfile)},
            {256, 4, 1, static_cast<std::uint64_t>(page.shape.width)},
            {257, 4, 1, static_cast<std::uint64_t>(page.shape.height)},
            {258, 3, 1, static_cast<std::uint64_t>(page.bits)},
            {259, 3, 1, static_cast<std::uint64_t>(page.compression)},
            {262, 3, 1, static_cast<std::uint64_t>(page.photometric)},
        };
        if (!page.description.empty())
            entries.push_back({270, 2, page.description.size() + 1, text});
        if (page.tile == 0)
            entries.push_back({273, 4, 1, start});
        entries.push_back({277, 3, 1, static_cast<std::uint64_t>(page.channels)});
        if (page.tile == 0) {
            entries.push_back({278, 4, 1, static_cast<std::uint64_t>(page.shape.height)});
            entries.push_back({279, 4, 1, samples.size()});
        }
        if (page.pixels_per_unit > 0) {
            entries.push_back({282, 5, 1, resolution});
            entries.push_back({283, 5, 1, resolution + 8});
            entries.push_back({296, 3, 1, static_cast<std::uint64_t>(page.resolution_unit)});
        }
        if (page.tile > 0) {
            entries.push_back({322, 3, 1, static_cast<std::uint64_t>(page.tile)});
            entries.push_back({323, 3, 1, static_cast<std::uint64_t>(page.tile)});
            entries.push_back({324, 4, tiles.count, tiles.positions});
            entries.push_back({325, 4, tiles.count, tiles.sizes});
        }
        if (page.extra >= 0)
            entries.push_back({338, 3, 1, static_cast<std::uint64_t>(page.extra)});
        entries.push_back({339, 3, 1, static_cast<std::uint64_t>(page.format)});
        for (const Tag& tag : page.tags) {
            entries.push_back({tag.tag, tag.type, tag.count, file_.size(), tag.bytes.size()});
            file_.text(tag.bytes);
            if (file_.size() % 2 != 0)
                file_.text(std::string(1, '\0'));
        }
        std::ranges::sort(entries, {}, &Entry::tag);
        put_directory(entries);
    }

    std::string bytes() const {
        std::string all = file_.bytes();
        for (const auto& [at, value] : links_) {
            Bytewise link(order_);
            put_offset(link, value);
            all.replace(at, link.size(), link.bytes());
        }
        return all;
    }

  private:
    struct Entry {
        std::uint16_t tag, type;
        std::uint64_t count, value;
        std::size_t bytes = 0; ///< of the values of a Page::Tag, which `value` points to
    };

    /// Number of tiles, three or more, and the file offsets of two lists: the tiles' offsets and
    /// their sizes.
    struct Tiles {
        std::uint64_t count = 0, positions = 0, sizes = 0;
    };

    Tiles put_tiles(const Page& page, std::size_t start, std::size_t bytes) {
        if (page.tile == 0)
            return {};
        const auto along = [&](std::int64_t side) { return (side + page.tile - 1) / page.tile; };
        Tiles tiles;
        tiles.count =
            static_cast<std::uint64_t>(along(page.shape.width) * along(page.shape.height));
        tiles.positions = file_.size();
        for (std::size_t i = 0; i < tiles.count; ++i)
            file_.put<std::uint32_t>(static_cast<std::uint32_t>(start + i * (bytes / tiles.count)));
        tiles.sizes = file_.size();
        for (std::size_t i = 0; i < tiles.count; ++i)
            file_.put<std::uint32_t>(static_cast<std::uint32_t>(bytes / tiles.count));
        return tiles;
    }

    void put_offset(Bytewise& to, std::uint64_t value) const {
        if (big_)
            to.put<std::uint64_t>(value);
        else
            to.put<std::uint32_t>(static_cast<std::uint32_t>(value));
    }

    void put_directory(const std::vector<Entry>& entries) {
        links_.emplace_back(link_, file_.size());
        if (big_)
            file_.put<std::uint64_t>(entries.size());
        else
            file_.put<std::uint16_t>(static_cast<std::uint16_t>(entries.size()));
        for (const Entry& entry : entries) {
            file_.put<std::uint16_t>(entry.tag).put<std::uint16_t>(entry.type);
            put_offset(file_, entry.count);
            const std::size_t field = file_.size() + (big_ ? 8 : 4);
            if (entry.bytes > 0 && entry.bytes <= (big_ ? 8U : 4U))
                file_.text(file_.bytes().substr(entry.value, entry.bytes));
            else if (entry.bytes > 0)
                put_offset(file_, entry.value);
            else if (entry.type == 3) // short values are at the start of their field
                file_.put<std::uint16_t>(static_cast<std::uint16_t>(entry.value));
            else if (entry.type == 4 && entry.count == 1)
                file_.put<std::uint32_t>(static_cast<std::uint32_t>(entry.value));
            else if (entry.type == 5 && big_) // a rational fits into the field
                file_.text(file_.bytes().substr(entry.value, 8));
            else if (entry.type == 2 && entry.count <= (big_ ? 8U : 4U))
                file_.text(file_.bytes().substr(entry.value, entry.count));
            else
                put_offset(file_, entry.value);
            file_.fill_to(field);
        }
        link_ = file_.size();
        put_offset(file_, 0);
    }

    std::endian order_;
    bool big_;
    Bytewise file_;
    std::size_t link_ = 0;
    std::vector<std::pair<std::size_t, std::uint64_t>> links_;
};

/// The pattern of a frame as samples of type T.
template <class T>
std::string pattern_bytes(std::int64_t frame, ImageShape shape,
                          std::endian order = std::endian::little) {
    return Bytewise(order).put_all(pattern_frame<T>(frame, shape)).bytes();
}

/// The pattern of a frame in square tiles, with zeros beyond the frame.
template <class T>
std::string tiled_pattern(std::int64_t frame, ImageShape shape, std::int64_t tile) {
    Bytewise bytes(std::endian::little);
    for (std::int64_t top = 0; top < shape.height; top += tile) {
        for (std::int64_t left = 0; left < shape.width; left += tile) {
            for (std::int64_t i = 0; i < tile * tile; ++i) {
                const std::int64_t x = left + i % tile, y = top + i / tile;
                const bool inside = x < shape.width && y < shape.height;
                bytes.put<T>(inside ? static_cast<T>(pattern(frame, x, y)) : T{});
            }
        }
    }
    return bytes.bytes();
}

/// A file of the pattern in tiles, three or more per frame.
template <class T>
std::string tiled_stack(std::int64_t frames, ImageShape shape, int tile) {
    TiffBytes file(std::endian::little, false);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        file.add({.shape = shape,
                  .bits = 8 * sizeof(T),
                  .format = std::is_floating_point_v<T> ? 3 : 1,
                  .tile = tile},
                 tiled_pattern<T>(frame, shape, tile));
    }
    return file.bytes();
}

} // namespace sextant::test
