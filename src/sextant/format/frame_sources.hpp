// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/array_source.hpp"
#include "sextant/array/frame_source.hpp"
#include "sextant/format/source_file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant::format {

/// The layout of uncompressed samples in a file: sample x of row y of frame i begins `start(i) +
/// size · (y · row + x · column)` bytes into the file. The channels of a pixel are adjacent.
struct StoredLayout {
    std::vector<Bytes> starts; ///< start of each known frame, or only of the first
    Elements frame = 0;        ///< samples from one frame to the next; 0 if `starts` has all frames
    Elements row = 0, column = 1;
    bool swapped = false;               ///< true if in foreign byte order
    bool boolean = false;               ///< true if bytes other than 0 are read as 1
    std::vector<FrameHeader> each = {}; ///< header of each frame; empty if all are equal

    Bytes start(std::int64_t i, Sample sample) const {
        return frame == 0 ? starts[static_cast<std::size_t>(i)]
                          : starts.front() + i * frame * size_of(sample);
    }
};

/// Returns the layout of frames stored from byte `start` on, without padding between rows or
/// frames. The shape of the header must have been checked by checked_frames.
StoredLayout dense_layout(const FrameHeader& header, Bytes start, bool swapped);

/// Throws InvalidFile unless frames, sides and channels are positive and their total bytes do not
/// overflow.
void checked_frames(const std::string& path, const FrameHeader& header);

/// Returns a source of frames stored in a file with the given layout. Incomplete frames are left
/// out, with a remark; throws InvalidFile if none is complete.
///
/// Cost      in Fortran order, each request for rows visits every column.
std::unique_ptr<FrameSource> stored_frames(SourceFile file, FrameHeader header,
                                           StoredLayout layout);

/// Returns a sink that writes `start`, such as a header, followed by all samples in this machine's
/// byte order.
std::unique_ptr<FrameSink> stored_sink(const std::string& path, const FrameHeader& header,
                                       std::span<const std::byte> start);

/// The samples of a file from byte `start` on, in C order without gaps. `swapped`: in foreign byte
/// order. `boolean`: bytes other than 0 are read as 1. Throws InvalidFile if it is truncated.
std::unique_ptr<ArraySource> stored_array(SourceFile file, ArrayHeader header, Bytes start,
                                          bool swapped, bool boolean);
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
