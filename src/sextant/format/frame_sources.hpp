// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/array/frame_source.hpp"
#include "sextant/format/source_file.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant::format {

/// The layout of uncompressed samples in a file: those of the pixel at position p of an array begin
/// `start` + (pixel size) · Σ p[axis] · steps[axis] bytes into the file.
struct StoredLayout {
    Bytes start = 0;
    bool swapped = false; ///< true if in foreign byte order
    bool boolean = false; ///< true if bytes other than 0 are read as 1
    /// The lengths of the array's axes, of which the last two are rows and columns, their steps in
    /// pixels, and those that are frames. Empty if frames are stored one after another.
    std::vector<std::int64_t> lengths = {};
    std::vector<Elements> steps = {};
    FrameAxes axes = {};
};

/// The steps of an array without gaps, in C order or, if the first axis varies fastest, in that of
/// Fortran. Throws InvalidFile if the size of the array overflows.
std::vector<Elements> stored_steps(const std::string& path, std::span<const std::int64_t> lengths,
                                   Sample sample, bool fortran = false);

/// The position in the file after the last sample of a frame.
Bytes end_of_frame(const FrameHeader& header, const StoredLayout& layout, std::int64_t frame);

/// Throws InvalidFile unless frames, sides and channels are positive and their total bytes do not
/// overflow.
void checked_frames(const std::string& path, const FrameHeader& header);

/// Returns a source of frames stored in a file with the given layout. Incomplete frames are left
/// out, with a remark; throws InvalidFile if none is complete.
///
/// Cost      if columns are farther apart than rows, each request for rows visits every column.
std::unique_ptr<FrameSource> stored_frames(SourceFile file, FrameHeader header,
                                           StoredLayout layout);

/// Bytes in any order, such as those that a file decompresses to.
struct StoredBytes {
    std::string path;
    std::function<void(Bytes position, std::span<std::byte> to)> read;
    std::function<ScratchPlace()> share = {}; ///< as ArraySource::share(); empty: nothing to share
};
/// The same; all frames of the header must be complete.
std::unique_ptr<FrameSource> stored_frames(StoredBytes bytes, FrameHeader header,
                                           StoredLayout layout);

/// Returns a source of frames that are stored at several positions, in rows without gaps. `each`
/// has the header of each frame: frames that differ from `header` are refused when they are read.
std::unique_ptr<FrameSource> stored_pages(SourceFile file, FrameHeader header,
                                          std::vector<Bytes> starts, std::vector<FrameHeader> each,
                                          bool swapped);

/// Returns the frames of another source with another header. `convert` makes their rows from those
/// of the source.
std::unique_ptr<FrameSource> converted_frames(
    std::unique_ptr<FrameSource> source, FrameHeader header,
    std::function<void(std::span<const std::byte> from, std::span<std::byte> to)> convert);

/// Returns a sink that writes `start`, such as a header, followed by all samples in this machine's
/// byte order.
std::unique_ptr<FrameSink> stored_sink(const std::string& path, const FrameHeader& header,
                                       std::span<const std::byte> start);

/// Writes `start`, such as a header, followed by all samples in this machine's byte order. Samples
/// that are not written are 0; large gaps take no space on the disk.
std::unique_ptr<ArraySink> stored_array_sink(const std::string& path, ArrayHeader header,
                                             std::span<const std::byte> start);

/// A single frame that a codec, a class derived from FrameFile, decodes sequentially from the first
/// row: restart() goes to row 0, and decode_row(number, to) decodes the next row. Rows before the
/// requested ones are decoded and discarded; going back restarts the codec.
template <class Codec>
class RowwiseFrame : public Codec {
  public:
    using Codec::Codec;

    void load(std::int64_t, Rows rows, std::span<std::byte> to) {
        const auto bytes = static_cast<std::size_t>(this->row_bytes());
        std::int64_t next = std::exchange(next_, -1); // stays -1 unless all rows are decoded
        if (next < 0 || next > rows.first) {
            this->restart();
            next = 0;
        }
        passed_.resize(bytes);
        for (; next < rows.first; ++next)
            this->decode_row(next, passed_);
        for (; next < rows.last; ++next) {
            this->decode_row(next, to.first(bytes));
            to = to.subspan(bytes);
        }
        next_ = next;
    }

  private:
    std::int64_t next_ = -1; ///< next row of the codec; -1 if it must restart
    std::vector<std::byte> passed_;
};

} // namespace sextant::format
