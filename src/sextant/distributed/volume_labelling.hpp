// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/label/bodies.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

namespace distributed {
class VolumePlanes;
}

/// The number of a component of a volume, from 1; 0 is the background.
using VolumeLabel = std::uint32_t;

/// Options for labelling volumes. They must be the same on every rank, but for `threads`.
struct VolumeLabelOptions {
    kernel::Neighbours neighbours = kernel::Neighbours::twenty_six;
    bool by_value = false; ///< connect only voxels of equal value; NaN equals no value
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
};
Record record_of(VolumeLabelOptions& options);

/// The result of labelling a volume. The same on every rank unless stated otherwise.
struct VolumeLabelResult {
    kernel::VolumeShape shape;
    Elements components = 0;
    Elements holes = 0;   ///< holes that were filled
    Elements removed = 0; ///< components that became background
    Elements slabs = 1;   ///< of this rank
    Elements slab_planes = 0;
    std::vector<kernel::Body> table;        ///< [label − 1]; on rank 0 with `measure`
    Elements nan = 0;                       ///< samples that are NaN, and therefore background
    Bytes sent = 0;                         ///< by this rank, for joining components
    Seconds read = 0, label = 0, write = 0; ///< on this rank
};
/// Returns a record of the result without the table.
Record record_of(const VolumeLabelResult& result);

/// Receives whole planes of labels in order, starting at `plane`.
using VolumeLabelSink = std::function<void(Elements plane, std::span<const VolumeLabel> labels)>;

/// Labels the connected components of a volume, whose planes are the frames of a series. Ranks have
/// successive planes. Each reads its planes in slabs, twice: components are complete only after the
/// last slab. The threads of a rank share the planes of a slab.
///
/// Input     a series that every rank can read, from a source of its own; grey. With `measure`, a
///           second series of the same shape with intensities, or null.
/// Output    labels 1, 2, … in the order of the components' first voxels, row by row and plane by
///           plane; 0 is the background, where samples are 0 or NaN. Rank 0 passes all planes to
///           `write`.
/// Throws    on every rank AgreedFailure, if options differ, series have different shapes or are
/// not
///           grey, the memory cannot hold a plane per thread, a rank cannot read or write, or there
///           are 2³¹ components or more before slabs and ranks are joined; Cancelled.
/// Collective.
/// Cost      kernel::Labeller for each slab, twice, and two or three times more to fill holes; on
/// each
///           rank memory for a slab, 4 bytes per
///           component of each of its slabs, and 8 per component of a rank, of all ranks; with
///           `measure` about 200 bytes per component. Rank r sends its last plane to rank r + 1,
///           and pairs of components that touch to all.
/// Deterministic  the same labels and measures for every memory, number of ranks and threads.
class VolumeLabelling {
  public:
    /// The constructor is not collective.
    explicit VolumeLabelling(Communicator communicator, VolumeLabelOptions options = {},
                             RunControl control = {});

    VolumeLabelResult run(FrameSource& volume, FrameSource* intensity,
                          const VolumeLabelSink& write) const;

    /// Measures the voxels of each value, connected or not: the regions of a labelled volume.
    /// Options other than memory and threads have no effect.
    ///
    /// Input     a volume of integers; intensities or null, as above.
    /// Output    a table of regions by ascending Body::value, on rank 0; no labels.
    /// Throws    as above. Collective. Cost  as above, but the volume is read once.
    VolumeLabelResult measure(FrameSource& labels, FrameSource* intensity) const;

  private:
    void open(FrameSource& volume, FrameSource* intensity,
              std::optional<distributed::VolumePlanes>& planes,
              std::optional<distributed::VolumePlanes>& intensities) const;

    Communicator communicator_;
    VolumeLabelOptions options_;
    RunControl control_;
};

} // namespace sextant
