// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sextant::format {

/// The state of a file or folder, to detect changes.
struct WatchedFile {
    std::string path;
    std::uint64_t device = 0, file = 0;
    Bytes size = 0;
    std::int64_t changed = 0; ///< time of the last change, in nanoseconds of the system's clock
    bool operator==(const WatchedFile&) const = default;
};

/// A series that another program is still writing: a file that gains frames, or a growing set of
/// files with one frame each. Names are as for open_frames(). Frames are numbered in the
/// order of their arrival; whole() returns the number of frames that can be read now, and refresh()
/// looks for more.
///
/// A frame is found when the file is large enough to hold the frame. In formats that store a frame
/// in several parts, its content may still be incomplete. HDF5 frames are therefore found when the
/// next frame follows, or when the file has not changed for a quarter of a second.
///
/// `header().frames` is an upper bound that is never reached; use whole().
class GrowingFrames : public FrameSource {
  public:
    /// Throws InvalidFile as open_frames() does if there is no frame yet, and InvalidTask for Zarr
    /// stores.
    static std::unique_ptr<GrowingFrames> open(const std::string& name,
                                               const SourceOptions& options);

    std::int64_t whole() const;
    /// Reopens the series if it has changed, and returns true if there are more frames. If the file
    /// cannot be opened at this moment, the next call tries again.
    ///
    /// Throws    InvalidFile, which names the file, if the file shrank or was replaced.
    /// Cost      queries the state of the file. If refresh() is called often, at most a fifth of
    ///           the time is spent opening the file.
    bool refresh();
    /// True if the file states the number of frames in advance and contains all of them.
    bool is_complete() const;
    /// Returns remarks for the user since the last call, such as on files that arrived out of
    /// order.
    std::vector<std::string> take_remarks();

  private:
    GrowingFrames(std::string name, const SourceOptions& options,
                  std::unique_ptr<FrameSource> source);
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to);
    void note_statement(const FrameHeader& header);
    std::unique_ptr<FrameSource> reopened();
    void take_files(std::vector<std::string> found);
    void check_replaced(const std::vector<WatchedFile>& now) const;
    std::vector<std::string> watched_paths() const;

    std::string name_;
    SourceOptions options_;
    std::unique_ptr<FrameSource> source_;
    std::vector<std::string> files_; ///< in order of arrival, for files with one frame each
    std::vector<WatchedFile> watched_;
    bool holds_back_ = false; ///< true if the last frame may be incomplete
    bool announced_ = false;  ///< true if the file announced the length of the series
    Seconds next_ = 0;        ///< earliest time of the next reopening
    std::vector<std::string> remarks_;
};

} // namespace sextant::format
