// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/volume_slabs.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::distributed {

namespace {

/// Bytes per voxel besides samples: two bits, at most half a run or, by value, a run, and a number
/// for each of the components, of which there are most in the worst arrangement of voxels.
Bytes label_bytes_per_voxel(kernel::Connection connection) {
    if (connection.sameness == kernel::Sameness::value)
        return 9;
    return connection.neighbours == kernel::Neighbours::six ? 5 : 4;
}

Elements planes_in_memory(const Planes& volume, const Planes* intensity,
                          const VolumeSlabs::Options& options) {
    const kernel::VolumeShape& shape = volume.shape();
    const Bytes voxel = volume.bytes_per_voxel() + (intensity ? intensity->bytes_per_voxel() : 0) +
                        label_bytes_per_voxel(options.connection);
    const Bytes plane = voxel * shape.height * shape.width;
    const Elements planes =
        options.slab_planes > 0 ? options.slab_planes : options.memory / options.ranks / plane;
    constexpr double mebibyte = 1 << 20;
    if (planes < 1)
        throw InvalidTask(fmt::format(
            "memory {:g} MiB is too small: a plane of {}x{} voxels and its labels takes {:.1f} MiB "
            "on each of {} ranks",
            static_cast<double>(options.memory) / mebibyte, shape.width, shape.height,
            static_cast<double>(plane) / mebibyte, options.ranks));
    return std::clamp<Elements>(planes, 1, std::max<Elements>(1, options.end - options.begin));
}

} // namespace

VolumeSlabs::VolumeSlabs(Planes& volume, Planes* intensity, const Options& options)
    : volume_(volume),
      intensity_(intensity),
      options_(options),
      slab_planes_(planes_in_memory(volume, intensity, options)),
      team_(static_cast<int>(std::min<Elements>(options.threads, slab_planes_))) {
    for (int thread = 0; thread < team_.size(); ++thread)
        parts_.push_back({kernel::Labeller(options.connection)});
}

Elements VolumeSlabs::slabs() const {
    return (options_.end - options_.begin + slab_planes_ - 1) / slab_planes_;
}

Elements VolumeSlabs::first_of(Elements slab) const {
    return std::min(options_.end, options_.begin + slab * slab_planes_);
}

Elements VolumeSlabs::read(Elements slab, bool with_intensity) {
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

void VolumeSlabs::find() {
    each_part([&](std::size_t, Part& part) { part.labeller.find(view(part)); });
}

std::optional<kernel::ValueView> VolumeSlabs::intensity(const Part& part) const {
    if (!has_intensity_)
        return std::nullopt;
    return intensity_->view(part.first - first_, part.planes);
}

} // namespace sextant::distributed
