// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/live_links.hpp"

#include "sextant/comm/provenance.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/invalid_data.hpp"
#include "sextant/registration/checkpoint.hpp"
#include "sextant/registration/series_identity.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

/// A record of the file: the statistics of a frame, or a link.
struct LiveEntry {
    std::int64_t reference = -1, moved = 0; ///< reference: -1 for statistics, of the frame `moved`
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

/// Visits the entries of the file of a folder, if it was made under these conditions.
template <class Visit>
void visit_live_links(const std::string& folder, const std::string& conditions,
                      const Visit& visit) {
    if (!LiveLinks::exist(folder))
        return;
    Journal journal = Journal::open(LiveLinks::path(folder));
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
    for (const auto& [option, value] : identity_of(options, options_without_effect_on_links()))
        text += fmt::format("{}: {}\n", option, value);
    return text;
}

std::string LiveLinks::path(const std::string& folder) {
    return (std::filesystem::path(folder) / "live.links").string();
}

bool LiveLinks::exist(const std::string& folder) {
    std::error_code unknown;
    return std::filesystem::exists(path(folder), unknown);
}

void LiveLinks::remove(const std::string& folder) {
    std::error_code ignored;
    std::filesystem::remove(path(folder), ignored);
}

LiveLinks::LiveLinks(const std::string& folder, const std::string& conditions) {
    if (Checkpoint::is_marked_failed(folder) && exist(folder) &&
        Journal::open(path(folder)).text() != conditions)
        remove(folder); // links of a run that failed do not stop another one
    journal_.emplace(Journal::append_to(
        path(folder), conditions, [this](const RecordPlace&, std::span<const std::byte> record) {
            const auto entry = live_entry(record);
            if (entry && entry->reference < 0)
                frames_[entry->moved] = entry->statistics;
            else if (entry)
                links_.insert({entry->reference, entry->moved, entry->neighbours != 0});
        }));
    if (*journal_->text() != conditions)
        throw InvalidData(fmt::format("{}: belongs to a run with other options or of another "
                                      "series; use another folder, or restart",
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
    // The frame is not that of the earlier run, so links of it are made again.
    std::erase_if(links_, [frame](const Pair& pair) {
        return pair.reference == frame || pair.moved == frame;
    });
    frames_[frame] = statistics;
    LiveEntry entry;
    entry.moved = frame;
    entry.statistics = statistics;
    write(std::as_bytes(std::span(&entry, 1)));
}

void LiveLinks::keep(std::int64_t reference, std::int64_t moved, bool neighbours,
                     const TimedResult& result) {
    LiveEntry entry;
    entry.reference = reference;
    entry.moved = moved;
    entry.neighbours = neighbours ? 1 : 0;
    entry.result = result;
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
    std::map<std::int64_t, bool> same; // frames with the statistics of this series
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

std::optional<std::vector<std::byte>> LedgerWithLinks::find(const EntryName& name) {
    const auto link = links_.find(name);
    if (link == links_.end())
        return ledger_->find(name);
    const auto bytes = std::as_bytes(std::span(&link->second, 1));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

} // namespace sextant::registration
