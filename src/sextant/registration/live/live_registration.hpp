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

/// Returns a text with everything that a link between two frames depends on, except the samples.
///
/// Input     the options, the header of the series, the offset that is subtracted from samples, and
///           the hash of the detector's images (CorrectedFrames::detector_hash(); 0 without).
std::string conditions_of_links(const RegistrationOptions& options, const FrameHeader& series,
                                double offset, std::uint64_t detector);

/// Registrations of frames to the frames before them (Work::link) that were made while the series
/// was recorded, in the file `live.links` of a checkpoint's folder. SeriesRegistration takes from
/// them those that it would make itself, with the same bits: the frames have the same statistics,
/// and are neighbours or not, as they were then.
class LiveLinks {
  public:
    /// Creates the file, or continues one that was made under the same conditions. Throws
    /// InvalidTask if it was made under others, InvalidFile if it cannot be written or another
    /// process writes it.
    LiveLinks(const std::string& folder, const std::string& conditions);

    /// If the file cannot be written any more, keep() writes nothing from then on: links save time,
    /// but frames must be taken. Returns the reason once; "" if there is none.
    std::string take_failure() { return std::exchange(failure_, {}); }

    /// Called for each frame before its links.
    void keep(std::int64_t frame, const FrameStatistics& statistics);
    /// `neighbours`: no usable frame is between the two.
    void keep(std::int64_t reference, std::int64_t moved, bool neighbours,
              const TimedResult& result);
    /// True if a link of these frames is there.
    bool has(std::int64_t reference, std::int64_t moved, bool neighbours) const;
    /// The number of links.
    std::size_t size() const { return links_.size(); }

    static std::string path(const std::string& folder);
    static bool exist(const std::string& folder);
    static void remove(const std::string& folder);

  private:
    struct Pair {
        std::int64_t reference, moved;
        bool neighbours;
        auto operator<=>(const Pair&) const = default;
    };

    void write(std::span<const std::byte> entry);

    std::set<Pair> links_;
    std::map<std::int64_t, FrameStatistics> frames_; ///< of an earlier run of the same series
    std::optional<Journal> journal_;                 ///< empty after a failure
    std::string failure_;
};

/// A ledger that also finds links made while the series was recorded.
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
    std::string flag = {}; ///< why the frame is not averaged; empty if it is
};

/// Registers frames one after another while a series is recorded, and averages them. The first
/// usable frame is the provisional reference; each other frame is registered to it, starting at the
/// motion of the frame before and, if the NCC is then low, by a search. When frames have moved by
/// half of their size, a later frame takes its place, and motions are composed.
///
/// These motions are provisional: they are registrations to one reference, without vote and stages.
/// Meanwhile, link() makes the registrations that SeriesRegistration needs later.
///
/// Input     a source of the frames as recorded, which has each frame when it is passed to take().
/// Requires  frames of 16x16 pixels or more (InvalidTask).
/// Cost      about two registrations from a known start per frame. Memory: `farthest` + 3 pyramids,
///           and three planes.
class LiveRegistration {
  public:
    LiveRegistration(FrameSource& source, const RegistrationOptions& options, LiveLinks& links);

    /// Registers the next frame, whose number is the number of frames taken so far, and adds it to
    /// the average. A frame that cannot be used is taken with a flag.
    /// Throws    UnusableFrame or InvalidFile if the frame cannot be read, or all samples are
    /// equal,
    ///           and `is_last`: nothing is taken then, and the frame may be whole later.
    const LiveFrame& take(bool is_last);
    /// Makes the next link that is missing between the frames taken so far. Returns false if there
    /// is none.
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
    std::size_t linked_ = 1, back_ = 0; ///< the next link: of usable_[linked_], back_ frames before
    std::deque<double> means_;          ///< of the last usable frames

    std::int64_t reference_ = -1;
    std::int64_t base_ = -1; ///< the frame that the next one is registered to
    RigidMotion of_base_;    ///< its motion to the reference
    RigidMotion last_;       ///< the motion of the last registered frame to the base
    double usual_ncc_ = 0;   ///< of recent frames

    std::vector<float> sum_, count_, shown_;
    std::int64_t averaged_ = 0;
};

} // namespace sextant::registration
