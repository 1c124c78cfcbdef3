// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/volume_labelling.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/distributed/list_exchange.hpp"
#include "sextant/distributed/volume_run.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant {

Record record_of(VolumeLabelOptions& options) {
    Record record;
    record.add("neighbours", options.neighbours,
               {{"6", kernel::Neighbours::six},
                {"18", kernel::Neighbours::eighteen},
                {"26", kernel::Neighbours::twenty_six}},
               "N", "voxel connectivity");
    record.add("by_value", options.by_value, "connect only voxels of equal value");
    record.add("measure", options.measure, "measure each component");
    record.add("fill_holes", options.fill_holes, "first fill background enclosed by components");
    record.add("min_size", options.min_size, "N", "components of fewer voxels become background")
        .between(0, 1e15);
    record
        .add("keep_largest", options.keep_largest, "N",
             "keep only this many of the largest components; 0: all")
        .between(0, 1e15);
    record.add_memory("memory", options.memory,
                      "memory limit for samples and labels; larger volumes are labelled in slabs");
    record.add("threads", options.threads, "N", "threads of each rank").between(1, 4096).by_rank();
    return record;
}

Record record_of(const VolumeLabelResult& result) {
    return {{"components", result.components, "number of components"},
            {"holes", result.holes, "holes that were filled"},
            {"removed", result.removed, "components that became background"},
            {"slabs", result.slabs, "slabs that rank 0 labelled one after another"},
            {"slab_planes", result.slab_planes, "planes of a slab"},
            {"nan", result.nan, "samples that are NaN, and therefore background"},
            {"bytes_sent", result.sent, "by rank 0, for joining components"},
            {"seconds",
             {{"read", result.read}, {"label", result.label}, {"write", result.write}},
             "on this rank"}};
}

namespace {

/// A volume whose holes are filled. Its planes are read in the slabs in which the background was
/// labelled.
class FilledPlanes final : public distributed::BitPlanes {
  public:
    /// Collective.
    FilledPlanes(const Communicator& communicator, const VolumeLabelOptions& options,
                 const RunControl& control, distributed::Planes& volume)
        : BitPlanes(volume.shape()),
          background_planes_(volume),
          background_(communicator, dual(options), control, background_planes_, nullptr) {
        background_.find_all();
        const std::vector<kernel::Body>& table = background_.gather_table();
        std::vector<std::uint8_t> holes;
        for (const kernel::Body& body : table)
            holes.push_back(body.at_border ? 0 : 1);
        is_hole_ = all_gather_by_rank(communicator, holes).values; // of rank 0, which has all
    }

    Elements holes() const { return std::ranges::count(is_hole_, 1); }
    Elements nan() const { return background_.nan(); }
    Elements slab_planes() const { return background_.slab_planes(); }
    Bytes bytes_per_voxel() const override { return background_planes_.bytes_per_voxel() + 1; }

    Elements read(Elements first, Elements count) override {
        const std::span<std::uint8_t> to = room(count);
        std::ranges::fill(to, std::uint8_t{1});
        background_.each_run_again(
            first, [&](Elements row, Elements begin, Elements end, VolumeLabel number) {
                if (is_hole_[number - 1] == 0)
                    std::fill(to.begin() + row * shape().width + begin,
                              to.begin() + row * shape().width + end, std::uint8_t{0});
            });
        return 0;
    }

  private:
    static VolumeLabelOptions dual(VolumeLabelOptions options) {
        options.neighbours = options.neighbours == kernel::Neighbours::six
                                 ? kernel::Neighbours::twenty_six
                                 : kernel::Neighbours::six;
        options.measure = true;
        options.min_size = options.keep_largest = 0;
        options.memory /= 2; // the rest is for labelling the filled volume
        return options;
    }

    distributed::BackgroundPlanes background_planes_;
    distributed::VolumeRun background_;
    std::vector<std::uint8_t> is_hole_; // [number − 1]
};

} // namespace

VolumeLabelling::VolumeLabelling(Communicator communicator, VolumeLabelOptions options,
                                 RunControl control)
    : communicator_(std::move(communicator)),
      options_(std::move(options)),
      control_(std::move(control)) {}

/// Opens a volume and, if there is one, the intensities of the same shape.
void VolumeLabelling::open(FrameSource& volume, FrameSource* intensity,
                           std::optional<distributed::VolumePlanes>& planes,
                           std::optional<distributed::VolumePlanes>& intensities) const {
    using Use = distributed::VolumePlanes::Use;
    planes.emplace(volume, Use::comparison);
    if (!intensity)
        return;
    intensities.emplace(*intensity, Use::computation);
    const kernel::VolumeShape &own = planes->shape(), &other = intensities->shape();
    if (!(own == other))
        throw InvalidTask(fmt::format("{} has {}x{}x{} voxels, expected {}x{}x{}, as {}",
                                      intensity->path(), other.depth, other.height, other.width,
                                      own.depth, own.height, own.width, volume.path()));
}

VolumeLabelResult VolumeLabelling::run(FrameSource& volume, FrameSource* intensity,
                                       const VolumeLabelSink& write) const {
    VolumeLabelOptions options = options_;
    require_same(communicator_, options);
    std::optional<distributed::VolumePlanes> planes, second;
    agree(communicator_, [&] {
        open(volume, options.measure ? intensity : nullptr, planes, second);
        if (options.fill_holes && options.by_value)
            throw InvalidTask("fill_holes: holes have no value, so that voxels cannot be connected "
                              "by_value");
    });
    distributed::Planes* const intensities = second ? &*second : nullptr;
    if (!options.fill_holes)
        return distributed::VolumeRun(communicator_, options, control_, *planes, intensities)
            .run(write);
    FilledPlanes filled(communicator_, options, control_, *planes);
    VolumeLabelResult result = distributed::VolumeRun(communicator_, options, control_, filled,
                                                      intensities, filled.slab_planes())
                                   .run(write);
    result.holes = filled.holes();
    result.nan = filled.nan();
    return result;
}

VolumeLabelResult VolumeLabelling::measure(FrameSource& labels, FrameSource* intensity) const {
    VolumeLabelOptions options;
    options.memory = options_.memory;
    options.threads = options_.threads;
    options.neighbours = kernel::Neighbours::six; // the cheapest: parts are added up by value
    options.by_value = options.measure = true;
    require_same(communicator_, options);
    std::optional<distributed::VolumePlanes> planes, second;
    agree(communicator_, [&] {
        open(labels, intensity, planes, second);
        const Sample sample = labels.header().sample;
        if (sample == Sample::f16 || sample == Sample::f32 || sample == Sample::f64)
            throw InvalidTask(fmt::format("{} holds {}, expected labels, which are integers",
                                          labels.path(), name(sample)));
    });
    VolumeLabelResult result = distributed::VolumeRun(communicator_, options, control_, *planes,
                                                      second ? &*second : nullptr)
                                   .measure();
    std::ranges::stable_sort(result.table, {}, &kernel::Body::value);
    std::vector<kernel::Body> regions;
    for (const kernel::Body& part : result.table) {
        if (regions.empty() || regions.back().value != part.value)
            regions.emplace_back();
        regions.back().add(part);
    }
    result.table = std::move(regions);
    return result;
}

} // namespace sextant
