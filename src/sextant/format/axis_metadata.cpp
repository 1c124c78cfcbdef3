// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/axis_metadata.hpp"

#include "sextant/format/checks.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

namespace sextant::format {

namespace {

/// The axis with one of these names, in upper or lower case; null if there is none.
const DescribedAxis* find_axis(std::span<const DescribedAxis> axes,
                               std::initializer_list<std::string_view> names) {
    const auto at = std::ranges::find_if(axes, [&](const DescribedAxis& axis) {
        std::string lower = axis.name;
        std::ranges::transform(lower, lower.begin(),
                               [](unsigned char c) { return std::tolower(c); });
        return std::ranges::find(names, lower) != names.end();
    });
    return at == axes.end() ? nullptr : &*at;
}

} // namespace

AxisMetadata describe_axes(std::span<const DescribedAxis> axes) {
    constexpr std::size_t longest_name = 64;
    AxisMetadata metadata;
    const DescribedAxis *row = find_axis(axes, {"y", "row"}),
                        *column = find_axis(axes, {"x", "column"});
    if (!row || !column) {
        row = &axes[axes.size() - 2];
        column = &axes.back();
    }
    metadata.pixel = {column->step, row->step, ""};
    if (metadata.pixel.known())
        metadata.pixel.unit = tidy_unit(column->unit);
    const DescribedAxis* time = find_axis(axes, {"t", "time", "frame", "frames"});
    if (!time && axes.size() == 3)
        time = &axes.front();
    if (time && time->step > 0)
        metadata.frame_interval = believable_interval(time->step, time->unit);
    if (const DescribedAxis& first = axes.front(); axes.size() == 3 && first.step > 0)
        metadata.slice_distance = distance_in_pixel_unit(first.step, first.unit, metadata.pixel);
    if (std::ranges::all_of(axes, [](const DescribedAxis& axis) {
            return !axis.name.empty() && axis.name.size() <= longest_name;
        })) {
        for (const DescribedAxis& axis : axes)
            metadata.names.push_back(axis.name);
    }
    return metadata;
}

} // namespace sextant::format
