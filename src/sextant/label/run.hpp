// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/label/checkpoint.hpp"
#include "sextant/label/components.hpp"
#include "sextant/label/label.hpp"
#include "sextant/label/slabs.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::label {

/// The connection of samples. Requires LabelOptions::neighbours.
kernel::Connection connection_of(const LabelOptions& options);

/// The planes of a volume that a rank labels.
struct PlaneRange {
    Elements begin = 0, end = 0;
};
/// Divides planes among ranks. Each rank but the last ends at a multiple of `unit`.
PlaneRange planes_of(int rank, int ranks, Elements depth, Elements unit = 1);

/// Labels one rank's part of an image or a volume: chooses components, numbers them, and passes the
/// results to a sink.
class LabelRun {
  public:
    /// Keeps references.
    LabelRun(const Communicator& communicator, const LabelOptions& options,
             const RunControl& control, Slabs& slabs, Checkpoint& checkpoint);

    /// Sets the numbers of filled holes and NaN samples in the result.
    void set_holes(Elements holes, Elements nan) {
        result_.holes = holes;
        result_.nan = nan;
    }
    /// Collective.
    LabelResult run(LabelSink& sink);

  private:
    class Rows;
    template <class Value>
    using SlabNumbers = std::vector<std::vector<Value>>; // [part of the slab][label − 1]
    bool is_numbered(Elements part, const Slabs::Part& labelled) const;

    bool chooses_largest() const { return options_.keep_largest > 0; }
    void choose();
    void number();
    std::span<const Components::Candidate> kept_of(Elements part) const;
    void pass_rows(LabelSink& sink);
    void pass_sizes(LabelSink& sink);
    template <class Value>
    void number_part(Elements part, const Slabs::Part& labelled, std::vector<Value>& numbers) const;
    template <class Value>
    void find_again(Elements slab);
    template <class Value>
    void fill(Elements first, Elements planes, Value* labels, Elements stride);
    Elements planes_at_once() const;
    std::string reason() const;
    template <class Value, class Take>
    void each_planes(Elements slab, Elements first, const Take& take);
    template <class Value>
    void write_own(LabelSink& sink, Elements stored);
    template <class Value>
    void write_by_root(LabelSink& sink);
    void write_in_place(const kernel::LabelPlane& to);

    const Communicator& communicator_;
    const LabelOptions& options_;
    const RunControl& control_;
    Slabs& slabs_;
    Checkpoint& checkpoint_;
    /// True if only sizes are measured, and all runs are in memory.
    const bool has_sizes_;
    Components components_;

    // With keep_largest, the interior components to keep, by part and label.
    std::vector<Components::Candidate> kept_;
    std::vector<bool> set_kept_;
    std::vector<Number> first_;   // [part]: the first number of its components
    std::vector<Number> numbers_; // [set]
    SlabNumbers<std::uint64_t> slab_numbers_;
    Elements numbered_ = -1; // the slab whose runs have numbers instead of labels
    LabelResult result_;
};

// Images in tiles, one per rank, whose components are merged by a message pattern
// (contour/merging.hpp).

/// Labels an image in tiles. Each rank reads its tile of the image; rank 0 passes the labels to the
/// sink.
///
/// Throws    on every rank AgreedFailure, also if memory cannot hold the image, if the numbers of
///           tiles and ranks differ, or if there are 2³¹ components or more.
/// Collective.
/// Cost      as label_components(); on rank 0 also the gathered label image.
LabelResult label_in_tiles(const Communicator& communicator, const LabelOptions& options,
                           const RunControl& control, RowSource& source, LabelSink& sink);

/// Labels an image in tiles on this communicator; `memory` and `grid` have no effect.
LabelResult label_tiles(const Communicator& communicator, const LabelOptions& options,
                        const RunControl& control, const distributed::Image& image);

/// Measures the samples of each value; see Labelling::measure.
/// Requires  slabs connected by value. Collective.
LabelRegions measure_regions(const Communicator& communicator, const RunControl& control,
                             Slabs& slabs, bool only_sizes);

} // namespace sextant::label
