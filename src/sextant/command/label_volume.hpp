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

/// A volume whose samples are measured within labels.
struct IntensityChoice {
    std::string file;                    ///< "" for none
    std::optional<std::int64_t> channel; ///< counted from 0

    explicit operator bool() const { return !file.empty(); }
    /// The files that open() reads, as files_of_series().
    std::vector<std::string> files(const SourceChoice& labelled,
                                   std::span<const std::string> outputs) const;
    /// Opens the volume; null if there is none. `labelled` is the source of the labels, or of the
    /// volume that is labelled: of the same file, the same planes are read. Of another, those at
    /// the same time if it has several, with the same names for axes if it has as many.
    std::unique_ptr<FrameSource> open(const SourceChoice& labelled,
                                      const ScratchPlace& copy = {}) const;
    /// The remarks on it, for the user.
    std::vector<std::string> remarks(const FrameSource& opened) const;
};
/// Declares `--intensity`, described by `meaning`, and `--intensity-channel`.
Record record_of(IntensityChoice& intensity, std::string_view meaning);
Effects effects_of(const IntensityChoice& intensity);

/// The parts of `sextant label` that concern volumes.
struct VolumeLabelCommand {
    SourceChoice source;
    std::string output, table;
    IntensityChoice intensity;
    VolumeLabelOptions label;
    Reports reports;
    bool pyramid = false;
    int zarr = 3; ///< version of a store that is written
};

/// True if the source is a series of several frames of which none is chosen.
bool is_volume(const SourceChoice& source);

/// Labels the volume; rank 0 writes the files. Collective.
void label_volume(const VolumeLabelCommand& command, const Communicator& communicator);

// The table (CSV) of components or regions of a volume. Coordinates are in voxels, axes in the
// order of their lengths.

/// The first line, with the names of columns.
std::string body_columns(bool has_intensity);
/// The line of a component. `intensity`: the type of intensities, if there are some.
std::string body_row(const std::string& label, const kernel::Body& body,
                     std::optional<Sample> intensity);
/// A warning that counts sums that are beyond the range of f64; empty if there are none.
std::string remark_on_sums(Elements beyond);

} // namespace sextant::command
