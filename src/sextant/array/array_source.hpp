// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/sample.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Arrays of any number of axes in files, read and written in blocks: series of frames with channels
// and slices, spectra per pixel, diffraction patterns per probe position.
namespace sextant {

/// The bounds of an array in a file: at most this many axes, and samples in all.
inline constexpr std::size_t most_array_axes = 32;

/// The size of a pixel in the specimen or in its diffraction pattern.
struct PixelSize {
    double x = 0, y = 0; ///< 0 if unknown
    std::string unit;    ///< as stated by the source, such as "nm" or "1/nm"; "" if unknown
    bool known() const { return x > 0 && y > 0; }
    bool operator==(const PixelSize&) const = default;
};

/// Properties of an array that are known without reading samples. Axes are in C order: the last one
/// varies fastest. There is at least one axis, and no axis is empty.
struct ArrayHeader {
    std::vector<std::int64_t> lengths;
    std::vector<std::string> names = {}; ///< per axis, in lower case: "t", "energy"; empty: unnamed
    Sample sample = Sample::f32;
    /// The lengths of the blocks in which the file holds samples; 1 along all axes if any block can
    /// be read and written alone.
    std::vector<std::int64_t> chunk = {};
    /// The element, in native byte order, of chunks that are not stored.
    std::vector<std::byte> fill = {};
    PixelSize pixel = {};
    double slice_distance = 0;  ///< in pixel.unit; 0 if unknown
    Seconds frame_interval = 0; ///< 0 if unknown
    std::vector<std::string> remarks = {};
    int channels = 1; ///< samples per element, interleaved; 1 unless elements are colours

    Bytes element_bytes() const { return channels * size_of(sample); }
    Bytes chunk_bytes() const; ///< of complete headers
    /// The name of an axis for messages: "energy", or "axis 2".
    std::string axis_name(std::size_t axis) const;
    /// Throws InvalidFile, for the file at `path`, unless there are 1 to most_array_axes axes, none
    /// is empty, and the number of bytes does not overflow. Completes `chunk` and `fill`.
    void check(const std::string& path);
    void complete(); ///< as check(), of a valid header
};

/// A part of an array: `count` positions from `start` on along each axis.
struct ArrayBlock {
    std::vector<std::int64_t> start, count;
    Elements elements() const;
};

/// An array, read in blocks. Not thread-safe.
class ArraySource {
  public:
    virtual ~ArraySource() = default;
    ArraySource(const ArraySource&) = delete;
    ArraySource& operator=(const ArraySource&) = delete;

    const std::string& path() const { return path_; }
    const ArrayHeader& header() const { return header_; }

    /// Reads samples in native byte order and C order.
    ///
    /// Requires  a block within the array, and a buffer of exactly its size (std::logic_error).
    /// Throws    InvalidFile if it cannot be read.
    void read(const ArrayBlock& block, std::span<std::byte> to);
    /// True if it is known, without reading samples, that all samples of a block are the fill
    /// value.
    bool is_fill(const ArrayBlock& block);
    /// If samples are read from a scratch file, such as a decompressed copy: completes it, and
    /// returns its position, from which other sources of the same array can read while this one
    /// exists. Throws InvalidFile if the file is damaged.
    virtual ScratchPlace share() { return {}; }

  protected:
    /// Throws InvalidFile as ArrayHeader::check().
    ArraySource(std::string path, ArrayHeader header);
    /// The header was checked already; its total size may be unknown.
    struct Checked {};
    ArraySource(std::string path, ArrayHeader header, Checked);

  private:
    virtual void load(const ArrayBlock& block, std::span<std::byte> to) = 0;
    virtual bool lacks(const ArrayBlock&) { return false; }

    std::string path_;
    ArrayHeader header_;
};

/// Writes an array in blocks, in any order unless in_order(). The file appears whole or not at all.
/// Samples that are not written are the fill value.
class ArraySink {
  public:
    virtual ~ArraySink() = default;
    ArraySink(const ArraySink&) = delete;
    ArraySink& operator=(const ArraySink&) = delete;

    const std::string& path() const { return path_; }
    const ArrayHeader& header() const { return header_; }
    /// True if blocks must be whole rows (all axes after the rows' included) that follow one
    /// another in C order, without gaps.
    virtual bool in_order() const { return false; }

    /// Requires  a block within the array that begins at a multiple of the chunk along each axis
    /// and
    ///           ends at one or at the end of the array; not written before; a buffer of exactly
    ///           its size (std::logic_error).
    /// Throws    InvalidFile if it cannot be written.
    void write(const ArrayBlock& block, std::span<const std::byte> from);
    /// Makes the file appear. Throws InvalidFile.
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

/// Copies a block of elements of `size` bytes between arrays in memory whose neighbours along each
/// axis are `from_steps` and `to_steps` elements apart.
void copy_block(std::span<const std::int64_t> count, Bytes size, const std::byte* from,
                std::span<const Elements> from_steps, std::byte* to,
                std::span<const Elements> to_steps);

/// The distance between neighbours along each axis of an array without gaps, in samples.
std::vector<Elements> steps_of(std::span<const std::int64_t> lengths);

/// Fills a buffer with copies of one sample.
void fill_samples(std::span<const std::byte> sample, std::span<std::byte> to);
/// True if a buffer consists of copies of one sample, bit for bit.
bool consists_of(std::span<const std::byte> sample, std::span<const std::byte> samples);

} // namespace sextant
