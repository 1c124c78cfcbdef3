// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/command/label/run_folder.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/pages/overview.hpp"
#include "sextant/command/pages/plan_report.hpp"
#include "sextant/command/pages/volume_slices.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/journal.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/label/label.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// An image or a volume with intensities to measure within labels.
struct IntensityChoice {
    std::string file;                    ///< "": none
    std::optional<std::int64_t> channel; ///< counted from 0

    explicit operator bool() const { return !file.empty(); }
    /// Returns the files that open() reads; see files_of_series().
    std::vector<std::string> files(const SourceChoice& labelled,
                                   std::span<const std::string> outputs) const;
    /// Opens the intensities; returns null if there are none. `labelled` is the source of the
    /// labels, or of the image or volume to label. If the intensities are in the same file, the
    /// same planes are opened. If they are in another file, frames of the same time are opened if
    /// that file has several times, and the axis names of `labelled` apply if that file has the
    /// same number of axes without names.
    std::unique_ptr<FrameSource> open(const SourceChoice& labelled,
                                      const ScratchPlace& copy = {}) const;
    /// Returns the intensities to measure: the volume, or the frame that corresponds to the image.
    LabelInput input(FrameSource& opened, const SourceChoice& labelled, bool is_image) const;
    /// Returns remarks on the intensities for the user.
    std::vector<std::string> remarks(const FrameSource& opened) const;
};
/// Declares `--intensity`, described by `meaning`, and `--intensity-channel`.
Record record_of(IntensityChoice& intensity, std::string_view meaning);
Effect effect_of(const IntensityChoice& intensity);

/// The options of `sextant label`.
struct LabelCommand {
    SourceChoice source;
    std::string output, table;
    LabelOptions label = {.merging = {.probing = planner::Probing::now}};
    IntensityChoice intensity;
    bool pyramid = false;
    int zarr = 3; ///< Zarr version of a store to write
    std::optional<std::int64_t> ranks;
    Reports reports;
    bool is_image = false;
};

Record record_of(LabelCommand& command);
Effects effects_of(LabelCommand& command);

/// The table (CSV) of components or regions. Coordinates are in samples. Principal axes are ordered
/// by length.
class LabelTable {
  public:
    /// `intensity`: the sample type of the intensities; empty without intensities.
    LabelTable(bool is_image, const LabelOptions& options, std::optional<Sample> intensity)
        : is_image_(is_image),
          only_sizes_(options.measures_sizes(is_image)),
          intensity_(intensity) {}

    /// Returns the first line, with the names of the columns.
    std::string columns() const;
    /// Returns the line of a component.
    std::string row(const std::string& label, const kernel::Body& body) const;

  private:
    bool is_image_, only_sizes_;
    std::optional<Sample> intensity_;
};

/// Returns a warning with the number of sums that exceed the range of f64; "" if there are none.
std::string remark_on_sums(Elements beyond);

/// The sizes of all components, and the measures of the largest ones.
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
    Elements voxels() const { return voxels_; } ///< number of voxels of all components
    Elements least() const { return least_; }
    /// Returns the largest components, largest first; the lowest label first for equal sizes.
    const std::vector<Listed>& largest() const { return largest_; }
    /// Returns a histogram: element b counts the components whose number of voxels has b bits.
    const std::array<Elements, 64>& by_bits() const { return by_bits_; }

  private:
    Elements count_ = 0, voxels_ = 0, least_ = 0;
    std::vector<Listed> largest_;
    std::array<Elements, 64> by_bits_{};
};

/// Slices through the largest component, collected while a volume is labelled.
class LabelledSlices {
  public:
    /// Call when the components are known; rank 0 must have their sizes. Reads slices of `shown`.
    /// Throws AgreedFailure. Collective.
    LabelledSlices(const Communicator& communicator, const LabelResult& found,
                   const ComponentSizes& sizes, FrameSource& shown);

    /// Returns true if the slices contain voxels of this plane.
    bool wants(Elements plane) const { return labels_->grid().wants(plane); }
    /// Adds a plane of labels; can be called on any rank.
    template <class Label>
    void add(Elements plane, std::span<const Label> labels) {
        if (wants(plane))
            labels_->add(plane, 0, std::vector<ComponentNumber>(labels.begin(), labels.end()));
    }
    /// Gathers the labels of all ranks on rank 0. Collective.
    void gather(const Communicator& communicator) { labels_->gather(communicator); }

    Seconds seconds() const { return seconds_; } ///< time spent on reading
    const VolumeSlices<float>& grey() const { return *grey_; }
    const VolumeSlices<ComponentNumber>& labels() const { return *labels_; }

  private:
    Seconds seconds_ = 0;
    std::optional<VolumeSlices<float>> grey_;
    std::optional<VolumeSlices<ComponentNumber>> labels_;
};

/// The data of the page of `sextant label --report`.
struct LabelSummary {
    const LabelCommand& command;
    const LabelResult& result;
    const ComponentSizes& sizes;
    const FrameHeader& header;                    ///< header of the image or volume
    const std::optional<LabelledSlices>& slices;  ///< slices of a volume
    const std::optional<LabelOverview>& overview; ///< overview of an image
    const GatheredMerging& merging;               ///< merging of an image in tiles
    const std::vector<std::string>& remarks;
    int ranks = 1;
    std::string transport;
};

/// Returns a self-contained HTML page: an image or slices, the largest components, a histogram of
/// sizes, and the configuration; for an image in tiles, also the merging of the tiles.
std::string to_page(const LabelSummary& summary);

/// Returns the measured times of the phases on rank 0 and their predictions.
std::vector<report::Phase> phases_of_labels(const LabelResult& result);
/// Returns the pixel type of an image as text.
std::string kind_of_image(const FrameHeader& header);
/// Returns the size of an image as width and height, "480x640 pixels", or of a volume as depth,
/// height and width, "9x480x640 voxels".
std::string size_text(const kernel::VolumeShape& shape);

/// The output files of a labelled image or volume: labels, table, and the data for a page.
///
/// If the format of a volume supports parts, every rank writes a part of the labels. A run in
/// several slabs keeps its results in the folder OUTPUT.partial until all files are complete, so
/// that the same run can continue after an interruption.
class LabelFiles final : public LabelSink {
  public:
    /// Does not write anything yet. `header`: header of the input, or of one frame for an image.
    /// `shown`: the volume whose slices a page shows; null on all ranks or on none. `intensity`:
    /// the sample type of the intensities; empty without intensities.
    LabelFiles(const Communicator& communicator, const LabelCommand& command,
               const FrameHeader& header, FrameSource* shown, std::optional<Sample> intensity);
    ~LabelFiles() override;

    /// Locks the folder of an interrupted run if it exists, or creates and locks the folder if
    /// labels are written in it. Call on rank 0 after checking that no output is an input.
    void hold_folder() { folder_.hold(parts_ != nullptr); }
    /// Determines the text that identifies the state of the inputs. If the folder has results of a
    /// failed run with other inputs, removes them and returns true on rank 0. Collective.
    bool identify();

    format::SinkOptions options() const;
    /// Returns the folder of an interrupted run.
    const std::string& folder() const { return folder_.path(); }
    const std::string& identity() const { return identity_; }

    Elements planes_per_part() const override;
    Elements begin(const LabelResult& result, Elements first, Elements end) override;
    void rows(ComponentNumber first, std::span<const kernel::Body> bodies) override;
    void planes(Elements plane, const LabelPlanes& labels) override;

    /// Moves all files to their final names. Collective.
    void commit();
    /// Returns true if the same run could continue after a failure now. Call on rank 0.
    bool keeps_results() const { return !(opened_ && !resumable_) && folder_.has_results(); }
    /// Marks the stored results as those of a failed run, which a run with other inputs may
    /// replace. Call on rank 0.
    void mark_failed() const { folder_.mark_failed(); }
    /// Removes the folder. Call on rank 0 after all other outputs are complete.
    void remove_folder();

    /// Returns the number of planes of this rank that an earlier run stored.
    Elements stored() const { return stored_; }
    const ComponentSizes& sizes() const { return sizes_; } ///< complete on rank 0 only
    /// Returns the slices; empty for an image or without a page.
    const std::optional<LabelledSlices>& slices() const { return slices_; }
    /// Returns the overview; empty for a volume or without a page.
    const std::optional<LabelOverview>& overview() const { return overview_; }
    /// Returns the number of sums of intensities in the table that exceed the range of f64.
    Elements sums_beyond() const { return sums_beyond_; }

  private:
    bool is_root() const { return communicator_.rank() == 0; }
    std::string store() const { return folder() + "/labels.zarr"; }
    std::string written(int rank) const;
    void open_parts(const LabelResult& result, Elements first, Elements end);
    void write_table(const std::string& rows);
    void show(Elements first, const LabelPlanes& labels);
    void show_stored(Elements first);

    const Communicator communicator_;
    const LabelCommand& command_;
    FrameSource* const shown_;
    const std::optional<Sample> intensity_;
    const LabelTable columns_;
    RunFolder folder_;
    std::string identity_;
    FrameHeader header_; // header of the labels
    std::unique_ptr<FrameSink> sink_;
    std::unique_ptr<format::FrameParts> parts_; // 32-bit labels until the number of labels is known
    std::optional<Journal> progress_;           // number of stored planes, for runs in slabs
    bool resumable_ = false, opened_ = false;
    Elements stored_ = 0, passed_ = 0, noted_ = 0, sums_beyond_ = 0;
    bool has_columns_ = false;
    std::optional<AtomicFile> table_; // empty if the table goes to standard output
    ComponentSizes sizes_;
    std::optional<LabelledSlices> slices_;
    std::optional<LabelOverview> overview_;
};

} // namespace sextant::command
