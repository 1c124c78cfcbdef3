// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sextant::format {

/// Sources call this function before each piece of work, with the number of bytes to decode. It
/// restarts the time limit.
using Pace = std::function<void(Bytes ahead)>;

/// The position of an array in a file, if it is stored in C order with exactly the bytes that
/// ArraySource::read() returns.
struct StoredSamples {
    Bytes first = -1; ///< position of the first sample; -1 if samples are not stored in this way
    std::uint64_t device = 0, inode = 0; ///< of the file
};

/// A source of frames.
struct OpenedFrames {
    std::unique_ptr<FrameSource> source;
    StoredSamples stored = {};              ///< of the array of which `source` is a view
    std::vector<std::string> referred = {}; ///< other files from which samples are read
};

/// Opens a source. The child process that reads the source calls this function.
using Opening = std::function<OpenedFrames(const Pace& pace)>;

/// Opens and reads a source, and the array of which it is a view, in a separate process, for
/// libraries that may crash or hang on damaged files. The process is a fork that only reads the
/// source, and ends when this process ends.
///
/// Throws    InvalidFile as the source does. Also throws InvalidFile, such as "damaged: reading
///           frame 3 ended with signal 11", if the child ends or exceeds the CPU time limit of a
///           piece of work: `patience`, plus the same time per GiB to decode. A new child can then
///           read other frames, until three children have ended.
/// Cost      one process, which ends with the source, and one more copy of each sample, in memory
///           that both processes share. If the position of samples in the file is known, this
///           process reads them directly, unless another program is writing the file.
/// Requires  that no other thread holds a lock that the child needs. The library must therefore be
///           used only through such sources.
OpenedFrames read_apart(const std::string& path, const Opening& open, Seconds patience = 60);

} // namespace sextant::format
