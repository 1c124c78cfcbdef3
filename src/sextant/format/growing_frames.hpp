// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/format/catalogue.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sextant::format {

/// The state of a file or folder, to notice that it was changed.
struct WatchedFile {
    std::string path;
    std::uint64_t device = 0, file = 0;
    Bytes size = 0;
    std::int64_t changed = 0; ///< nanoseconds on the system's clock
    bool operator==(const WatchedFile&) const = default;
};

/// A series that another program is still writing, by a name as for open_frames(): a file whose
/// frames become more, or files of one frame each. Frames are numbered in the order in which they
/// are found; whole() states how many can be read now, and refresh() looks for more.
///
/// A frame is found when the file is large enough to hold it. Its content may still be incomplete
/// in formats that store it in several parts; HDF5 frames are therefore found when another one
/// follows, or when the file has not changed for a quarter of a second.
///
/// `header().frames` is a bound that is never reached: use whole().
class GrowingFrames : public FrameSource {
  public:
    /// Throws InvalidFile as open_frames() if no frame is there yet, InvalidTask for Zarr stores.
    static std::unique_ptr<GrowingFrames> open(const std::string& name,
                                               const SourceOptions& options);

    std::int64_t whole() const;
    /// Opens the series again if it has changed; returns true if there are more frames. A file that
    /// cannot be opened at this moment is tried again by the next call.
    ///
    /// Throws    InvalidFile, naming the file, if it shrank or was replaced.
    /// Cost      looks at the file's state. Opening takes at most a fifth of the time between calls
    ///           of a caller that calls often.
    bool refresh();
    /// True if the file states a number of frames in advance and holds all of them.
    bool is_complete() const;
    /// Sentences about what was found since the last call, such as files that came out of order.
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
    std::vector<std::string> files_; ///< in order of arrival, for files of one frame each
    std::vector<WatchedFile> watched_;
    bool holds_back_ = false; ///< the last frame may be incomplete
    bool announced_ = false;  ///< the file stated many more frames than it held
    Seconds next_ = 0;        ///< when the series may be opened again
    std::vector<std::string> remarks_;
};

} // namespace sextant::format
