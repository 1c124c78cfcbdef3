// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/transform/combined.hpp"

#include <cstdint>
#include <map>
#include <string>

#include "bench/faulty_series.hpp"

namespace sextant::bench {

/// The motions that another program found for a series, relative to frame 0.
struct PeerResult {
    std::map<std::int64_t, registration::Transform>
        transforms;      ///< without frames for which it failed
    Seconds seconds = 0; ///< CPU time, without reading and writing files of frames
};

/// Writes the frames of a series to an MRC file.
void write_series(const FaultySeries& series, const std::string& path);

/// Registers a series by another program, on one thread:
///
///   phase    OpenCV's phaseCorrelate with a Hann window, relative to frame 0
///   ecc      OpenCV's findTransformECC, Euclidean, relative to frame 0; the better of two results,
///            which start from the motion of the frame before and from the phase correlation
///   tvl1     the same, and then OpenCV's DualTVL1 on the remaining displacement
///   relion   RELION's own implementation of MotionCor2's alignment of whole frames
///
/// Throws InvalidTask for an unknown peer, and if the program is not installed or fails.
PeerResult run_peer(const std::string& name, const FaultySeries& series);

} // namespace sextant::bench
