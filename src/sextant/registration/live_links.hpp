// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/journal.hpp"
#include "sextant/registration/ledger.hpp"
#include "sextant/registration/pair_reader.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant {
struct RegistrationOptions;
}

namespace sextant::registration {

/// Returns a text that states all on which a link between two frames depends, besides their
/// samples.
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

    std::optional<std::vector<std::byte>> find(const EntryName& name) override;
    void keep(const EntryName& name, std::span<const std::byte> bytes) override {
        ledger_->keep(name, bytes);
    }
    void refresh() override { ledger_->refresh(); }

  private:
    std::unique_ptr<Ledger> ledger_;
    std::map<EntryName, TimedResult> links_;
};

} // namespace sextant::registration
