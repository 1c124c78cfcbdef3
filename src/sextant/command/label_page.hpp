// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/command/label_command.hpp"
#include "sextant/command/merging_report.hpp"
#include "sextant/command/overview.hpp"
#include "sextant/command/volume_slices.hpp"
#include "sextant/label/label.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::command {

/// The sizes of all components, and the measures of the largest.
class ComponentSizes {
  public:
    static constexpr std::size_t most_listed = 20;

    struct Listed {
        ComponentNumber label = 0;
        kernel::Body body = {};
    };

    /// Adds components `first`, first + 1, …
    void add(ComponentNumber first, std::span<const kernel::Body> bodies);

    Elements count() const { return count_; }
    Elements voxels() const { return voxels_; } ///< of all components
    Elements least() const { return least_; }
    /// Largest first; of equal ones, the lowest label first.
    const std::vector<Listed>& largest() const { return largest_; }
    /// [b]: components whose number of voxels has b bits.
    const std::array<Elements, 64>& by_bits() const { return by_bits_; }

  private:
    Elements count_ = 0, voxels_ = 0, least_ = 0;
    std::vector<Listed> largest_;
    std::array<Elements, 64> by_bits_{};
};

/// Slices through the largest component, collected while a volume is labelled.
class LabelledSlices {
  public:
    /// Call when components are known, with their sizes on rank 0. Reads slices of `shown`.
    /// Throws AgreedFailure. Collective.
    LabelledSlices(const Communicator& communicator, const LabelResult& found,
                   const ComponentSizes& sizes, FrameSource& shown);

    /// True if the slices have voxels of this plane.
    bool wants(Elements plane) const { return labels_->grid().wants(plane); }
    /// Adds a plane of labels; any rank may.
    template <class Label>
    void add(Elements plane, std::span<const Label> labels) {
        if (wants(plane))
            labels_->add(plane, 0, std::vector<ComponentNumber>(labels.begin(), labels.end()));
    }
    /// Adds those of other ranks, on rank 0. Collective.
    void gather(const Communicator& communicator) { labels_->gather(communicator); }

    Seconds seconds() const { return seconds_; } ///< for reading
    const VolumeSlices<float>& grey() const { return *grey_; }
    const VolumeSlices<ComponentNumber>& labels() const { return *labels_; }

  private:
    Seconds seconds_ = 0;
    std::optional<VolumeSlices<float>> grey_;
    std::optional<VolumeSlices<ComponentNumber>> labels_;
};

/// What the page of `sextant label --report` shows.
struct LabelSummary {
    const LabelCommand& command;
    const LabelResult& result;
    const ComponentSizes& sizes;
    const FrameHeader& header;                    ///< of the image or volume
    const std::optional<LabelledSlices>& slices;  ///< of a volume
    const std::optional<LabelOverview>& overview; ///< of an image
    const GatheredMerging& merging;               ///< of an image in tiles
    const std::vector<std::string>& remarks;
    int ranks = 1;
    std::string transport;
};

/// A self-contained HTML page: a picture or slices, the largest components, a histogram of sizes,
/// and what ran. Of an image in tiles, the merging of the tiles.
std::string to_page(const LabelSummary& summary);

/// The type of pixels of an image.
std::string kind_of_image(const FrameHeader& header);
/// The numbers of samples along the axes: "480x640 pixels" as width and height, "9x480x640 voxels"
/// as depth, height and width.
std::string size_text(const kernel::VolumeShape& shape);

} // namespace sextant::command
