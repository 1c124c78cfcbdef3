// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/options.hpp"
#include "sextant/label/label.hpp"

#include <cstdint>
#include <memory>
#include <optional>
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
    /// What is measured: the volume, or the frame that belongs to an image.
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

} // namespace sextant::command
