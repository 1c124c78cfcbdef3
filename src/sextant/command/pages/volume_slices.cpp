// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/pages/volume_slices.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/command/pages/overview.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace sextant::command {

SliceGrid::SliceGrid(const kernel::VolumeShape& shape, const std::array<Elements, 3>& voxel,
                     Elements most)
    : sides{shape.depth, shape.height, shape.width}, through(voxel), step{}, count{} {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        step[axis] = std::max<Elements>(1, (sides[axis] + most - 1) / most);
        count[axis] = (sides[axis] + step[axis] - 1) / step[axis];
    }
}

template <class Sample>
VolumeSlices<Sample>::VolumeSlices(const SliceGrid& grid) : grid_(grid) {
    samples_.resize(size(1, 2) + size(0, 2) + size(1, 0));
}

template <class Sample>
void VolumeSlices<Sample>::add(Elements z, Elements first, std::span<const Sample> rows) {
    const Elements planes = grid_.count[0], height = grid_.count[1], width = grid_.count[2];
    const Elements row_length = grid_.sides[2];
    const auto take_row = [&](Elements y, Elements to) {
        const Sample* const row = rows.data() + (y - first) * row_length;
        for (Elements x = 0; x < width; ++x)
            samples_[static_cast<std::size_t>(to + x)] = row[x * grid_.step[2]];
    };
    const Elements end = first + static_cast<Elements>(rows.size()) / row_length;
    const Elements xz = height * width, zy = xz + planes * width;
    const bool has_column = z % grid_.step[0] == 0;
    for (Elements y = first; y < end; ++y) {
        if (has_column && y == grid_.through[1])
            take_row(y, xz + z / grid_.step[0] * width);
        if (y % grid_.step[1] != 0)
            continue;
        const Elements row = y / grid_.step[1];
        if (z == grid_.through[0])
            take_row(y, row * width);
        if (has_column)
            samples_[static_cast<std::size_t>(zy + row * planes + z / grid_.step[0])] =
                rows[static_cast<std::size_t>((y - first) * row_length + grid_.through[2])];
    }
}

template <class Sample>
void VolumeSlices<Sample>::gather(const Communicator& communicator) {
    struct Pixel {
        std::uint32_t index;
        Sample sample;
    };
    std::vector<std::vector<Pixel>> to(static_cast<std::size_t>(communicator.size()));
    for (std::size_t i = 0; i < samples_.size() && communicator.rank() > 0; ++i) {
        if (samples_[i] != 0) // samples that this rank did not add are 0
            to[0].push_back({static_cast<std::uint32_t>(i), samples_[i]});
    }
    for (const Pixel& pixel : all_to_all_lists(communicator, to).values)
        samples_[pixel.index] = pixel.sample;
}

template class VolumeSlices<float>;
template class VolumeSlices<std::uint64_t>;

VolumeSlices<float> slices_of(const Communicator& communicator, FrameSource& volume,
                              const SliceGrid& grid) {
    VolumeSlices<float> slices(grid);
    const Elements ranks = communicator.size(), rank = communicator.rank();
    const Elements depth = grid.sides[0], height = grid.sides[1], width = grid.sides[2];
    agree(communicator, [&] {
        constexpr Elements samples_at_once = 1 << 20;
        const Elements rows = std::clamp<Elements>(samples_at_once / width, 1, height);
        std::vector<float> samples;
        for (Elements z = depth * rank / ranks; z < depth * (rank + 1) / ranks; ++z) {
            for (Elements y = 0; grid.wants(z) && y < height; y += rows) {
                const Elements end = std::min(y + rows, height);
                samples.resize(static_cast<std::size_t>((end - y) * width));
                volume.read_rows(z, {y, end}, samples);
                slices.add(z, y, samples);
            }
        }
    });
    slices.gather(communicator);
    return slices;
}

namespace {

Interval grey_range_of(std::span<const float> samples) {
    std::vector<double> values(samples.begin(), samples.end());
    const Interval usual = grey_range(values);
    if (usual.low < usual.high)
        return usual;
    // Nearly all voxels of a mask may have the same value, so quantiles are useless.
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    const auto [least, most] = std::ranges::minmax(values);
    return least < most ? Interval{least, most}
                        : Interval{std::min(least, 0.), std::max(least, 0.)};
}

template <class Sample>
SlicePngs pngs_of(const VolumeSlices<Sample>& slices,
                  const std::function<RgbaF32(Sample)>& colour) {
    const auto png = [&](std::span<const Sample> samples, std::size_t rows, std::size_t columns) {
        Image image({slices.grid().count[columns], slices.grid().count[rows]}, rgba_f32);
        std::ranges::transform(samples, image.pixels<RgbaF32>().begin(), colour);
        return png_of(image);
    };
    return {png(slices.xy(), 1, 2), png(slices.xz(), 0, 2), png(slices.zy(), 1, 0)};
}

} // namespace

SlicePngs grey_pngs(const VolumeSlices<float>& slices) {
    const Interval range = grey_range_of(slices.all());
    return pngs_of<float>(
        slices, [range](float sample) { return grey_pixel(static_cast<double>(sample), range); });
}

SlicePngs label_pngs(const VolumeSlices<std::uint64_t>& slices) {
    return pngs_of<std::uint64_t>(slices, [](std::uint64_t label) {
        return label == 0 ? RgbaF32{0, 0, 0, 1} : colour_of_label(label);
    });
}

report::SlicedVolume sliced_volume(const SliceGrid& grid, const FrameHeader& header) {
    const VoxelSize voxel = voxel_of(header);
    report::SlicedVolume sliced;
    sliced.unit = voxel.unit;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const Elements drawn = grid.count[axis] * grid.step[axis];
        sliced.lengths[axis] = static_cast<double>(drawn) * voxel.sides[axis];
        sliced.through[axis] =
            (static_cast<double>(grid.through[axis]) + .5) / static_cast<double>(drawn);
        sliced.positions[axis] = fmt::format("{} = {}", "zyx"[axis], grid.through[axis]);
    }
    return sliced;
}

std::string steps_shown(const SliceGrid& grid) {
    if (*std::ranges::max_element(grid.step) == 1)
        return "";
    return fmt::format(" One voxel in {}, {} and {} along z, y and x is shown.", grid.step[0],
                       grid.step[1], grid.step[2]);
}

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
        throw InvalidTask(fmt::format("sigma: unknown unit \"{}\", expected pm, A, nm, um, mm, cm "
                                      "or m, or a number without a unit (pixels)",
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
        throw unknown(fmt::format("a pixel size of {:.4g} {}, which is not a length", pixel.x,
                                  pixel.unit.empty() ? "without a unit" : pixel.unit));
    const bool is_volume = dimensions == kernel::Dimensions::three;
    if (is_volume && header.slice_distance <= 0)
        throw unknown("no distance between planes");
    const double factor = stated / wanted; // exactly 1 for equal units
    return {pixel.x * factor, pixel.y * factor,
            (is_volume ? header.slice_distance : pixel.x) * factor};
}

} // namespace sextant::command
