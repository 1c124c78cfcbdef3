// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/label/bodies.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace sextant {

/// The number of a component of a volume, from 1; 0 is the background.
using VolumeLabel = std::uint64_t;

/// Options for labelling volumes. They must be the same on every rank, but for `threads`.
struct VolumeLabelOptions {
    kernel::Neighbours neighbours = kernel::Neighbours::twenty_six;
    bool by_value = false; ///< connect only voxels of equal value
    bool measure = false;  ///< fill VolumeLabelResult::table
    /// First turn background that is enclosed by components into foreground: its components, with
    /// the dual neighbourhood (6 for 18 and 26, 26 for 6), that do not reach the border of the
    /// volume. Not by value.
    bool fill_holes = false;
    Elements min_size = 0;     ///< smaller components, in voxels, become background
    Elements keep_largest = 0; ///< keep this many of the largest components; 0: all
    /// Memory for samples and labels, of all ranks together. A larger volume is labelled in slabs
    /// of planes.
    Bytes memory = Bytes{1} << 30;
    int threads = 1; ///< of each rank
    /// A folder that all ranks can access, for runs in several slabs: what is found is kept there,
    /// one file per rank, and the same run continues from it after an interruption. The caller
    /// removes it when all results are stored. "": in memory.
    std::string checkpoint = {};
    /// Describes the volume's content to recognise the same run, in lines "name: value".
    std::string identity = {};
    /// Labels have 64 bits if there are more components than this.
    Elements most_narrow = 4294967295;
};
Record record_of(VolumeLabelOptions& options); ///< a record of all options but the last three

/// The result of labelling a volume. The same on every rank unless stated otherwise.
struct VolumeLabelResult {
    kernel::VolumeShape shape;
    Elements components = 0;
    Elements holes = 0;   ///< holes that were filled
    Elements removed = 0; ///< components that became background
    Elements slabs = 1;   ///< of this rank
    Elements slab_planes = 0;
    Elements kept = 0;  ///< slabs of this rank whose runs were kept, and that were read once
    std::string reason; ///< why slabs were divided so, and kept or not
    int label_bits = 32;
    bool resumable = false;      ///< what was found is kept in the checkpoint
    Elements resumed = 0;        ///< slabs of this rank taken from the checkpoint
    Elements nan = 0;            ///< samples that are NaN, and therefore background
    Bytes sent = 0;              ///< by this rank, for joining components
    Seconds read = 0, label = 0; ///< on this rank
    Seconds write = 0;           ///< for numbering voxels and storing planes
    /// Times predicted from the first slab.
    Seconds predicted_read = 0, predicted_label = 0;
};
Record record_of(const VolumeLabelResult& result);

/// Labels of successive planes, in 32 or 64 bits.
using VolumeLabels = std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>>;

/// Receives the results of VolumeLabelling. An exception ends the run on all ranks.
class VolumeLabelSink {
  public:
    VolumeLabelSink() = default;
    virtual ~VolumeLabelSink() = default;
    VolumeLabelSink(const VolumeLabelSink&) = delete;
    VolumeLabelSink& operator=(const VolumeLabelSink&) = delete;

    /// If positive, each rank passes its own planes, which begin at multiples of this number;
    /// otherwise rank 0 passes those of all ranks. The same on every rank.
    virtual Elements planes_per_part() const { return 0; }
    /// With `measure`, on rank 0, first: the measures of components `first`, first + 1, …
    virtual void rows(VolumeLabel first, std::span<const kernel::Body> bodies) {
        (void)first, (void)bodies;
    }
    /// All components are known. `first`, `end`: the planes that this rank will pass. Returns the
    /// number of them that are stored already; these are not passed. Collective: if it fails, it
    /// throws on every rank (agree()).
    virtual Elements begin(const VolumeLabelResult& result, Elements first, Elements end) = 0;
    /// Whole planes of labels in order, from `plane` on.
    virtual void planes(Elements plane, const VolumeLabels& labels) = 0;
};

/// The regions of a labelled volume, by ascending label; empty on ranks other than 0. Body::value
/// has the bits of the label as a sample of the volume; negative labels of signed samples come
/// first.
struct VolumeRegions {
    kernel::VolumeShape shape;
    std::vector<kernel::Body> table;
    Seconds read = 0, label = 0; ///< on this rank
};

/// Labels the connected components of a volume, whose planes are the frames of a series. Ranks have
/// successive planes. Each reads its planes in slabs, twice: components are complete only after the
/// last slab. The threads of a rank share the planes of a slab.
///
/// Input     a series that every rank can read, from a source of its own; grey. With `measure`, a
///           second series of the same shape with intensities, or null.
/// Output    labels 1, 2, … in the order of the components' first voxels, row by row and plane by
///           plane; 0 is the background, where samples are 0 or NaN.
/// Throws    on every rank AgreedFailure, if options differ, series have different shapes or are
///           not grey, the memory cannot hold a plane per thread, a rank cannot read or write, the
///           checkpoint belongs to another run, or 2³¹ components or more touch borders between
///           parts of slabs; Cancelled.
/// Collective.
/// Cost      kernel::Labeller for each slab, twice, and two or three times more to fill holes.
///           Memory on each rank: a slab, and about 40 bytes (with `measure` 250) for each
///           component that touches a border between the parts of slabs. Measures of other
///           components are kept in the checkpoint, if there is one; with `keep_largest`, only
///           those of the largest so far. Rank r sends its last plane to rank r + 1, and pairs of
///           components that touch to all.
/// Deterministic  the same labels and measures for every memory, number of ranks and threads.
class VolumeLabelling {
  public:
    /// The constructor is not collective.
    explicit VolumeLabelling(Communicator communicator, VolumeLabelOptions options = {},
                             RunControl control = {});

    VolumeLabelResult run(FrameSource& volume, FrameSource* intensity, VolumeLabelSink& sink) const;

    /// Ends the use of this object on all ranks: ranks that wait for this one in run(), or call it
    /// later, throw PeerFailed with this rank and `text`. An exception that destroys the object
    /// after its first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    /// Measures the voxels of each value, connected or not: the regions of a labelled volume.
    /// Options other than memory and threads have no effect.
    ///
    /// Input     a volume of integers; intensities or null, as above.
    /// Throws    as above. Collective. Cost  as above, but the volume is read once; memory for a
    /// slab
    ///           and for the measures of all regions.
    VolumeRegions measure(FrameSource& labels, FrameSource* intensity) const;

  private:
    Communicator communicator_;
    VolumeLabelOptions options_;
    RunControl control_;
};

} // namespace sextant
