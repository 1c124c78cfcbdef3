// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/command/label_command.hpp"
#include "sextant/command/label_page.hpp"
#include "sextant/command/overview.hpp"
#include "sextant/command/run_folder.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/journal.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/label/label.hpp"

#include <memory>
#include <optional>
#include <string>

namespace sextant::command {

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
