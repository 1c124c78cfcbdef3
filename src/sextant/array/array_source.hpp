// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/sample.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

// Arrays with any number of axes in files, read and written in blocks. Examples are series of
// frames with channels and slices, maps with a spectrum per pixel, and maps with a diffraction
// pattern per probe position.
namespace sextant {

/// The maximum number of axes of an array in a file.
inline constexpr std::size_t most_array_axes = 32;

/// The pixel size of an image of the specimen or of a diffraction pattern.
struct PixelSize {
    double x = 0, y = 0; ///< 0 if unknown
    std::string unit;    ///< as stated by the source, such as "nm" or "1/nm"; "" if unknown
    bool known() const { return x > 0 && y > 0; }
    bool operator==(const PixelSize&) const = default;
};

/// Properties of an array that are known without reading samples. Axes are in C order: the last
/// axis varies fastest. There is at least one axis, and no axis is empty.
struct ArrayHeader {
    std::vector<std::int64_t> lengths;
    std::vector<std::string> names = {}; ///< per axis, in lower case: "t", "energy"; empty: unnamed
    Sample sample = Sample::f32;
    /// The lengths of a chunk, the smallest block that the file stores; 1 along all axes if any
    /// block can be read and written alone.
    std::vector<std::int64_t> chunk = {};
    /// The fill value: the element of chunks that are not stored, in native byte order.
    std::vector<std::byte> fill = {};
    PixelSize pixel = {};
    double slice_distance = 0;  ///< in pixel.unit; 0 if unknown
    Seconds frame_interval = 0; ///< 0 if unknown
    std::vector<std::string> remarks = {};
    int channels = 1; ///< samples per element, interleaved; 1 unless elements are colours

    Bytes element_bytes() const { return channels * size_of(sample); }
    Bytes chunk_bytes() const; ///< requires a complete header: see complete()
    /// The name of an axis for messages: "energy", or "axis 2".
    std::string axis_name(std::size_t axis) const;
    /// Throws InvalidFile, for the file at `path`, unless there are 1 to most_array_axes axes, none
    /// is empty, and the number of bytes does not overflow. Completes `chunk` and `fill`.
    void check(const std::string& path);
    void complete(); ///< completes `chunk` and `fill` of a valid header
};

/// A block of an array: `count` positions from `start` on along each axis.
struct ArrayBlock {
    std::vector<std::int64_t> start, count;
    Elements elements() const;
};

/// A source of an array, which is read in blocks. Not thread-safe.
class ArraySource {
  public:
    virtual ~ArraySource() = default;
    ArraySource(const ArraySource&) = delete;
    ArraySource& operator=(const ArraySource&) = delete;

    const std::string& path() const { return path_; }
    const ArrayHeader& header() const { return header_; }

    /// Reads a block. The samples are in native byte order and C order.
    ///
    /// Requires  a block within the array, and a buffer of exactly the size of the block
    ///           (std::logic_error).
    /// Throws    InvalidFile if the block cannot be read.
    void read(const ArrayBlock& block, std::span<std::byte> to);
    /// True if the source knows, without reading samples, that a block consists of the fill value.
    /// False if the source does not know.
    bool is_fill(const ArrayBlock& block);
    /// Completes the scratch file from which samples are read, such as a decompressed copy, and
    /// returns its position. Other sources of the same array can read the scratch file as long as
    /// this source exists. Returns an empty position if there is no scratch file. Throws
    /// InvalidFile if the file is damaged.
    virtual ScratchPlace share() { return {}; }

  protected:
    /// Throws InvalidFile if ArrayHeader::check() does.
    ArraySource(std::string path, ArrayHeader header);
    /// Selects the constructor for a header that is already checked; its total size may be unknown.
    struct Checked {};
    ArraySource(std::string path, ArrayHeader header, Checked);

  private:
    virtual void load(const ArrayBlock& block, std::span<std::byte> to) = 0;
    virtual bool lacks(const ArrayBlock&) { return false; }

    std::string path_;
    ArrayHeader header_;
};

/// Writes an array in blocks, in any order unless in_order() is true. The file appears complete or
/// not at all. Samples that are not written have the fill value.
class ArraySink {
  public:
    virtual ~ArraySink() = default;
    ArraySink(const ArraySink&) = delete;
    ArraySink& operator=(const ArraySink&) = delete;

    const std::string& path() const { return path_; }
    const ArrayHeader& header() const { return header_; }
    /// True if blocks must follow one another in C order without gaps, and consist of whole rows
    /// with all positions along the axes after the rows.
    virtual bool in_order() const { return false; }

    /// Requires  a block within the array that was not written before, and a buffer of exactly the
    ///           size of the block (std::logic_error). Along each axis, the block must begin at a
    ///           multiple of the chunk length, and end at such a multiple or at the end of the
    ///           array.
    /// Throws    InvalidFile if the block cannot be written.
    void write(const ArrayBlock& block, std::span<const std::byte> from);
    /// Makes the complete file appear at its path. Throws InvalidFile.
    virtual void commit() = 0;

  protected:
    ArraySink(std::string path, ArrayHeader header);
    struct Checked {};
    ArraySink(std::string path, ArrayHeader header, Checked);

  private:
    virtual void store(const ArrayBlock& block, std::span<const std::byte> from) = 0;

    std::string path_;
    ArrayHeader header_;
};

/// Copies a block between two arrays in memory. `count` has the lengths of the block, and `size` is
/// the size of an element. Neighbours along each axis are `from_steps` elements apart in the
/// source, and `to_steps` elements in the destination.
void copy_block(std::span<const std::int64_t> count, Bytes size, const std::byte* from,
                std::span<const Elements> from_steps, std::byte* to,
                std::span<const Elements> to_steps);

/// Returns the distance between neighbours along each axis of a contiguous array, in elements.
std::vector<Elements> steps_of(std::span<const std::int64_t> lengths);
/// Returns the index of the element at a position: the sum of the products with the steps.
Elements index_of(std::span<const std::int64_t> position, std::span<const Elements> steps);
/// Converts a number to an index of a list.
inline std::size_t index_of(Elements number) {
    return static_cast<std::size_t>(number);
}

/// Copies `part` of a block, whose samples are at `from`; `size` is the size of an element. Returns
/// false if the part is not within the block.
bool copy_part(const ArrayBlock& block, Bytes size, const std::byte* from, const ArrayBlock& part,
               std::byte* to);

/// Cuts a block into parts of at most `most` elements, and calls `visit` with each part in C order.
/// The elements of a part are contiguous in the block, from the index `offset` on.
void for_each_part(const ArrayBlock& block, Elements most,
                   const std::function<void(const ArrayBlock& part, Elements offset)>& visit);

/// Fills a buffer with copies of one element.
void fill_samples(std::span<const std::byte> sample, std::span<std::byte> to);
/// True if a buffer consists of copies of one element, bit for bit.
bool consists_of(std::span<const std::byte> sample, std::span<const std::byte> samples);

} // namespace sextant
