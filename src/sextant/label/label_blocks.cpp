// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/label_blocks.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace sextant::label {

using kernel::VolumeBox;

namespace {

/// The largest coordinate, and the largest number of blocks.
constexpr Elements most_coordinate = Elements{1} << 40, most_blocks = 1000000;

std::string sides_of(const FrameHeader& header) {
    return fmt::format("{}x{}x{} {}", header.frames, header.shape.height, header.shape.width,
                       name(header.sample));
}

void check_labels(const std::string& block, const FrameHeader& header) {
    if (header.channels != 1)
        throw InvalidFile(
            block, fmt::format("has {} samples per voxel, expected one label", header.channels));
    if (header.sample == Sample::f16 || header.sample == Sample::f32 ||
        header.sample == Sample::f64)
        throw InvalidFile(block, fmt::format("holds {}, expected labels, which are integers",
                                             name(header.sample)));
    // Format readers report a truncated file as a remark, and omit the missing frames.
    for (const std::string& remark : header.remarks) {
        if (remark.starts_with("truncated"))
            throw InvalidFile(block, remark);
    }
    if (header.frames < 1 || header.shape.height < 1 || header.shape.width < 1)
        throw InvalidFile(block,
                          fmt::format("has {}x{}x{} voxels, expected positive numbers",
                                      header.frames, header.shape.height, header.shape.width));
}

} // namespace

LabelBlocks::LabelBlocks(std::vector<LabelBlock> volumes, std::span<const Elements> cut,
                         std::span<const Elements> size, bool allow_gaps) {
    if (volumes.empty())
        throw InvalidTask("there are no blocks, expected one or more");
    if (!cut.empty() && cut.size() != 3)
        throw InvalidTask(
            fmt::format("block: {} numbers, expected depth, height and width", cut.size()));
    if (!cut.empty() && std::ranges::all_of(cut, [](Elements side) { return side == 0; }))
        throw InvalidTask("block 0,0,0: does not cut along any axis, expected a positive number");
    if (!size.empty() && size.size() != 3)
        throw InvalidTask(
            fmt::format("size: {} numbers, expected depth, height and width", size.size()));
    open_all(std::move(volumes), cut);
    number_blocks();
    measure(size, allow_gaps);
}

void LabelBlocks::open_all(std::vector<LabelBlock> given, std::span<const Elements> cut) {
    Elements blocks = 0;
    for (LabelBlock& each : given) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (each.position[axis] < 0 || each.position[axis] > most_coordinate)
                throw InvalidData(fmt::format("{}: {} is {}, expected 0 to {}", each.name,
                                              "zyx"[axis], each.position[axis], most_coordinate));
        }
        source_ = each.open();
        open_ = volumes_.size();
        Volume& volume = volumes_.emplace_back();
        volume.given = std::move(each);
        volume.header = source_->header();
        check_labels(volume.given.name, volume.header);
        const std::array<Elements, 3> sides = {volume.header.frames, volume.header.shape.height,
                                               volume.header.shape.width};
        Elements parts = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            volume.box.low[axis] = volume.given.position[axis];
            volume.box.high[axis] = volume.given.position[axis] + sides[axis];
            volume.cut[axis] =
                cut.empty() || cut[axis] == 0 ? sides[axis] : std::min(cut[axis], sides[axis]);
            volume.cuts[axis] = (sides[axis] + volume.cut[axis] - 1) / volume.cut[axis];
            parts = parts > most_blocks ? parts : parts * volume.cuts[axis];
        }
        blocks += parts;
        if (blocks > most_blocks)
            throw InvalidTask(fmt::format(
                "{}: the number of blocks reaches {} with this volume, expected at most {}",
                volume.given.name, blocks, most_blocks));
        volume.blocks.resize(static_cast<std::size_t>(parts));
    }
}

void LabelBlocks::number_blocks() {
    struct Part {
        VolumeBox box;
        std::size_t volume, index;
    };
    std::vector<Part> parts;
    for (std::size_t i = 0; i < volumes_.size(); ++i) {
        const Volume& volume = volumes_[i];
        for (std::size_t part = 0; part < volume.blocks.size(); ++part) {
            const Elements number = static_cast<Elements>(part);
            const std::array<Elements, 3> in_grid = {number / volume.cuts[2] / volume.cuts[1],
                                                     number / volume.cuts[2] % volume.cuts[1],
                                                     number % volume.cuts[2]};
            VolumeBox box;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                box.low[axis] = volume.box.low[axis] + in_grid[axis] * volume.cut[axis];
                box.high[axis] = std::min(volume.box.high[axis], box.low[axis] + volume.cut[axis]);
            }
            parts.push_back({box, i, part});
        }
    }
    std::ranges::sort(parts, {},
                      [](const Part& part) { return std::tuple(part.box.low, part.volume); });
    std::vector<VolumeBox> boxes;
    for (const Part& part : parts) {
        if (!boxes.empty() && boxes.back().low == part.box.low)
            throw InvalidData(fmt::format("{} and {} have the same position: z {}, y {}, x {}",
                                          volumes_[volume_of_.back()].given.name,
                                          volumes_[part.volume].given.name, part.box.low[0],
                                          part.box.low[1], part.box.low[2]));
        volumes_[part.volume].blocks[part.index] = static_cast<int>(boxes.size());
        volume_of_.push_back(part.volume);
        boxes.push_back(part.box);
    }
    cover_ = kernel::BlockCover(std::move(boxes));
}

void LabelBlocks::measure(std::span<const Elements> size, bool allow_gaps) {
    std::array<Elements, 3> sides{};
    for (const Volume& volume : volumes_) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (!size.empty() && volume.box.high[axis] > size[axis])
                throw InvalidData(fmt::format("size: {} ends at {} {}, expected {} or less",
                                              volume.given.name, "zyx"[axis], volume.box.high[axis],
                                              size[axis]));
            sides[axis] = std::max(sides[axis], volume.box.high[axis]);
        }
    }
    if (!size.empty())
        std::ranges::copy(size, sides.begin());
    shape_ = {sides[0], sides[1], sides[2]};
    constexpr double most_voxels = 1e18;
    const double voxels = static_cast<double>(sides[0]) * static_cast<double>(sides[1]) *
                          static_cast<double>(sides[2]);
    if (voxels > most_voxels)
        throw InvalidData(fmt::format("the blocks extend over {}x{}x{} voxels, expected 10^18 or "
                                      "fewer",
                                      sides[0], sides[1], sides[2]));
    if (allow_gaps)
        return;
    const std::optional<VolumeBox> gap = cover_.gap(shape_);
    if (!gap)
        return;
    const auto next = std::ranges::upper_bound(cover_.blocks(), gap->low, {}, &VolumeBox::low);
    const auto before = std::max<std::ptrdiff_t>(0, next - cover_.blocks().begin() - 1);
    throw InvalidData(fmt::format(
        "no block contains the voxels {} of {}x{}x{}; the preceding block is {}",
        kernel::text_of(*gap), sides[0], sides[1], sides[2], name(static_cast<int>(before))));
}

std::string LabelBlocks::name(int block) const {
    const Volume& volume = volumes_[volume_of_[static_cast<std::size_t>(block)]];
    return fmt::format("{} ({})", volume.given.name,
                       kernel::text_of(cover_.blocks()[static_cast<std::size_t>(block)]));
}

std::vector<std::string> LabelBlocks::remarks() const {
    std::vector<std::string> all;
    std::map<std::string, Elements> volumes_with;
    for (const Volume& volume : volumes_) {
        for (const std::string& remark : volume.header.remarks)
            ++volumes_with[remark];
    }
    for (const Volume& volume : volumes_) {
        for (const std::string& remark : volume.header.remarks) {
            const Elements others = std::exchange(volumes_with[remark], 0) - 1;
            if (others > 0)
                all.push_back(
                    fmt::format("{} and {} others: {}", volume.given.name, others, remark));
            else if (others == 0)
                all.push_back(fmt::format("{}: {}", volume.given.name, remark));
        }
    }
    return all;
}

std::vector<int> LabelBlocks::blocks_in(const VolumeBox& box) const {
    std::vector<int> found;
    for (std::size_t i = 0; i < volume_of_.size(); ++i) {
        const VolumeBox& block = cover_.blocks()[i];
        if (block.low[0] >= box.high[0])
            break;
        if (!kernel::common(block, box).empty())
            found.push_back(static_cast<int>(i));
    }
    return found;
}

FrameSource& LabelBlocks::opened(std::size_t volume) {
    if (source_ && open_ == volume)
        return *source_;
    source_.reset();
    source_ = volumes_[volume].given.open();
    open_ = volume;
    const FrameHeader &now = source_->header(), &before = volumes_[volume].header;
    if (now.frames != before.frames || now.shape.width != before.shape.width ||
        now.shape.height != before.shape.height || now.sample != before.sample ||
        now.channels != before.channels)
        throw InvalidFile(volumes_[volume].given.name,
                          fmt::format("has changed while it was read: now {}, before {}",
                                      sides_of(now), sides_of(before)));
    return *source_;
}

/// Converts a row of a volume into row_.
void LabelBlocks::convert(const Volume& volume, Elements z, Elements y,
                          std::span<const std::byte> samples) {
    row_.resize(static_cast<std::size_t>(volume.header.shape.width));
    visit_sample(volume.header.sample, [&](auto type) {
        using Stored = typename decltype(type)::type;
        if constexpr (std::is_integral_v<Stored>) {
            Stored least = 0;
            for (std::size_t x = 0; x < row_.size(); ++x) {
                Stored value;
                std::memcpy(&value, samples.data() + x * sizeof(Stored), sizeof(Stored));
                least = std::min(least, value);
                row_[x] = static_cast<std::uint64_t>(value);
            }
            if (least < 0)
                throw InvalidFile(volume.given.name,
                                  fmt::format("label {} in plane {}, row {}, expected 0 or more",
                                              static_cast<std::int64_t>(least), z, y));
        }
    });
}

void LabelBlocks::read_frame(
    const Volume& volume, FrameSource& source, Elements z, Rows rows,
    const std::function<void(int, Elements, Elements, std::span<const std::uint64_t>)>& take) {
    const Elements frame = z - volume.box.low[0];
    const Bytes row_bytes = volume.header.shape.width * size_of(volume.header.sample);
    const Elements at_once = std::max<Elements>(1, (Bytes{1} << 20) / row_bytes);
    for (Elements first = rows.first; first < rows.last; first += at_once) {
        const Elements last = std::min(first + at_once, rows.last);
        samples_.resize(static_cast<std::size_t>((last - first) * row_bytes));
        source.read_samples(frame, {first - volume.box.low[1], last - volume.box.low[1]}, samples_);
        for (Elements y = first; y < last; ++y) {
            const Elements own = y - volume.box.low[1];
            convert(volume, frame, own,
                    std::span(samples_).subspan(static_cast<std::size_t>((y - first) * row_bytes),
                                                static_cast<std::size_t>(row_bytes)));
            const Elements begin =
                (frame / volume.cut[0] * volume.cuts[1] + own / volume.cut[1]) * volume.cuts[2];
            for (Elements i = 0; i < volume.cuts[2]; ++i) {
                const int block = volume.blocks[static_cast<std::size_t>(begin + i)];
                const VolumeBox& box = cover_.blocks()[static_cast<std::size_t>(block)];
                take(block, z, y,
                     std::span(row_).subspan(static_cast<std::size_t>(i * volume.cut[2]),
                                             static_cast<std::size_t>(box.side(2))));
            }
        }
    }
}

void LabelBlocks::read(const VolumeBox& rows,
                       const std::function<void(int block, Elements z, Elements y,
                                                std::span<const std::uint64_t> labels)>& take) {
    for (std::size_t i = 0; i < volumes_.size(); ++i) {
        const VolumeBox box = kernel::common(volumes_[i].box, rows);
        if (box.empty())
            continue;
        FrameSource& source = opened(i);
        for (Elements z = box.low[0]; z < box.high[0]; ++z)
            read_frame(volumes_[i], source, z, {box.low[1], box.high[1]}, take);
    }
}

SlabCutter::SlabCutter(const VolumeBox& part, std::function<Bytes(const VolumeBox&)> bytes_of,
                       Bytes memory)
    : part_(part),
      bytes_of_(std::move(bytes_of)),
      memory_(memory),
      z_(part.low[0]),
      y_(part.low[1]) {}

/// The largest side along an axis, up to the present side, with which a box fits in memory.
Elements SlabCutter::most_that_fit(VolumeBox box, std::size_t axis) const {
    Elements fits = 0, too_many = box.side(axis) + 1;
    while (too_many - fits > 1) {
        const Elements side = fits + (too_many - fits) / 2;
        box.high[axis] = box.low[axis] + side;
        (bytes_of_(box) <= memory_ ? fits : too_many) = side;
    }
    return fits;
}

std::optional<VolumeBox> SlabCutter::next() {
    if (part_.empty() || z_ == part_.high[0])
        return std::nullopt;
    VolumeBox slab = part_;
    slab.low[0] = z_;
    if (y_ == part_.low[1]) {
        if (const Elements planes = most_that_fit(slab, 0); planes > 0) {
            z_ += planes;
            slab.high[0] = z_;
            return slab;
        }
    }
    slab.high[0] = z_ + 1;
    slab.low[1] = y_;
    const Elements rows = most_that_fit(slab, 1);
    if (rows == 0) {
        slab.high[1] = y_ + 1;
        throw InvalidTask(fmt::format("memory: {} bytes for each rank are too few, expected {} or "
                                      "more for a row of {} voxels",
                                      memory_, bytes_of_(slab), part_.side(2)));
    }
    y_ += rows;
    slab.high[1] = y_;
    if (y_ == part_.high[1]) {
        y_ = part_.low[1];
        ++z_;
    }
    return slab;
}

} // namespace sextant::label
