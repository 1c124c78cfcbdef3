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

/// The layout of uncompressed samples in a file. The samples of the pixel at position p begin
/// `start` + (pixel size) · Σ p[axis] · steps[axis] bytes into the file.
struct StoredLayout {
    Bytes start = 0;
    bool swapped = false; ///< true if the byte order differs from the machine's
    bool boolean = false; ///< true for bools: bytes other than 0 are read as 1
    /// The lengths of the array's axes (the last two are rows and columns), the steps along the
    /// axes in pixels, and the choice of axes that are frames. Empty if frames are stored one after
    /// another.
    std::vector<std::int64_t> lengths = {};
    std::vector<Elements> steps = {};
    FrameAxes axes = {};
};

/// Swaps the bytes of samples if `swapped`, and replaces bytes other than 0 by 1 if `boolean`.
void correct_samples(Sample sample, bool swapped, bool boolean, std::span<std::byte> samples);

/// Returns the steps of a contiguous array in C order or, if `fortran`, in Fortran order, in which
/// the first axis varies fastest. Throws InvalidFile if the size of the array overflows.
std::vector<Elements> stored_steps(const std::string& path, std::span<const std::int64_t> lengths,
                                   Sample sample, bool fortran = false);

/// Returns the position in the file after the last sample of a frame.
Bytes end_of_frame(const FrameHeader& header, const StoredLayout& layout, std::int64_t frame);

/// Throws InvalidFile unless frames, sides and channels are positive and the total size does not
/// overflow.
void checked_frames(const std::string& path, const FrameHeader& header);

/// Returns a source of frames that a file stores in the given layout. Incomplete frames are
/// omitted, with a remark. Throws InvalidFile if no frame is complete.
///
/// Cost      if columns are farther apart than rows in the file, each request for rows visits every
///           column.
std::unique_ptr<FrameSource> stored_frames(SourceFile file, FrameHeader header,
                                           StoredLayout layout);

/// Bytes with random access, such as the decompressed bytes of a file.
struct StoredBytes {
    std::string path;
    std::function<void(Bytes position, std::span<std::byte> to)> read;
    std::function<ScratchPlace()> share = {}; ///< as ArraySource::share(); may be empty
};
/// As above, for bytes that hold all frames of the header completely.
std::unique_ptr<FrameSource> stored_frames(StoredBytes bytes, FrameHeader header,
                                           StoredLayout layout);
/// Returns an array that is stored in the given layout. Only the start, the byte order, bools and
/// the steps of the layout are used.
std::unique_ptr<ArraySource> stored_array(StoredBytes bytes, ArrayHeader header,
                                          StoredLayout layout);

/// Returns a source of frames that start at several positions of a file. The rows of a frame are
/// contiguous. `each` has the header of each frame; frames that differ from `header` cause
/// InvalidFile when they are read.
std::unique_ptr<FrameSource> stored_pages(SourceFile file, FrameHeader header,
                                          std::vector<Bytes> starts, std::vector<FrameHeader> each,
                                          bool swapped);

/// Returns the frames of another source with another header. `convert` converts the rows of the
/// source.
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

/// A single frame whose rows a codec decodes sequentially. The codec is a class derived from
/// FrameFile: restart() goes to row 0, and decode_row(number, to) decodes the next row. Rows before
/// the requested rows are decoded and discarded; reading an earlier row restarts the codec.
template <class Codec>
class RowwiseFrame : public Codec {
  public:
    using Codec::Codec;

    void load(std::int64_t, Rows rows, std::span<std::byte> to) {
        const auto bytes = static_cast<std::size_t>(this->row_bytes());
        std::int64_t next = std::exchange(next_, -1); // -1 if decoding fails
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
    std::int64_t next_ = -1; ///< next row of the codec; -1 if the codec must restart
    std::vector<std::byte> passed_;
};

} // namespace sextant::format
