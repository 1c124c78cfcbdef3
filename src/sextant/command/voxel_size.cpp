// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/voxel_size.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"

#include <fmt/format.h>

namespace sextant::command {

VoxelSize voxel_of(const FrameHeader& header) {
    if (!header.pixel.known())
        return {};
    const PixelSize& pixel = header.pixel;
    const double z = header.slice_distance > 0 ? header.slice_distance : pixel.x;
    std::string words = fmt::format("{:.4g}, {:.4g}, {:.4g} {}", z, pixel.y, pixel.x, pixel.unit);
    if (header.slice_distance <= 0)
        words = fmt::format("unknown, {:.4g}, {:.4g} {}; planes are drawn as thick as a voxel is "
                            "wide",
                            pixel.y, pixel.x, pixel.unit);
    return {{z, pixel.y, pixel.x}, pixel.unit, words};
}

kernel::Scales pixel_size_in(const std::string& unit, const FrameHeader& header,
                             kernel::Dimensions dimensions, const std::string& file) {
    const double wanted = format::metres_of(format::tidy_unit(unit));
    if (wanted == 0)
        throw InvalidTask(fmt::format(
            "sigma in \"{}\": expected pixels (a number), or nm, um, mm or another unit of length",
            unit));
    const PixelSize& pixel = header.pixel;
    const double stated = format::metres_of(pixel.unit);
    const auto unknown = [&](const std::string& what) {
        return InvalidData(
            fmt::format("sigma in {}: {} states {}, expected a scale in pixels", unit, file, what));
    };
    if (!pixel.known())
        throw unknown("no pixel size");
    if (stated == 0)
        throw unknown(fmt::format("a pixel size of {:.4g} {}, which is no length", pixel.x,
                                  pixel.unit.empty() ? "without a unit" : pixel.unit));
    const bool is_volume = dimensions == kernel::Dimensions::three;
    if (is_volume && header.slice_distance <= 0)
        throw unknown("no distance between planes");
    const double factor = stated / wanted; // exactly 1 for equal units
    return {pixel.x * factor, pixel.y * factor,
            (is_volume ? header.slice_distance : pixel.x) * factor};
}

} // namespace sextant::command
