// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/core/journal.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/pair_reader.hpp"
#include "sextant/registration/series/records.hpp"
#include "sextant/registration/transform/combined.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant::registration {

/// Returns a string with everything that a link between two frames depends on, except the samples.
///
/// Input     the options; the header of the series; the offset that is subtracted from samples; the
///           hash of the detector images (CorrectedFrames::detector_hash()), 0 if there are none.
std::string conditions_of_links(const RegistrationOptions& options, const FrameHeader& series,
                                double offset, std::uint64_t detector);

/// Links computed during recording: registrations of frames to earlier frames (Work::link), stored
/// in the file `live.links` of a checkpoint folder. SeriesRegistration reuses a link if computing
/// it again would give the same bits: both frames still have the same statistics, and they are (or
/// are not) neighbours as before.
class LiveLinks {
  public:
    /// Creates the file, or continues a file that was written under the same conditions. Throws
    /// InvalidTask if the conditions differ, InvalidFile if the file cannot be written or another
    /// process is writing it.
    LiveLinks(const std::string& folder, const std::string& conditions);

    /// Returns the reason why a write failed, and clears it; "" if no write has failed since the
    /// last call. After a failure, keep() writes nothing: links only save time, and recording must
    /// go on.
    std::string take_failure() { return std::exchange(failure_, {}); }

    /// Stores the statistics of a frame. Call this for each frame before its links.
    void keep(std::int64_t frame, const FrameStatistics& statistics);
    /// Stores a link. `neighbours`: true if no usable frame is between the two.
    void keep(std::int64_t reference, std::int64_t moved, bool neighbours,
              const TimedResult& result);
    /// True if a link between these frames is stored.
    bool has(std::int64_t reference, std::int64_t moved, bool neighbours) const;
    /// The number of links.
    std::size_t size() const { return links_.size(); }

    static bool exist(const std::string& folder);

  private:
    struct Pair {
        std::int64_t reference, moved;
        bool neighbours;
        auto operator<=>(const Pair&) const = default;
    };

    void write(std::span<const std::byte> entry);

    std::set<Pair> links_;
    /// Statistics of this or an earlier run, by frame.
    std::map<std::int64_t, FrameStatistics> frames_;
    std::optional<Journal> journal_; ///< empty after a failure
    std::string failure_;
};

/// A ledger that also finds links that were computed during recording.
class LedgerWithLinks : public Ledger {
  public:
    /// Input     the usable frames of the series, and the statistics of all its frames.
    LedgerWithLinks(std::unique_ptr<Ledger> ledger, const std::string& folder,
                    const std::string& conditions, std::span<const std::int64_t> usable,
                    std::span<const FrameStatistics> statistics);

    /// The number of links.
    std::size_t size() const { return links_.size(); }

  private:
    std::optional<std::vector<std::byte>> load(const EntryName& name) override;
    void store(const EntryName& name, std::span<const std::byte> bytes) override {
        ledger_->keep(name, bytes);
    }
    void update() override { ledger_->refresh(); }

    std::unique_ptr<Ledger> ledger_;
    std::map<EntryName, TimedResult> links_;
};

/// A frame of a series that is still being recorded.
struct LiveFrame {
    std::int64_t frame = 0;
    RigidMotion motion = {}; ///< to the provisional reference
    double ncc = 0;
    std::string flag = {}; ///< reason why the frame is not averaged; empty if it is averaged
};

/// Registers frames one after another while a series is recorded, and averages them. The first
/// usable frame is the provisional reference; each other frame is registered to it, starting at the
/// motion of the previous frame; if that gives a low NCC, the motion is searched for. When frames
/// have moved by half of their size, later frames are registered to a more recent base frame, and
/// the motions are composed.
///
/// These motions are provisional: each comes from a single registration, without the vote and the
/// refinement stages. In the meantime, link() computes registrations that SeriesRegistration needs
/// later.
///
/// Input     a source of the recorded frames. A frame must be readable when take() is called for
///           it.
/// Requires  frames of 16x16 pixels or more (InvalidTask).
/// Cost      about two registrations per frame, each from a known start. Memory: `farthest` + 3
///           pyramids, and three planes.
class LiveRegistration {
  public:
    LiveRegistration(FrameSource& source, const RegistrationOptions& options, LiveLinks& links);

    /// Registers the next frame and adds it to the average. The frame's number is the number of
    /// frames taken so far. An unusable frame is taken with a flag.
    /// Throws    UnusableFrame or InvalidFile if `is_last` and the frame cannot be read or all its
    ///           samples are equal. The frame is then not taken, because it may still be
    ///           incomplete.
    const LiveFrame& take(bool is_last);
    /// Computes the next missing link between the frames taken so far. Returns false if no link is
    /// missing.
    bool link();

    const std::vector<LiveFrame>& frames() const { return frames_; }
    std::int64_t averaged() const { return averaged_; }
    /// The provisional reference; -1 if there is none yet.
    std::int64_t reference() const { return reference_; }
    /// The provisional average in the area of the reference; 0 where no frame covers the pixel.
    std::vector<float> average() const;
    /// The number of frames that cover each pixel.
    const std::vector<float>& count() const { return count_; }

  private:
    std::string fault_of_next(const FrameStatistics& statistics);
    void place(LiveFrame& frame);
    bool good(const RigidResult& result) const;
    void begin_at(std::int64_t frame);
    void add(const LiveFrame& frame);

    FrameSource& source_;
    const RegistrationOptions& options_;
    LiveLinks& links_;
    Team team_;
    PairReader reader_;
    Resampler resampler_;
    std::vector<LiveFrame> frames_;
    std::vector<std::int64_t> usable_;
    /// Next link: usable_[linked_] to the usable frame back_ before it.
    std::size_t linked_ = 1, back_ = 0;
    std::deque<FrameStatistics> recent_; ///< of the last usable frames

    std::int64_t reference_ = -1;
    std::int64_t base_ = -1; ///< frame that the next frame is registered to
    RigidMotion of_base_;    ///< motion of the base frame to the reference
    RigidMotion last_;       ///< motion of the last registered frame to the base frame
    double usual_ncc_ = 0;   ///< moving average of the NCC of recent frames

    std::vector<float> sum_, count_, shown_;
    std::int64_t averaged_ = 0;
};

} // namespace sextant::registration
