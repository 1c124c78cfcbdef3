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

/// An image or a volume whose samples are measured within labels.
struct IntensityChoice {
    std::string file;                    ///< "" for none
    std::optional<std::int64_t> channel; ///< counted from 0

    explicit operator bool() const { return !file.empty(); }
    /// The files that open() reads, as files_of_series().
    std::vector<std::string> files(const SourceChoice& labelled,
                                   std::span<const std::string> outputs) const;
    /// Opens the series; null if there is none. `labelled` is the source of the labels, or of what
    /// is labelled: of the same file, the same planes are read. Of another, those at the same time
    /// if it has several, with the same names for axes if it has as many.
    std::unique_ptr<FrameSource> open(const SourceChoice& labelled,
                                      const ScratchPlace& copy = {}) const;
    /// The intensities to measure: the volume, or the frame that belongs to an image.
    LabelInput input(FrameSource& opened, const SourceChoice& labelled, bool is_image) const;
    /// The remarks on it, for the user.
    std::vector<std::string> remarks(const FrameSource& opened) const;
};
/// Declares `--intensity`, described by `meaning`, and `--intensity-channel`.
Record record_of(IntensityChoice& intensity, std::string_view meaning);
Effects effects_of(const IntensityChoice& intensity);

/// The options of `sextant label`.
struct LabelCommand {
    SourceChoice source;
    std::string output, table;
    LabelOptions label = {.merging = {.probing = planner::Probing::now}};
    IntensityChoice intensity;
    bool pyramid = false;
    int zarr = 3; ///< version of a store that is written
    std::optional<std::int64_t> ranks;
    Reports reports;
    bool is_image = false;
};

Record record_of(LabelCommand& command);
Effects effects_of(LabelCommand& command);

/// True if the source is a series of several frames of which none is chosen.
bool is_volume(const SourceChoice& source);

/// The table (CSV) of components or regions. Coordinates are in samples, axes in the order of their
/// lengths.
class LabelTable {
  public:
    /// `intensity`: the type of intensities, if there are some.
    LabelTable(bool is_image, const LabelOptions& options, std::optional<Sample> intensity)
        : is_image_(is_image),
          only_sizes_(options.measures_sizes(is_image)),
          intensity_(intensity) {}

    /// The first line, with the names of columns.
    std::string columns() const;
    /// The line of a component.
    std::string row(const std::string& label, const kernel::Body& body) const;

  private:
    bool is_image_, only_sizes_;
    std::optional<Sample> intensity_;
};

/// A warning that counts sums that are beyond the range of f64; empty if there are none.
std::string remark_on_sums(Elements beyond);

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

/// The data of the page of `sextant label --report`.
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

/// A self-contained HTML page: an image or slices, the largest components, a histogram of sizes,
/// and the configuration; for an image in tiles, also how they were merged.
std::string to_page(const LabelSummary& summary);

/// The times of the phases, as measured on rank 0 and predicted.
std::vector<report::Phase> phases_of_labels(const LabelResult& result);
/// The type of pixels of an image.
std::string kind_of_image(const FrameHeader& header);
/// The numbers of samples along the axes: "480x640 pixels" as width and height, "9x480x640 voxels"
/// as depth, height and width.
std::string size_text(const kernel::VolumeShape& shape);

/// The files of a labelled image or volume: labels, the table, and what a page shows of them.
///
/// Labels of a volume in a format that is written in parts are written by every rank. A run in
/// several slabs keeps its results in the folder OUTPUT.partial until all files are complete: the
/// same run continues from them after an interruption.
class LabelFiles final : public LabelSink {
  public:
    /// Nothing is written yet. `header`: of the input, of which an image has one frame; `shown`:
    /// the volume of which a page shows slices, or null; all ranks pass a source. `intensity`: the
    /// type of intensities, if there are some.
    LabelFiles(const Communicator& communicator, const LabelCommand& command,
               const FrameHeader& header, FrameSource* shown, std::optional<Sample> intensity);
    ~LabelFiles() override;

    /// Locks the folder for an interrupted run if there is one or if labels are written in it. Call
    /// on rank 0, once the outputs are known to be no inputs.
    void hold_folder() { folder_.hold(parts_ != nullptr); }
    /// Finds the text that identifies the state of the inputs. Returns true on rank 0 if the folder
    /// had results of a run with other inputs that failed, which are removed. Collective.
    bool identify();

    format::SinkOptions options() const;
    /// The folder for an interrupted run.
    const std::string& folder() const { return folder_.path(); }
    const std::string& identity() const { return identity_; }

    Elements planes_per_part() const override;
    Elements begin(const LabelResult& result, Elements first, Elements end) override;
    void rows(ComponentNumber first, std::span<const kernel::Body> bodies) override;
    void planes(Elements plane, const LabelPlanes& labels) override;

    /// Makes all files appear. Collective.
    void commit();
    /// True if the same run could continue after a failure now. Call on rank 0.
    bool keeps_results() const { return !(opened_ && !resumable_) && folder_.has_results(); }
    /// Lets a run with other inputs replace what is kept. Call on rank 0.
    void mark_failed() const { folder_.mark_failed(); }
    /// Removes the folder, after all other outputs are complete. Call on rank 0.
    void remove_folder();

    /// Planes that an earlier run had stored, on this rank.
    Elements stored() const { return stored_; }
    const ComponentSizes& sizes() const { return sizes_; } ///< on rank 0
    /// Empty without a page.
    const std::optional<LabelledSlices>& slices() const { return slices_; }
    /// Empty without a page, and of a volume.
    const std::optional<LabelOverview>& overview() const { return overview_; }
    /// The number of sums of intensities in the table that are beyond the range of f64.
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
    FrameHeader header_; // of the labels
    std::unique_ptr<FrameSink> sink_;
    std::unique_ptr<format::FrameParts> parts_; // labels of 32 bits, until their number is known
    std::optional<Journal> progress_;           // numbers of planes stored, in slabs
    bool resumable_ = false, opened_ = false;
    Elements stored_ = 0, passed_ = 0, noted_ = 0, sums_beyond_ = 0;
    bool has_columns_ = false;
    std::optional<AtomicFile> table_; // unless it is standard output
    ComponentSizes sizes_;
    std::optional<LabelledSlices> slices_;
    std::optional<LabelOverview> overview_;
};

} // namespace sextant::command
