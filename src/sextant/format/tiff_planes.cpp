// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff_planes.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

/// The number of an axis that is read: the one asked for, or the first with a remark.
std::int64_t chosen(const std::string& path, std::string_view axis,
                    std::optional<std::int64_t> asked, std::int64_t count, FrameHeader& header) {
    if (asked && *asked >= count) {
        throw InvalidFile(path, fmt::format("has no {} {}, expected {}", axis, *asked,
                                            count == 1 ? "0" : fmt::format("0 to {}", count - 1)));
    }
    if (!asked && count > 1) {
        header.remarks.push_back(fmt::format("holds {0} {1}s a frame, of which {1} 0 is read; "
                                             "--{1} N chooses another",
                                             count, axis));
    }
    return asked.value_or(0);
}

/// The plane that a page is, if it is one.
std::optional<PlanePosition> plane_of(std::int64_t page, const TiffNotes& notes,
                                      const PlaneChoice& choice) {
    if (notes.positions.empty()) {
        return page < choice.axes.planes() ? std::optional(choice.axes.position_of(page))
                                           : std::nullopt;
    }
    auto position = notes.positions[static_cast<std::size_t>(page)];
    if (position && choice.by_slices)
        std::swap(position->slice, position->frame);
    return position;
}

} // namespace

PlaneChoice choose_planes(const std::string& path, const TiffNotes& notes, const TiffPage& page,
                          std::int64_t pages, const SourceOptions& options, FrameHeader& header) {
    PlaneChoice choice;
    choice.axes.frames.count = std::max(pages, notes.images);
    if (notes.axes)
        choice.axes = *notes.axes;
    PageAxes& axes = choice.axes;
    choice.by_slices = axes.frames.count == 1 && axes.slices.count > 1 && !options.slice;
    if (choice.by_slices) {
        std::swap(axes.frames, axes.slices);
        header.frame_interval = 0;
    }
    Hyperstack& stack = header.hyperstack;
    stack.channels = axes.channels.count * page.channels;
    stack.slices = axes.slices.count;
    stack.channel = chosen(path, "channel", options.channel, stack.channels, header);
    stack.slice = chosen(path, "slice", options.slice, stack.slices, header);
    choice.first = {stack.channel / page.channels, stack.slice, 0};
    choice.sample = static_cast<int>(stack.channel % page.channels);
    return choice;
}

void keep_frames(std::vector<TiffPage>& pages, const TiffNotes& notes, const PlaneChoice& choice,
                 FrameHeader& header) {
    struct Kept {
        std::int64_t frame, page;
    };
    std::vector<Kept> kept;
    std::int64_t strange = 0;
    const std::int64_t found = std::ssize(pages);
    for (std::int64_t page = 0; page < found; ++page) {
        const auto plane = plane_of(page, notes, choice);
        strange += plane ? 0 : 1;
        if (plane && plane->channel == choice.first.channel && plane->slice == choice.first.slice)
            kept.push_back({plane->frame, page});
    }
    if (strange > 0) {
        header.remarks.push_back(fmt::format(
            "{} of its {} pages are outside its first image and are left out", strange, found));
    }
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Kept& a, const Kept& b) { return a.frame < b.frame; });
    std::vector<TiffPage> frames;
    for (const Kept& one : kept)
        frames.push_back(std::move(pages[static_cast<std::size_t>(one.page)]));
    pages = std::move(frames);
    header.frames = choice.axes.frames.count;
    if (notes.positions.empty() || notes.cut_off || std::ssize(pages) == header.frames)
        return;
    header.remarks.push_back(fmt::format("{} of its {} frames are in other files",
                                         header.frames - std::ssize(pages), header.frames));
    header.frames = std::ssize(pages);
}

} // namespace sextant::format
