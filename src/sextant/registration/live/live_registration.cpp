// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/live/live_registration.hpp"

#include "sextant/comm/provenance.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/series/checkpoint.hpp"
#include "sextant/registration/series/state.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// A record of `live.links`: the statistics of a frame, or a link.
struct LiveEntry {
    std::int64_t reference = -1, moved = 0; ///< reference −1: statistics of frame `moved`
    std::int64_t neighbours = 0;
    FrameStatistics statistics = {};
    TimedResult result = {};
};
static_assert(std::is_trivially_copyable_v<LiveEntry>);

std::optional<LiveEntry> live_entry(std::span<const std::byte> record) {
    LiveEntry entry;
    if (record.size() != sizeof entry)
        return std::nullopt;
    std::memcpy(&entry, record.data(), sizeof entry);
    return entry;
}

/// Calls `visit` for each entry of the folder's `live.links`, if the file was written under these
/// conditions.
template <class Visit>
void visit_live_links(const std::string& folder, const std::string& conditions,
                      const Visit& visit) {
    if (!LiveLinks::exist(folder))
        return;
    Journal journal = Journal::open(path_of_live_links(folder));
    if (journal.text() != conditions)
        return;
    journal.visit([&](const RecordPlace&, std::span<const std::byte> record) {
        if (const auto entry = live_entry(record))
            visit(*entry);
    });
}

} // namespace

std::string conditions_of_links(const RegistrationOptions& options, const FrameHeader& series,
                                double offset, std::uint64_t detector) {
    std::string text = fmt::format(
        "sextant: {}\nshape: {}x{}\nsamples: {}\noffset: {}\ndetector: {:016x}\n", version(),
        series.shape.width, series.shape.height, name(series.sample), offset, detector);
    text += fmt::format("finest level: {}\n", finest_of_links(options, series.shape));
    for (const auto& [option, value] : identity_of(options, options_without_effect_on_links()))
        text += fmt::format("{}: {}\n", option, value);
    return text;
}

bool LiveLinks::exist(const std::string& folder) {
    std::error_code unknown;
    return std::filesystem::exists(path_of_live_links(folder), unknown);
}

LiveLinks::LiveLinks(const std::string& folder, const std::string& conditions) {
    const std::string path = path_of_live_links(folder);
    std::error_code ignored;
    if (Checkpoint::is_marked_failed(folder) && exist(folder) &&
        Journal::open(path).text() != conditions)
        std::filesystem::remove(path, ignored); // links of a failed run do not block a new run
    journal_.emplace(Journal::append_to(
        path, conditions, [this](const RecordPlace&, std::span<const std::byte> record) {
            const auto entry = live_entry(record);
            if (entry && entry->reference < 0)
                frames_[entry->moved] = entry->statistics;
            else if (entry)
                links_.insert({entry->reference, entry->moved, entry->neighbours != 0});
        }));
    if (*journal_->text() != conditions)
        throw InvalidData(fmt::format("{}: belongs to a run with other options or on another "
                                      "series; use another folder, or the option restart",
                                      journal_->path()));
}

void LiveLinks::write(std::span<const std::byte> entry) {
    if (!journal_)
        return;
    try {
        journal_->append(entry);
    } catch (const InvalidFile& failed) {
        failure_ = failed.what();
        journal_.reset();
    }
}

void LiveLinks::keep(std::int64_t frame, const FrameStatistics& statistics) {
    const auto before = frames_.find(frame);
    if (before != frames_.end() && same_samples(before->second, statistics))
        return;
    // The frame differs from the frame of the earlier run, so its links are recomputed.
    std::erase_if(links_, [frame](const Pair& pair) {
        return pair.reference == frame || pair.moved == frame;
    });
    frames_[frame] = statistics;
    const LiveEntry entry{-1, frame, 0, statistics};
    write(std::as_bytes(std::span(&entry, 1)));
}

void LiveLinks::keep(std::int64_t reference, std::int64_t moved, bool neighbours,
                     const TimedResult& result) {
    const LiveEntry entry{reference, moved, neighbours ? 1 : 0, {}, result};
    write(std::as_bytes(std::span(&entry, 1)));
    links_.insert({reference, moved, neighbours});
}

bool LiveLinks::has(std::int64_t reference, std::int64_t moved, bool neighbours) const {
    return links_.contains({reference, moved, neighbours});
}

LedgerWithLinks::LedgerWithLinks(std::unique_ptr<Ledger> ledger, const std::string& folder,
                                 const std::string& conditions,
                                 std::span<const std::int64_t> usable,
                                 std::span<const FrameStatistics> statistics)
    : ledger_(std::move(ledger)) {
    std::map<std::int64_t, bool> same; // by frame: true if its statistics are those of this series
    const auto index_of = [&](std::int64_t frame) {
        return std::ranges::lower_bound(usable, frame) - usable.begin();
    };
    const auto is_usable = [&](std::int64_t frame) {
        return std::ranges::binary_search(usable, frame) && same[frame];
    };
    visit_live_links(folder, conditions, [&](const LiveEntry& entry) {
        const auto [reference, moved] = std::pair(entry.reference, entry.moved);
        if (reference < 0) {
            same[moved] =
                moved >= 0 && moved < std::ssize(statistics) &&
                same_samples(entry.statistics, statistics[static_cast<std::size_t>(moved)]);
            std::erase_if(links_, [moved = moved](const auto& link) {
                return link.first.reference == moved || link.first.moved == moved;
            });
            return;
        }
        if (!is_usable(reference) || !is_usable(moved))
            return;
        if ((index_of(moved) == index_of(reference) + 1) == (entry.neighbours != 0))
            links_[{Work::link, 0, reference, 0, moved}] = entry.result;
    });
}

std::optional<std::vector<std::byte>> LedgerWithLinks::load(const EntryName& name) {
    const auto link = links_.find(name);
    if (link == links_.end())
        return ledger_->find(name);
    const auto bytes = std::as_bytes(std::span(&link->second, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

namespace {

RigidOptions options_of_links(const RegistrationOptions& options) {
    RigidOptions rigid = options.rigid;
    rigid.inverts = options.contrast == ContrastSearch::automatic;
    return rigid;
}

} // namespace

LiveRegistration::LiveRegistration(FrameSource& source, const RegistrationOptions& options,
                                   LiveLinks& links)
    : source_(source),
      options_(options),
      links_(links),
      team_(options.threads),
      reader_(source, options_of_links(options), options.prefilter,
              std::make_shared<FrameCache>(static_cast<std::size_t>(options.farthest) + 3,
                                           finest_of_links(options, source.header().shape)),
              &team_),
      resampler_(source, &team_) {
    const auto pixels = static_cast<std::size_t>(source.header().shape.elements());
    sum_.resize(pixels);
    count_.resize(pixels);
    shown_.resize(pixels);
}

/// Compares a frame with the usable frames before it. Returns the reason why the frame is left out;
/// "" if the frame is usable.
std::string LiveRegistration::fault_of_next(const FrameStatistics& statistics) {
    constexpr std::size_t most = 31;
    const std::vector<FrameStatistics> before(recent_.begin(), recent_.end());
    std::string fault = fault_of(statistics, usual_mean(before), options_.limits);
    if (fault.empty())
        recent_.push_back(statistics);
    if (recent_.size() > most)
        recent_.pop_front();
    return fault;
}

const LiveFrame& LiveRegistration::take(bool is_last) {
    LiveFrame next{std::ssize(frames_)};
    try {
        const FrameStatistics statistics = reader_.statistics(next.frame);
        next.flag = fault_of_next(statistics);
        if (next.flag.empty()) {
            links_.keep(next.frame, statistics);
            usable_.push_back(next.frame);
            place(next);
        }
    } catch (const UnusableFrame& why) {
        if (is_last)
            throw;
        next.flag = why.what();
    } catch (const InvalidFile& why) {
        if (is_last)
            throw;
        next.flag = why.what();
    }
    if (next.flag.empty())
        add(next);
    frames_.push_back(std::move(next));
    return frames_.back();
}

bool LiveRegistration::good(const RigidResult& result) const {
    constexpr double least = .6; // fraction of the usual NCC
    return trusted(result) && result.ncc_after >= least * usual_ncc_;
}

/// Makes this frame the reference.
void LiveRegistration::begin_at(std::int64_t frame) {
    reference_ = base_ = frame;
    of_base_ = last_ = {};
    usual_ncc_ = 0;
    averaged_ = 0;
    std::ranges::fill(sum_, 0.F);
    std::ranges::fill(count_, 0.F);
}

void LiveRegistration::place(LiveFrame& frame) {
    if (base_ < 0) {
        begin_at(frame.frame);
        frame.ncc = 1;
        return;
    }
    RigidResult result = reader_.refine(base_, frame.frame, last_);
    if (!good(result)) {
        const RigidResult searched = reader_.align(base_, frame.frame);
        if (trusted(searched) && (!trusted(result) || searched.ncc_after > result.ncc_after))
            result = searched;
    }
    frame.ncc = result.ncc_after;
    if (!trusted(result)) {
        frame.flag = "unrelated";
        if (averaged_ > 1)
            return;
        // No frame matches the reference, which may have been recorded before the beam was on.
        // Restart.
        for (LiveFrame& before : frames_) {
            if (before.flag.empty())
                before.flag = "unrelated";
        }
        begin_at(frame.frame);
        frame.flag.clear();
        frame.ncc = 1;
        return;
    }
    frame.motion = compose(result.motion, of_base_);
    if (result.ambiguous) {
        frame.flag = "ambiguous";
        return;
    }
    constexpr double share = .1; // weight of a new value in the usual NCC
    usual_ncc_ += (usual_ncc_ == 0 ? 1 : share) * (result.ncc_after - usual_ncc_);
    last_ = result.motion;
    constexpr double least_overlap = .5;
    if (result.overlap < least_overlap) {
        base_ = frame.frame;
        of_base_ = frame.motion;
        last_ = {};
    }
}

void LiveRegistration::add(const LiveFrame& frame) {
    resampler_.resample(frame.frame, frame.motion, area_of(source_.header().shape), shown_);
    for (std::size_t pixel = 0; pixel < shown_.size(); ++pixel) {
        const float sample = shown_[pixel];
        const bool covers = std::isfinite(sample);
        sum_[pixel] += covers ? sample : 0.F;
        count_[pixel] += covers ? 1.F : 0.F;
    }
    ++averaged_;
}

std::vector<float> LiveRegistration::average() const {
    std::vector<float> mean(sum_.size());
    for (std::size_t pixel = 0; pixel < mean.size(); ++pixel)
        mean[pixel] = count_[pixel] > 0 ? sum_[pixel] / count_[pixel] : 0.F;
    return mean;
}

bool LiveRegistration::link() {
    while (linked_ < usable_.size()) {
        if (back_ == 0)
            back_ = std::min(static_cast<std::size_t>(options_.farthest), linked_);
        const bool neighbours = back_ == 1;
        const std::int64_t reference = usable_[linked_ - back_], moved = usable_[linked_];
        --back_;
        linked_ += back_ == 0;
        if (links_.has(reference, moved, neighbours))
            continue;
        TimedResult timed;
        sextant::timed(timed.seconds, [&] {
            timed.result =
                neighbours ? reader_.align(reference, moved) : reader_.locate(reference, moved);
        });
        links_.keep(reference, moved, neighbours, timed);
        return true;
    }
    return false;
}

} // namespace sextant::registration
