// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/label.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/core/cancellation.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/invalid_data.hpp"
#include "sextant/label/regions.hpp"
#include "sextant/label/run.hpp"

#include <algorithm>
#include <filesystem>
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
    return {
        {"components", result.components, "number of components"},
        {"label_bits", result.label_bits, "bits of a label: 64 if there are too many for 32"},
        {"holes", result.holes, "holes that were filled"},
        {"removed", result.removed, "components that became background"},
        {"slabs", result.slabs, "slabs that rank 0 labelled one after another"},
        {"slab_planes", result.slab_planes, "planes of a slab"},
        {"kept", result.kept, "slabs of rank 0 that were read once, because their runs were kept"},
        {"reason", result.reason, "why slabs were divided so, and kept or not"},
        {"resumed", result.resumed, "slabs of rank 0 that an earlier run had labelled"},
        {"nan", result.nan, "samples that are NaN, and therefore background"},
        {"bytes_sent", result.sent, "by rank 0, for joining components"},
        {"seconds",
         {{"read", result.read}, {"label", result.label}, {"write", result.write}},
         "on this rank"},
        {"predicted",
         {{"read", result.predicted_read}, {"label", result.predicted_label}},
         "seconds, from the first slab"}};
}

namespace {

using label::PlaneRange;
using label::Planes;
using label::VolumeCheckpoint;
using label::VolumeComponents;
using label::VolumePlanes;
using label::VolumeRun;
using label::VolumeSlabs;

std::string shape_of(const kernel::VolumeShape& shape) {
    return fmt::format("{}x{}x{}", shape.depth, shape.height, shape.width);
}

VolumeSlabs::Options slab_options(const Communicator& communicator,
                                  const VolumeLabelOptions& options, const PlaneRange& planes) {
    return {{options.neighbours,
             options.by_value ? kernel::Sameness::value : kernel::Sameness::foreground},
            planes.begin,
            planes.end,
            options.memory,
            communicator.size(),
            options.threads,
            0,
            options.fill_holes ? 2 : 1};
}

/// Opens this rank's checkpoint of a stage, if one is wanted and a rank has several slabs.
/// Collective.
VolumeCheckpoint checkpoint_of(const Communicator& communicator, const VolumeLabelOptions& options,
                               const VolumeSlabs& slabs, std::string_view stage) {
    const std::vector<Elements> slabs_of = communicator.all_gather(slabs.slabs());
    if (options.checkpoint.empty() || *std::ranges::max_element(slabs_of) < 2)
        return {};
    agree(communicator, [&] {
        std::error_code failed;
        if (communicator.rank() == 0)
            std::filesystem::create_directory(options.checkpoint, failed);
        if (failed)
            throw InvalidFile(options.checkpoint, "cannot be created: " + failed.message());
    });
    std::optional<VolumeCheckpoint> checkpoint;
    agree(communicator, [&] {
        VolumeLabelOptions listed = options;
        const std::string identity = fmt::format(
            "sextant: {}\n{}volume: {}\n{}ranks: {}\nslabs: {} of {} planes in {} parts\n",
            version(), options.identity, shape_of(slabs.shape()),
            record_of(listed).without("memory").settings(), communicator.size(), slabs.slabs(),
            slabs.slab_planes(), slabs.parts_of_slab());
        checkpoint.emplace(fmt::format("{}/{}.{}", options.checkpoint, stage, communicator.rank()),
                           identity);
    });
    return std::move(*checkpoint);
}

VolumeLabelOptions dual(VolumeLabelOptions options) {
    options.neighbours = options.neighbours == kernel::Neighbours::six
                             ? kernel::Neighbours::twenty_six
                             : kernel::Neighbours::six;
    return options;
}

/// A volume whose holes are filled. Its planes are read in the slabs in which the background was
/// labelled.
class FilledPlanes final : public label::BitPlanes {
  public:
    /// Collective.
    FilledPlanes(const Communicator& communicator, const VolumeLabelOptions& options,
                 const RunControl& control, Planes& volume, const PlaneRange& range)
        : BitPlanes(volume.shape()),
          background_(volume),
          slabs_(background_, nullptr, slab_options(communicator, dual(options), range)),
          checkpoint_(checkpoint_of(communicator, options, slabs_, "holes")),
          components_(communicator, slabs_, {.extents = true}, checkpoint_) {
        components_.find(control);
        Elements holes = 0;
        for (const VolumeComponents::Part& part : components_.parts())
            holes += part.enclosed;
        for (const VolumeComponents::Set& set : components_.sets())
            holes += set.leads && set.extent.at_border == 0 ? 1 : 0;
        for (const Elements of_rank : communicator.all_gather(holes))
            holes_ += of_rank;
    }

    Elements holes() const { return holes_; }
    const VolumeComponents& components() const { return components_; }
    Elements slab_planes() const { return slabs_.slab_planes(); }
    Bytes bytes_per_voxel() const override { return background_.bytes_per_voxel() + 1; }

    Elements read(Elements first, Elements count) override {
        const std::span<std::uint8_t> to = room(count);
        std::ranges::fill(to, std::uint8_t{1});
        const Elements slab = (first - slabs_.first_of(0)) / slabs_.slab_planes();
        Seconds reading = 0, labelling = 0; // part of the reader's time
        slabs_.find_again(slab, reading, labelling);
        slabs_.each_part([&](std::size_t index, const VolumeSlabs::Part& part) {
            clear_outside(slab * static_cast<Elements>(slabs_.parts_of_slab()) +
                              static_cast<Elements>(index),
                          part, first, to);
        });
        return 0;
    }

  private:
    /// Sets the background of a part to 0, except holes.
    void clear_outside(Elements number, const VolumeSlabs::Part& part, Elements first,
                       std::span<std::uint8_t> to) const {
        std::vector<kernel::Extent> extents = slabs_.extents_of(part);
        const std::span<const kernel::Label> edges = components_.edges(number);
        for (std::size_t edge = 0; edge < edges.size(); ++edge) {
            const Elements set = components_.set_of(number, static_cast<Elements>(edge));
            extents[edges[edge] - 1] = components_.sets()[static_cast<std::size_t>(set)].extent;
        }
        const Elements first_row = (part.first - first) * shape().height;
        for (Elements row = 0; row < part.planes * shape().height; ++row)
            kernel::each_run(part.runs_of(row), shape().width,
                             [&](Elements begin, Elements end, kernel::Label label) {
                                 if (extents[label - 1].at_border == 0)
                                     return;
                                 const auto at = to.begin() + (first_row + row) * shape().width;
                                 std::fill(at + begin, at + end, std::uint8_t{0});
                             });
    }

    label::BackgroundPlanes background_;
    VolumeSlabs slabs_;
    VolumeCheckpoint checkpoint_;
    VolumeComponents components_;
    Elements holes_ = 0;
};

/// Opens a volume and, if there is one, the intensities of the same shape.
void open(FrameSource& volume, FrameSource* intensity, std::optional<VolumePlanes>& planes,
          std::optional<VolumePlanes>& intensities) {
    planes.emplace(volume, VolumePlanes::Use::comparison);
    if (!intensity)
        return;
    intensities.emplace(*intensity, VolumePlanes::Use::computation);
    const kernel::VolumeShape &own = planes->shape(), &other = intensities->shape();
    if (!(own == other))
        throw InvalidData(fmt::format("{} has {} voxels, expected {}, as {}", intensity->path(),
                                      shape_of(other), shape_of(own), volume.path()));
}

} // namespace

VolumeLabelling::VolumeLabelling(Communicator communicator, VolumeLabelOptions options,
                                 RunControl control)
    : communicator_(scope_later(communicator, "VolumeLabelling")),
      options_(std::move(options)),
      control_(std::move(control)) {}

void VolumeLabelling::fail(const std::string& text) const {
    sextant::fail(communicator_, text);
}

VolumeLabelResult VolumeLabelling::run(FrameSource& volume, FrameSource* intensity,
                                       VolumeLabelSink& sink) const {
    const CancellationScope cancellable(control_, communicator_.size());
    VolumeLabelOptions options = options_;
    require_same(communicator_, options);
    std::optional<VolumePlanes> planes, second;
    PlaneRange range;
    agree(communicator_, [&] {
        open(volume, options.measure ? intensity : nullptr, planes, second);
        options.identity +=
            fmt::format("samples: {}\nmeasured intensities: {}\n", name(volume.header().sample),
                        second ? name(intensity->header().sample) : "none");
        if (options.measure)
            kernel::check_measurable(planes->shape());
        if (options.fill_holes && options.by_value)
            throw InvalidTask("fill_holes: holes have no value, so that voxels cannot be connected "
                              "by_value");
        range = label::planes_of(communicator_.rank(), communicator_.size(), planes->shape().depth,
                                 std::max<Elements>(1, sink.planes_per_part()));
    });
    std::optional<FilledPlanes> filled;
    if (options.fill_holes) {
        agree(communicator_, [&] { // that of a slab of the background, before any message
            label::BackgroundPlanes background(*planes);
            VolumeSlabs(background, nullptr, slab_options(communicator_, dual(options), range));
        });
        filled.emplace(communicator_, options, control_, *planes, range);
    }
    std::optional<VolumeSlabs> slabs;
    agree(communicator_, [&] {
        VolumeSlabs::Options own = slab_options(communicator_, options, range);
        if (filled)
            own.slab_planes = filled->slab_planes();
        slabs.emplace(filled ? static_cast<Planes&>(*filled) : *planes, second ? &*second : nullptr,
                      own);
    });
    VolumeCheckpoint checkpoint = checkpoint_of(communicator_, options, *slabs, "labels");
    VolumeRun labelling(communicator_, options, control_, *slabs, checkpoint);
    if (filled)
        labelling.set_holes(filled->holes(), filled->components().nan());
    return labelling.run(sink);
}

VolumeRegions VolumeLabelling::measure(FrameSource& labels, FrameSource* intensity) const {
    const CancellationScope cancellable(control_, communicator_.size());
    VolumeLabelOptions options;
    options.memory = options_.memory;
    options.threads = options_.threads;
    options.neighbours = kernel::Neighbours::six; // the cheapest: parts are added up by value
    options.by_value = true;
    require_same(communicator_, options);
    std::optional<VolumePlanes> planes, second;
    std::optional<VolumeSlabs> slabs;
    agree(communicator_, [&] {
        open(labels, intensity, planes, second);
        kernel::check_measurable(planes->shape());
        const Sample sample = labels.header().sample;
        if (sample == Sample::f16 || sample == Sample::f32 || sample == Sample::f64)
            throw InvalidData(fmt::format("{} holds {}, expected labels, which are integers",
                                          labels.path(), name(sample)));
        const PlaneRange range =
            label::planes_of(communicator_.rank(), communicator_.size(), planes->shape().depth);
        slabs.emplace(*planes, second ? &*second : nullptr,
                      slab_options(communicator_, options, range));
    });
    VolumeRegions regions = label::measure_regions(communicator_, control_, *slabs);
    const Sample sample = labels.header().sample;
    if (sample == Sample::i8 || sample == Sample::i16 || sample == Sample::i32 ||
        sample == Sample::i64) { // as bits, negative labels are the largest
        const std::uint64_t negative = std::uint64_t{1} << (8 * size_of(sample) - 1);
        std::rotate(regions.table.begin(),
                    std::ranges::lower_bound(regions.table, negative, {}, &kernel::Body::value),
                    regions.table.end());
    }
    return regions;
}

} // namespace sextant
