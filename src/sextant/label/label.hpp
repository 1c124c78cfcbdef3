// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/array/row_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/contours/merging_plan.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/label/bodies.hpp"
#include "sextant/tiles/list_exchange.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace sextant {

/// The number of a component, from 1; 0 is the background.
using ComponentNumber = std::uint64_t;

/// The columns of tables of components and regions.
enum class LabelColumns : std::uint8_t {
    usual, ///< sizes in images, all in volumes
    sizes, ///< sizes, boxes, centroids, and measures of intensities, if there are some
    all    ///< also axes, faces or perimeters, and whether the border is touched
};

/// Options for labelling images and volumes. They must be the same on every rank, but for
/// `threads`.
struct LabelOptions {
    /// In images, 4 or 8 (the default); in volumes, 6, 18 or 26 (the default).
    std::optional<kernel::Neighbours> neighbours = {};
    bool by_value = false; ///< connect only samples of equal value
    bool measure = false;  ///< measure each component
    LabelColumns columns = LabelColumns::usual;
    /// First turn background that is enclosed by components into foreground: its components, with
    /// the dual neighbourhood (4 for 8, 8 for 4; 6 for 18 and 26, 26 for 6), that do not reach the
    /// border. Not by value.
    bool fill_holes = false;
    Elements min_size = 0;     ///< components of fewer samples become background
    Elements keep_largest = 0; ///< keep this many of the largest components; 0: all
    /// Memory for samples and labels, of all ranks together. A larger image or volume is labelled
    /// in strips of rows, or slabs of planes; a larger image in tiles is refused.
    Bytes memory = Bytes{1} << 30;
    int threads = 1; ///< of each rank
    /// Of an image: label tiles, one per rank, which are merged by a pattern. They are used if a
    /// grid or a pattern other than "auto" is given.
    std::optional<Tiles> grid = {};
    distributed::MergingOptions merging = {};
    /// A folder that all ranks can access, for runs in several slabs: what is found is kept there,
    /// one file per rank, and the same run continues from it after an interruption. The caller
    /// removes it when all results are stored. "": in memory.
    std::string checkpoint = {};
    /// Describes the content of the input to recognise the same run, in lines "name: value".
    std::string identity = {};
    /// Labels have 64 bits if there are more components than this.
    Elements most_narrow = 4294967295;

    /// True if only sizes, boxes, centroids and intensities are measured.
    bool measures_sizes(bool is_image) const {
        return in_tiles() || columns == LabelColumns::sizes ||
               (columns == LabelColumns::usual && is_image);
    }
    bool in_tiles() const { return grid.has_value() || merging.pattern != "auto"; }
};
/// A record of all options but the last three.
Record record_of(LabelOptions& options);
/// The same without the options of tiles.
Record record_in_slabs(LabelOptions& options);
/// The number of neighbours of a sample of an image or volume: 4, 8, 6, 18 or 26.
int neighbours_of(const LabelOptions& options, bool is_image);

/// The result of labelling. The same on every rank unless stated otherwise.
struct LabelResult {
    kernel::VolumeShape shape; ///< of an image, its rows are planes: shape.of_rows is true
    Elements components = 0;
    Elements holes = 0;   ///< holes that were filled
    Elements removed = 0; ///< components that became background
    Elements slabs = 1;   ///< of this rank; of an image, strips of rows
    Elements slab_planes = 0;
    Elements kept = 0;  ///< slabs of this rank whose runs were kept, and that were read once
    std::string reason; ///< why slabs were divided so, and kept or not
    int label_bits = 32;
    bool resumable = false;      ///< what was found is kept in the checkpoint
    Elements resumed = 0;        ///< slabs of this rank taken from the checkpoint
    Elements nan = 0;            ///< samples that are NaN, and therefore background
    Bytes sent = 0;              ///< by this rank, for joining components
    Seconds read = 0, label = 0; ///< on this rank
    Seconds write = 0;           ///< for numbering samples and storing labels
    /// Times predicted from the first slab.
    Seconds predicted_read = 0, predicted_label = 0;
    /// The measures of all components, on rank 0, if there is no sink that receives them.
    std::vector<kernel::Body> table;

    // In tiles:
    std::optional<Grid> grid;                 ///< tiles of the image
    distributed::MergingPlan plan;            ///< on ranks other than 0, only the configuration
    MergingTrace merging;                     ///< if `timeline` is set
    std::optional<distributed::Image> labels; ///< of type kernel::Label; only for an image in tiles
};
/// A record of the result without the table, the labels and the trace.
Record record_of(const LabelResult& result);

/// Labels of successive planes, or rows of an image, in 32 or 64 bits.
using LabelPlanes = std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>>;

/// Receives the results of Labelling. An exception ends the run on all ranks. The planes of an
/// image are its rows.
class LabelSink {
  public:
    LabelSink() = default;
    virtual ~LabelSink() = default;
    LabelSink(const LabelSink&) = delete;
    LabelSink& operator=(const LabelSink&) = delete;

    /// If positive, each rank passes its own planes, which begin at multiples of this number;
    /// otherwise rank 0 passes those of all ranks. The same on every rank.
    virtual Elements planes_per_part() const { return 0; }
    /// With `measure`, on rank 0, first: the measures of components `first`, first + 1, …
    virtual void rows(ComponentNumber first, std::span<const kernel::Body> bodies) {
        (void)first, (void)bodies;
    }
    /// Called instead of rows() if only sizes are measured. Passes them to rows() by default.
    virtual void sizes(ComponentNumber first, std::span<const kernel::RegionSize> sizes);
    /// All components are known. `first`, `end`: the planes that this rank will pass. Returns the
    /// number of them that are stored already; these are not passed. Collective: if it fails, it
    /// throws on every rank (agree()).
    virtual Elements begin(const LabelResult& result, Elements first, Elements end) = 0;
    /// After begin(), if this is the only rank and labels have 32 bits: memory in which the labels
    /// of all planes are written, which are then not passed; null if there is none.
    virtual kernel::LabelPlane memory() { return {}; }
    /// Whole planes of labels in order, from `plane` on.
    virtual void planes(Elements plane, const LabelPlanes& labels) = 0;
};

/// Receives whole rows of labels of an image, starting at row `first`.
using LabelRows = std::function<void(Elements first, std::span<const kernel::Label> rows)>;

/// An image or a volume. Keeps a reference.
class LabelInput {
  public:
    /// An image, opened with ReadAs::values.
    LabelInput(RowSource& image) : source_(&image) {} // NOLINT: so that callers can pass a source
    /// A volume, whose planes are the frames of a series.
    LabelInput(FrameSource& volume) : source_(&volume) {} // NOLINT
    /// An image: a frame of a series.
    LabelInput(FrameSource& series, std::int64_t frame) : source_(&series), frame_(frame) {}
    /// An image or a volume in memory, whose samples are not copied. Signed samples are given as
    /// their bit patterns; `stored` is their type.
    LabelInput(const kernel::ValueView& array, Sample stored, bool is_image)
        : source_(&array), stored_(stored), is_image_(is_image) {}

    bool is_image() const {
        return is_image_ || frame_ || std::holds_alternative<RowSource*>(source_);
    }
    Sample sample() const; ///< the type of the samples in the file or array
    std::string path() const;
    RowSource* rows() const;
    const auto& source() const { return source_; }
    const std::optional<std::int64_t>& frame() const { return frame_; }

  private:
    std::variant<RowSource*, FrameSource*, const kernel::ValueView*> source_;
    std::optional<std::int64_t> frame_;
    Sample stored_ = Sample::u8;
    bool is_image_ = false;
};

/// The regions of a labelled image or volume, by ascending label; empty on ranks other than 0.
/// Body::value has the bits of the label as a sample of the input; negative labels of signed
/// samples come first.
struct LabelRegions {
    kernel::VolumeShape shape;
    std::vector<kernel::Body> table;
    Seconds read = 0, label = 0; ///< on this rank
};

/// Labels the connected components of an image or a volume. Ranks have successive rows or planes.
/// Each reads them in slabs, twice if the memory cannot hold all: components are complete only
/// after the last slab. The threads of a rank share the planes of a slab. An image may also be
/// labelled in tiles, one per rank, whose components are merged by a pattern of messages
/// (LabelOptions::grid).
///
/// Input     an image or a volume that every rank can read, from a source of its own; volumes are
///           grey. With `measure`, a second one of the same shape with intensities, or null.
/// Output    labels 1, 2, … in the order of the components' first samples, row by row and plane by
///           plane; 0 is the background, where samples are 0 or NaN.
/// Throws    InvalidTask for an unknown pattern (constructor). On every rank AgreedFailure, if
///           options differ or have no effect, shapes differ, the memory cannot hold a plane or row
///           per rank, a rank cannot read or write, the checkpoint belongs to another run, or 2³¹
///           components or more touch borders between parts of slabs; Cancelled.
/// Collective.
/// Cost      kernel::Labeller for each slab, twice, and two or three times more to fill holes.
///           Memory on each rank: a slab, and about 40 bytes (with `measure` 250) for each
///           component that touches a border between the parts of slabs. Measures of other
///           components are kept in the checkpoint, if there is one; with `keep_largest`, only
///           those of the largest so far. Rank r sends its last plane to rank r + 1, and pairs of
///           components that touch to all. In tiles, label_components().
/// Deterministic  the same labels and measures for every memory, number of ranks and threads, grid
///           and pattern.
class Labelling {
  public:
    /// The constructor is not collective.
    explicit Labelling(Communicator communicator, LabelOptions options = {},
                       RunControl control = {});

    LabelResult run(const LabelInput& input, const LabelInput* intensity, LabelSink& sink) const;
    /// Passes the labels of an image to `write` on rank 0; measures are in the result. Labels have
    /// 32 bits: throws AgreedFailure if there are 2³¹ components or more.
    LabelResult run(RowSource& image, const LabelRows& write) const;
    /// Labels an image in tiles on this communicator; `memory` and `grid` have no effect.
    LabelResult run(const distributed::Image& image) const;

    /// Ends the use of this object on all ranks: ranks that wait for this one in run(), or call it
    /// later, throw PeerFailed with this rank and `text`. An exception that destroys the object
    /// after its first run has the same effect. Not collective.
    void fail(const std::string& text) const;

    /// Measures the samples of each value, connected or not: the regions of a labelled image or
    /// volume. Options other than memory, threads and columns have no effect.
    ///
    /// Input     integers; intensities or null, as above.
    /// Throws    as above. Collective. Cost  as above, but samples are read once; memory for a slab
    ///           and for the measures of all regions.
    LabelRegions measure(const LabelInput& labels, const LabelInput* intensity) const;

  private:
    LabelResult run_in_slabs(const LabelInput& input, const LabelInput* intensity,
                             LabelSink& sink) const;

    Communicator communicator_;
    LabelOptions options_;
    RunControl control_;
};

} // namespace sextant
