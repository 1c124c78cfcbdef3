// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/slabs.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace sextant::label {

namespace {

/// Bytes per voxel for labelling, in the worst case: two bits, half a run (by value, a whole run),
/// and a number for each component.
Bytes label_bytes_per_voxel(kernel::Connection connection) {
    if (connection.sameness == kernel::Sameness::value)
        return 9;
    return connection.neighbours == kernel::Neighbours::six ? 5 : 4;
}

} // namespace

struct Slabs::Division {
    Elements planes; ///< of a slab
    Bytes room;      ///< memory left for runs of other slabs
};

/// Chooses the size of slabs. Reserves half of the memory for the runs of all slabs if the bit
/// masks of the runs take less than a quarter of the memory; otherwise slabs use all memory. Slabs
/// larger than a chunk end at chunk boundaries.
Slabs::Division Slabs::division_of(const Planes& volume, const Planes* intensity,
                                   const Options& options) {
    const kernel::VolumeShape& shape = volume.shape();
    const Bytes voxel = volume.bytes_per_voxel() + (intensity ? intensity->bytes_per_voxel() : 0) +
                        label_bytes_per_voxel(options.connection);
    const Bytes plane = voxel * shape.height * shape.width;
    const Elements own = std::max<Elements>(1, options.end - options.begin);
    const Bytes memory = options.memory / options.labellings / options.ranks;
    constexpr Bytes bits_per_byte = 8, bits_per_voxel = 2;
    const Bytes bits = own * shape.height * shape.width / (bits_per_byte / bits_per_voxel);
    const bool keeps = memory / plane < own && bits < memory / 4 && memory / 2 >= plane;
    Elements planes = keeps ? memory / 2 / plane : memory / plane;
    if (options.slab_planes > 0)
        planes = options.slab_planes;
    constexpr Bytes kibibyte = 1 << 10;
    if (planes < 1)
        throw InvalidTask(fmt::format(
            "memory {:g}K is too small: {} and its labels{} take {}K{}",
            static_cast<double>(options.memory) / kibibyte,
            shape.of_rows ? fmt::format("a row of {} pixels", shape.width)
                          : fmt::format("a plane of {}x{} voxels", shape.width, shape.height),
            options.ranks > 1 ? fmt::format(" on each of {} ranks", options.ranks) : "",
            (plane * options.ranks * options.labellings + kibibyte - 1) / kibibyte,
            options.labellings > 1 ? ", including the memory to fill holes" : ""));
    planes = std::clamp<Elements>(planes, 1, own);
    const Elements chunk = volume.planes_per_chunk();
    if (planes < own && planes > chunk && options.slab_planes == 0)
        planes -= planes % chunk; // so that each chunk is decoded for one slab only
    return {planes, std::max<Bytes>(0, memory - planes * plane)};
}

Slabs::Slabs(Planes& volume, Planes* intensity, const Options& options)
    : Slabs(volume, intensity, options, division_of(volume, intensity, options)) {}

Slabs::Slabs(Planes& volume, Planes* intensity, const Options& options, const Division& division)
    : volume_(volume),
      intensity_(intensity),
      options_(options),
      slab_planes_(division.planes),
      team_(static_cast<int>(std::min<Elements>(options.threads, slab_planes_))),
      room_(division.room) {
    for (int thread = 0; thread < team_.size(); ++thread)
        parts_.push_back({kernel::Labeller(options.connection)});
    kept_.resize(static_cast<std::size_t>(slabs()));
}

Elements Slabs::slabs() const {
    return (options_.end - options_.begin + slab_planes_ - 1) / slab_planes_;
}

Elements Slabs::first_of(Elements slab) const {
    return std::min(options_.end, options_.begin + slab * slab_planes_);
}

Elements Slabs::read(Elements slab, bool with_intensity) {
    first_ = first_of(slab);
    const Elements planes = first_of(slab + 1) - first_;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        const auto cut = [&](std::size_t k) {
            return planes * static_cast<Elements>(k) / static_cast<Elements>(parts_.size());
        };
        parts_[part].first = first_ + cut(part);
        parts_[part].planes = cut(part + 1) - cut(part);
    }
    const Elements nan = volume_.read(first_, planes);
    has_intensity_ = with_intensity && intensity_ != nullptr;
    if (has_intensity_)
        intensity_->read(first_, planes);
    return nan;
}

Elements Slabs::find() {
    each_part([&](std::size_t, Part& part) {
        part.kept.reset();
        part.labeller.find(view(part));
        part.components = part.labeller.count();
    });
    slab_ = (first_ - options_.begin) / slab_planes_;
    return std::accumulate(parts_.begin(), parts_.end(), Elements{0},
                           [](Elements nan, const Part& part) {
                               return nan + (part.planes > 0 ? part.labeller.nan() : 0);
                           });
}

void Slabs::keep_runs() {
    Bytes size = 0;
    for (const Part& part : parts_)
        size += part.labeller.memory_of_runs();
    if (slab_ == 0)
        expected_kept_ = slabs() == 1 ? 1 : std::min(slabs(), room_ / std::max<Bytes>(1, size));
    if (slabs() == 1 || size > room_)
        return;
    room_ -= size;
    std::vector<KeptPart>& kept = kept_[static_cast<std::size_t>(slab_)];
    kept.resize(parts_.size());
    each_part([&](std::size_t index, const Part& part) {
        kept[index] = {part.first, part.planes, part.components, part.labeller.all_runs()};
    });
}

void Slabs::find_again(Elements slab, Seconds& reading, Seconds& labelling) {
    if (slab == slab_)
        return;
    std::vector<KeptPart>& kept = kept_[static_cast<std::size_t>(slab)];
    if (!kept.empty()) {
        first_ = first_of(slab);
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            parts_[i].first = kept[i].first;
            parts_[i].planes = kept[i].planes;
            parts_[i].components = kept[i].components;
            parts_[i].kept = std::move(kept[i].runs);
        }
        kept.clear();
        slab_ = slab;
        return;
    }
    timed(reading, [&] { read(slab, false); });
    timed(labelling, [&] { find(); });
}

Elements Slabs::kept() const {
    return slabs() == 1
               ? 1
               : std::ranges::count_if(kept_, [](const auto& parts) { return !parts.empty(); });
}

std::vector<kernel::Extent> Slabs::extents_of(const Part& part) const {
    std::vector<kernel::Extent> extents(part.components);
    for (Elements row = 0; row < part.planes * shape().height; ++row)
        kernel::add_extents(part.runs_of(row), part.first + row / shape().height,
                            row % shape().height, shape(), extents);
    return extents;
}

void Slabs::measure(const Part& part, std::span<const std::uint8_t> wanted,
                    const kernel::TakeBody& take) const {
    std::optional<kernel::ValueView> intensity;
    kernel::TakeBody without_offset;
    if (has_intensity_) {
        intensity = intensity_->view(part.first - first_, part.planes);
        if (const kernel::WideInteger offset = intensity_->offset(); offset != 0)
            without_offset = [&take, offset](kernel::Label label, const kernel::Body& body,
                                             int sequence) {
                kernel::Body stored = body;
                stored.shift_integers(-offset);
                take(label, stored, sequence);
            };
    }
    kernel::measure(part.labeller, options_.connection, view(part), part.first, shape(),
                    intensity ? &*intensity : nullptr, wanted,
                    without_offset ? without_offset : take);
}

} // namespace sextant::label
