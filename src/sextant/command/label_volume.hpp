// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/options.hpp"
#include "sextant/distributed/volume_labelling.hpp"

#include <memory>
#include <string>

namespace sextant::command {

/// The parts of `sextant label` that concern volumes.
struct VolumeLabelCommand {
    SourceChoice source;
    std::string output, table, intensity;
    VolumeLabelOptions label;
    Reports reports;
    bool pyramid = false;
};

/// True if the source is a series of several frames of which none is chosen.
bool is_volume(const SourceChoice& source);

/// Opens a volume of intensities: the same planes as the source if it is the same file. Null if the
/// name is empty.
std::unique_ptr<FrameSource> open_intensity(const std::string& name, const SourceChoice& source);

/// Labels the volume; rank 0 writes the files. Collective.
void label_volume(const VolumeLabelCommand& command, const Communicator& communicator);

// The table (CSV) of components or regions of a volume. Coordinates are in voxels, axes in the
// order of their lengths.

/// The first line, with the names of columns.
std::string body_columns(bool has_intensity);
/// The line of a component.
std::string body_row(const std::string& label, const kernel::Body& body, bool has_intensity);

} // namespace sextant::command
