// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/frame_source.hpp"
#include "sextant/core/units.hpp"

#include <functional>
#include <memory>
#include <string>

namespace sextant::format {

/// Called by a source before each piece of its work, with the bytes that it decodes next: the time
/// for the piece before is over, that for the next begins.
using Pace = std::function<void(Bytes ahead)>;

/// How a source is opened, in the process that is to read it.
using Opening = std::function<std::unique_ptr<FrameSource>(const Pace& pace)>;

/// A source that a process of its own opens and reads: for libraries that damaged files can make
/// crash or go round for ever. The child is a fork of this process, which does nothing but that and
/// ends with it, however it ends.
///
/// Throws    InvalidFile as the source does; and where the child ends, or computes longer than
///           `patience`, and as long again for each GiB, for an answer or a piece of it: "damaged:
///           reading frame 3 ended with signal 11". The frames beside can still be read, by another
///           child, until three have ended.
/// Cost      a process, and each sample is copied once more.
/// Requires  that nothing the child needs is held by another thread: a library that is used by such
///           sources only.
std::unique_ptr<FrameSource> read_apart(const std::string& path, const Opening& open,
                                        Seconds patience = 60);

} // namespace sextant::format
