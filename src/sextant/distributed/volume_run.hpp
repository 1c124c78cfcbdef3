// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/thread_team.hpp"
#include "sextant/distributed/volume_labelling.hpp"
#include "sextant/distributed/volume_planes.hpp"
#include "sextant/kernel/label/joined_parts.hpp"
#include "sextant/kernel/label/plane_seam.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace sextant::distributed {

/// One rank's part in labelling a volume.
class VolumeRun {
  public:
    /// `intensity` may be null. `slab_planes`: 0 to choose by memory.
    VolumeRun(const Communicator& communicator, const VolumeLabelOptions& options,
              const RunControl& control, distributed::Planes& volume,
              distributed::Planes* intensity, Elements slab_planes = 0)
        : communicator_(communicator),
          options_(options),
          control_(control),
          connection_{options.neighbours,
                      options.by_value ? kernel::Sameness::value : kernel::Sameness::foreground},
          volume_(volume),
          intensity_(intensity) {
        agree(communicator, [&] { divide(slab_planes); });
    }

    VolumeLabelResult run(const VolumeLabelSink& write);
    VolumeLabelResult measure();

    /// Finds the components of the volume. Collective.
    void find_all();
    Elements slab_planes() const { return result_.slab_planes; }
    /// The number of samples that are NaN, in all ranks' planes.
    Elements nan() const { return nan_; }
    /// After find_all(): measures of all components, on rank 0. Collective.
    const std::vector<kernel::Body>& gather_table();
    /// After find_all(): labels the planes of this rank from `first` on again, and calls
    /// take(row, begin, end, number) for each run of a component, with the row counted from the
    /// first.
    template <class Take>
    void each_run_again(Elements first, const Take& take);

  private:
    /// Successive planes that a thread labels.
    struct Part {
        kernel::Labeller labeller;
        Elements first = 0, planes = 0; // in the slab
        Elements before = 0;            // components of this rank before it
        std::vector<kernel::Body> bodies;
    };

    void divide(Elements slab_planes);
    bool measures() const {
        return options_.measure || options_.min_size > 0 || options_.keep_largest > 0;
    }
    Elements slabs() const {
        return std::max<Elements>(1,
                                  (end_ - begin_ + result_.slab_planes - 1) / result_.slab_planes);
    }
    void read(Elements slab);
    void find();
    void add_slab();
    void join(const kernel::PlaneRuns& front, const kernel::PlaneRuns& back, Elements front_before,
              Elements back_before);
    void join_ranks();
    void add_up();
    void choose();
    void find_again(Elements slab);
    void fill_next(std::vector<VolumeLabel>& labels);
    /// The number of planes whose labels are in memory at once.
    Elements planes_at_once() const {
        constexpr Bytes most = Bytes{16} << 20;
        const Bytes plane =
            result_.shape.height * result_.shape.width * static_cast<Bytes>(sizeof(VolumeLabel));
        return std::max<Elements>(1, most / plane);
    }
    void write_all(const VolumeLabelSink& to);
    /// The number of a component of a part, in the volume.
    VolumeLabel number_of(const Part& part, kernel::Label label) const {
        return numbers_[static_cast<std::size_t>(own_[part.before + label - 1] - 1)];
    }

    const Communicator& communicator_;
    const VolumeLabelOptions options_;
    const RunControl& control_;
    const kernel::Connection connection_;
    distributed::Planes& volume_;
    distributed::Planes* const intensity_;
    std::optional<Team> team_;
    std::vector<Part> parts_;
    Elements begin_ = 0, end_ = 0;              // planes of this rank
    Elements written_ = 0;                      // planes of the slab whose labels are written
    Elements slab_first_ = 0, slab_planes_ = 0; // the slab in memory
    kernel::JoinedParts own_{"slabs"};          // components of this rank's parts
    std::vector<Elements> befores_;             // [part]: components before it
    std::optional<kernel::PlaneRuns> first_plane_, last_plane_; // of this rank
    Elements last_before_ = 0;         // components before the part of last_plane_
    std::vector<kernel::Body> bodies_; // of own_, before and after numbering
    std::vector<VolumeLabel> numbers_; // [number on this rank − 1]: in the volume
    Elements nan_ = 0;                 // of all ranks
    VolumeLabelResult result_;
};

template <class Take>
void VolumeRun::each_run_again(Elements first, const Take& take) {
    find_again((first - begin_) / result_.slab_planes);
    for (const Part& part : parts_) {
        for (Elements row = 0; row < part.labeller.rows(); ++row)
            kernel::each_run(part.labeller.runs_of(row), part.labeller.width(),
                             [&](Elements begin, Elements end, kernel::Label label) {
                                 take(part.first * result_.shape.height + row, begin, end,
                                      number_of(part, label));
                             });
    }
}

} // namespace sextant::distributed
