// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/format/source_file.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant::format {

/// Where samples lie that a file holds uncompressed: sample x of row y of frame i begins
/// `start(i) + size · (y · row + x · column)` bytes into the file. Channels lie side by side, with
/// columns that far apart.
struct StoredLayout {
    std::vector<Bytes> starts; ///< of each frame that is known of, or of the first of all
    Elements frame = 0;        ///< samples from one frame to the next; 0 where each is in `starts`
    Elements row = 0, column = 1;
    bool swapped = false; ///< in the byte order of other machines than this
    bool boolean = false; ///< bytes, of which any but 0 is read as 1
    std::vector<FrameHeader> each =
        {}; ///< what each frame says of itself; empty where all are alike

    Bytes start(std::int64_t i, Sample sample) const {
        return frame == 0 ? starts[static_cast<std::size_t>(i)]
                          : starts.front() + i * frame * size_of(sample);
    }
};

/// Rows and frames one after another from `start`, without padding. The shape of the header must
/// have been checked by checked_frames.
StoredLayout dense_layout(const FrameHeader& header, Bytes start, bool swapped);

/// Throws InvalidFile unless frames, sides and channels are positive and the bytes of all of them
/// can be counted.
void checked_frames(const std::string& path, const FrameHeader& header);

/// A source of frames that lie in a file like this. Frames that the file is too short for are left
/// out, with a remark; where none is whole, throws InvalidFile.
///
/// Cost      frames whose columns are apart (Fortran order) are read through as often as their
///           rows are asked for, some at a time.
std::unique_ptr<FrameSource> stored_frames(SourceFile file, FrameHeader header,
                                           StoredLayout layout);

/// A sink that writes `start`, such as a header, and then every sample behind the other in this
/// machine's byte order.
std::unique_ptr<FrameSink> stored_sink(const std::string& path, const FrameHeader& header,
                                       std::span<const std::byte> start);

/// A single frame that a codec decodes from its first row on: rows in front of those that are asked
/// for are decoded and forgotten, and going back begins anew.
class RowwiseFrame : public FrameSource {
  protected:
    RowwiseFrame(const std::string& path, FrameHeader header);

  private:
    /// Makes row 0 the next.
    virtual void restart() = 0;
    /// Decodes the next row, which is row `number`. Throws InvalidFile.
    virtual void decode_row(std::int64_t number, std::span<std::byte> to) = 0;
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) final;

    std::int64_t next_ = -1; ///< -1 where the codec is at no row
    std::vector<std::byte> passed_;
};

} // namespace sextant::format
