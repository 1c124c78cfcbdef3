// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/kernel/label/bodies.hpp"
#include "sextant/kernel/label/labels.hpp"
#include "sextant/label/planes.hpp"

#include <optional>
#include <vector>

namespace sextant::label {

/// Successive planes of a volume, in slabs that fit in memory. The planes of a slab are divided
/// into parts, which threads label independently. While memory allows, the runs of slabs are kept
/// after their samples are discarded, so that these slabs need not be read and labelled again.
class Slabs {
  public:
    struct Options {
        kernel::Connection connection = {};
        Elements begin = 0, end = 0; ///< the planes to label
        /// Memory for the samples and labels of slabs, divided among `ranks` and `labellings`.
        Bytes memory = 0;
        int ranks = 1;
        int threads = 1;
        Elements slab_planes = 0; ///< planes of a slab; 0: as many as fit in memory
        int labellings = 1;       ///< of the same planes, which share the memory
    };

    /// `intensity` may be null. Throws InvalidTask if the memory cannot hold a plane.
    Slabs(Planes& volume, Planes* intensity, const Options& options);

    /// Planes of a slab that are labelled by one thread.
    struct Part {
        kernel::Labeller labeller;
        Elements first = 0, planes = 0; ///< `first` counts from the first plane of the volume
        kernel::Label components = 0;
        std::optional<kernel::RowRuns> kept = {}; ///< used instead of the labeller's runs

        Elements end() const { return first + planes; }
        /// The runs of a row, counted from the part's first row.
        kernel::LabelledRuns runs_of(Elements row) const {
            return kept ? kept->runs_of(row) : labeller.runs_of(row);
        }
        /// Replaces each label by numbers[label − 1].
        void renumber(std::span<const kernel::Label> numbers) {
            kept ? kept->renumber(numbers) : labeller.renumber(numbers);
        }
    };

    const kernel::VolumeShape& shape() const { return volume_.shape(); }
    const Options& options() const { return options_; }
    Elements slab_planes() const { return slab_planes_; }
    Elements slabs() const;
    /// The first plane of a slab.
    Elements first_of(Elements slab) const;
    std::size_t parts_of_slab() const { return parts_.size(); }

    /// Reads a slab, with intensities if requested. Returns the same as Planes::read().
    Elements read(Elements slab, bool with_intensity);
    bool has_intensities() const { return intensity_ != nullptr; }
    /// Labels the parts of the slab that was read. Returns the number of samples that are NaN.
    Elements find();
    /// Keeps the runs of the slab that was labelled last, if memory allows.
    void keep_runs();
    /// Makes the runs of a slab available again: reuses those in memory, or reads and labels the
    /// slab again. Adds the times of reading and labelling.
    void find_again(Elements slab, Seconds& reading, Seconds& labelling);
    /// The number of slabs whose runs are in memory.
    Elements kept() const;
    /// The expected number of slabs with runs in memory, if all slabs are like the first.
    Elements expected_kept() const { return expected_kept_; }
    /// The size of each component of a part, and whether it touches the border: [label − 1].
    std::vector<kernel::Extent> extents_of(const Part& part) const;

    std::vector<Part>& parts() { return parts_; }
    kernel::ValueView view(const Part& part) const {
        return volume_.view(part.first - first_, part.planes);
    }
    /// Measures components of a part, with intensities if they were read; see kernel::measure().
    void measure(const Part& part, std::span<const std::uint8_t> wanted,
                 const kernel::TakeBody& take) const;
    /// The type of samples.
    kernel::ValueView::First type() const { return volume_.view(0, 0).first; }

    /// Calls body(index, part) for each part of the slab, in threads.
    template <class Body>
    void each_part(const Body& body) {
        run_parts(&team_, static_cast<int>(parts_.size()), [&](int index, int) {
            const auto i = static_cast<std::size_t>(index);
            body(i, parts_[i]);
        });
    }
    Team& team() { return team_; }

  private:
    struct KeptPart {
        Elements first = 0, planes = 0;
        kernel::Label components = 0;
        kernel::RowRuns runs = {};
    };
    struct Division;
    Slabs(Planes& volume, Planes* intensity, const Options& options, const Division& division);
    static Division division_of(const Planes& volume, const Planes* intensity,
                                const Options& options);

    Planes& volume_;
    Planes* const intensity_;
    const Options options_;
    Elements slab_planes_;
    Team team_;
    std::vector<Part> parts_;
    Elements slab_ = -1;                      // the slab whose runs are in parts_
    std::vector<std::vector<KeptPart>> kept_; // [slab]: empty if it is not kept
    Bytes room_;                              // memory left for kept runs
    Elements expected_kept_ = 0;
    Elements first_ = 0;
    bool has_intensity_ = false;
};

} // namespace sextant::label
