// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/label/plane_seam.hpp"
#include "sextant/label/checkpoint.hpp"
#include "sextant/label/slabs.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace sextant::label {

/// The number of a component, counted from 1; 0: no component.
using Number = std::uint64_t;

/// The last plane of the nearest lower rank that has planes.
struct PlaneBefore {
    std::ptrdiff_t rank;
    kernel::PlaneRuns plane;
};
/// Passes the last plane of each rank to the next rank that has planes, and adds the bytes that
/// this rank sends to `sent`. `last`: this rank's last plane; empty if no plane follows it.
/// Collective.
std::optional<PlaneBefore> plane_before(const Communicator& communicator, bool has_planes,
                                        const std::optional<kernel::PlaneRuns>& last, Bytes& sent);

/// The connected components of a volume. Each rank labels its planes in slabs. Components within
/// one part of a slab (interior ones) are only counted. Other components are joined: their pieces
/// form a set on each rank, and sets on several ranks form a group. The set with the component's
/// first voxel leads its group.
class Components {
  public:
    /// The properties of components to compute.
    struct Options {
        bool extents = false; ///< sizes, and whether components touch the border
        bool bodies = false;  ///< measures
        /// True for the sizes of interior components to count; null: all. Requires `extents`.
        std::function<bool(Elements voxels)> keeps = nullptr;
        /// Length of the list of the largest interior components; 0: no list.
        Elements most_candidates = 0;
    };

    /// Keeps references.
    Components(const Communicator& communicator, Slabs& slabs, const Options& options,
               Checkpoint& checkpoint);
    ~Components();

    /// Labels all slabs of all ranks, and joins their components. Collective.
    void find(const RunControl& control);

    /// A part of a slab, after it was labelled.
    struct Part {
        kernel::Label components = 0;
        kernel::Label interior = 0; ///< interior components of sizes to keep
        kernel::Label enclosed = 0; ///< interior components that do not touch the border
        Elements first_piece = 0;   ///< number of pieces in earlier parts
    };
    /// A set of pieces; `part` and `label` are those of its first piece.
    struct Set {
        Elements part = 0;
        kernel::Label label = 0;
        /// Number of interior components of the part with sizes to keep and smaller labels.
        kernel::Label before = 0;
        bool leads = true;
        Elements group = -1;        ///< −1 for a set on one rank
        kernel::Extent extent = {}; ///< of the whole group
    };
    /// An interior component that is among the largest.
    struct Candidate {
        Elements voxels = 0, part = 0;
        kernel::Label label = 0;
        /// True if this one is larger or, among components of equal size, comes first.
        bool operator<(const Candidate& other) const {
            return voxels != other.voxels ? voxels > other.voxels
                   : part != other.part   ? part < other.part
                                          : label < other.label;
        }
    };

    /// True if components of this size are kept.
    bool keeps(const kernel::Extent& extent) const {
        return !options_.keeps || options_.keeps(static_cast<Elements>(extent.voxels));
    }
    const std::vector<Part>& parts() const { return parts_; }
    /// Sets in the order of their first pieces.
    const std::vector<Set>& sets() const { return sets_; }
    const std::vector<Candidate>& candidates() const { return candidates_; }
    /// The labels of the part's components that belong to sets, ascending.
    std::span<const kernel::Label> edges(Elements part) const;
    /// The set of an edge, which is an index into edges(part).
    Elements set_of(Elements part, Elements edge) const {
        return pieces_[parts_[index_of(part)].first_piece + edge] - 1;
    }
    /// The measures of a leading set's component.
    const kernel::Body& body(Elements set) const { return bodies_[index_of(set)]; }

    /// The measures that the checkpoint's lists of interior components contain.
    kernel::BodyContents contents() const;

    /// Copies the number of each leading set to the other sets of its group. Collective.
    void share(std::vector<Number>& numbers);

    Elements nan() const { return nan_; } ///< number of NaN samples on all ranks
    /// Number of this rank's slabs that were labelled by an earlier run.
    Elements resumed() const { return resumed_; }
    Bytes sent() const { return sent_; }
    Seconds reading() const { return reading_; }
    Seconds labelling() const { return labelling_; }
    /// Predicted times for all slabs, including those that must be labelled twice, if every slab
    /// takes as long as the first labelled one.
    Seconds predicted_reading() const { return predicted_reading_; }
    Seconds predicted_labelling() const { return predicted_labelling_; }

  private:
    struct FoundPart;
    struct FoundSlab;

    FoundSlab label(Elements slab);
    void describe(const Slabs::Part& part, FoundPart& found) const;
    bool offer(const Candidate& candidate);
    void offer(Elements part, FoundPart& found);
    void measure(std::vector<FoundPart>& found);
    void add_bodies(InteriorBodies bodies);
    void keep(FoundSlab found, bool from_record);
    void settle(const std::vector<kernel::TouchingLabels>& next, bool is_last, bool from_record);
    void make_interior(FoundPart& found, const std::vector<bool>& touches, bool from_record);
    Elements found() const;
    void make_sets();
    void join_ranks();

    const Communicator& communicator_;
    Slabs& slabs_;
    const Options options_;
    Checkpoint& checkpoint_;

    std::vector<Part> parts_;
    kernel::JoinedParts pieces_{"slabs"};    // pieces of sets
    std::vector<kernel::Label> piece_label_; // [piece]: label in its part
    std::vector<kernel::Label> piece_before_;
    std::vector<kernel::Extent> piece_extent_;
    std::vector<kernel::Body> bodies_;  // [piece], later [set]
    std::vector<Candidate> candidates_; // a heap, whose first is the smallest
    // Planes of this rank, labelled by piece, from 1.
    std::optional<kernel::PlaneRuns> first_plane_, last_plane_;
    // The last part with planes, and empty parts after it; not yet in parts_.
    std::vector<FoundPart> waiting_;
    std::vector<Elements> last_pieces_; // [edge of the last non-empty part in parts_]: piece, or −1
    std::mutex adding_;
    std::vector<Set> sets_;
    std::vector<Elements> grouped_; // the sets that are in groups
    Elements groups_ = 0;           // of all ranks
    Elements resumed_ = 0;
    Elements nan_ = 0;
    Bytes sent_ = 0;
    Seconds reading_ = 0, labelling_ = 0, predicted_reading_ = 0, predicted_labelling_ = 0;
};

} // namespace sextant::label
