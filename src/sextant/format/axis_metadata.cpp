// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/axis_metadata.hpp"

#include "sextant/core/text.hpp"
#include "sextant/format/checks.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::format {

std::optional<std::size_t> axis_named(std::span<const DescribedAxis> axes,
                                      std::initializer_list<std::string_view> names) {
    const auto at = std::ranges::find_if(axes, [&](const DescribedAxis& axis) {
        return std::ranges::find(names, lower_case(axis.name)) != names.end();
    });
    return at == axes.end() ? std::nullopt
                            : std::optional(static_cast<std::size_t>(at - axes.begin()));
}

void take_positions(DescribedAxis& axis, std::span<const double> positions) {
    if (positions.size() < 2)
        return;
    const double first = positions.front();
    const double step = (positions.back() - first) / static_cast<double>(positions.size() - 1);
    constexpr double most = .1; // largest deviation, in steps: positions may be measured or rounded
    for (std::size_t i = 0; i < positions.size(); ++i) {
        if (!(std::abs(positions[i] - first - static_cast<double>(i) * step) <=
              most * std::abs(step)))
            axis.uneven = true;
    }
    axis.step = axis.uneven ? 0 : positions[1] - first;
}

std::string remark_on_uneven(std::span<const DescribedAxis> axes) {
    std::vector<std::string> names;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        if (axes[axis].uneven)
            names.push_back(axes[axis].name.empty() ? fmt::format("axis {}", axis)
                                                    : printable(axes[axis].name));
    }
    return names.empty() ? ""
                         : fmt::format("the positions along {} are not evenly spaced, so the pixel "
                                       "size, distance or interval is unknown",
                                       fmt::join(names, ", "));
}

StatedPixelSize pixel_of(const DescribedAxis& row, const DescribedAxis& column) {
    return row.step == 0 || column.step == 0
               ? StatedPixelSize()
               : StatedPixelSize{column.step, row.step, column.unit, row.unit};
}

AxisMetadata describe_axes(std::span<const DescribedAxis> axes) {
    constexpr std::size_t longest_name = 64;
    AxisMetadata metadata;
    auto row = axis_named(axes, {"y", "row"}), column = axis_named(axes, {"x", "column"});
    if (!row || !column) {
        row = axes.size() - 2;
        column = axes.size() - 1;
    }
    metadata.pixel = pixel_of(axes[*row], axes[*column]);
    metadata.last_pixel = pixel_of(axes[axes.size() - 2], axes.back());
    auto time = axis_named(axes, {"t", "time", "frame", "frames"});
    if (!time && axes.size() == 3)
        time = 0;
    if (time && axes[*time].step > 0)
        metadata.frame_interval = believable_interval(axes[*time].step, axes[*time].unit);
    const DescribedAxis& first = axes.front();
    if (axes.size() == 3 && first.step != 0 && *row != 0 && *column != 0)
        metadata.slice_distance =
            distance_in_pixel_unit(std::abs(first.step), first.unit, tidy_unit(axes[*column].unit));
    if (std::ranges::all_of(axes, [](const DescribedAxis& axis) {
            return !axis.name.empty() && axis.name.size() <= longest_name;
        })) {
        for (const DescribedAxis& axis : axes)
            metadata.names.push_back(axis.name);
    }
    return metadata;
}

} // namespace sextant::format
