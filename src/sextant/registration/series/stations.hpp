// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/family_fit.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/pair/rigid.hpp"
#include "sextant/registration/transform/canvas.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Series whose frames drift so far that some do not overlap. Frames that overlap the reference too
// little are registered through stations: frames along the path of the drift, each of which
// overlaps the next station.
namespace sextant::registration {

/// Two frames are registered directly if they overlap by at least this fraction.
inline constexpr double direct_overlap = .5;

/// A frame that overlaps every station by less than this fraction becomes a station. Each station
/// then overlaps several others. With more stations, the errors of their registrations would be
/// more correlated than correct_stations() assumes.
inline constexpr double station_overlap = .7;

/// The covariance of (α, tx, ty), row by row.
using RigidCovariance = std::array<double, 9>;

/// The covariance of a motion that is known only from neighbouring frames: standard deviations of 1
/// pixel and .01 radians.
inline constexpr RigidCovariance unknown_covariance{1e-4, 0, 0, 0, 1, 0, 0, 0, 1};

/// A motion and the covariance of its parameters.
struct UncertainMotion {
    RigidMotion motion;
    RigidCovariance covariance{};
};

/// Returns outer∘inner for two motions with independent errors.
UncertainMotion compose(const UncertainMotion& outer, const UncertainMotion& inner);
UncertainMotion inverse(const UncertainMotion& one);

/// Divides frames, in order, into segments, and returns the base of each frame's segment. The base
/// of the first segment is the first frame; the base of any other segment is the last frame before
/// the segment. A frame overlaps its base enough to be registered directly, unless it overlaps even
/// the previous frame too little.
///
/// Input     the motion of each frame relative to any common frame.
/// Output    nondecreasing indices; all 0 if all frames overlap the first frame enough.
std::vector<std::size_t> bases_of(std::span<const RigidMotion> motions, ImageShape shape);

/// Returns the frame in the middle of the motion: the frame with the smallest distance between its
/// centre and the centre of the frame farthest from it. In a tie, returns the first one.
///
/// Input     the same as bases_of(); at least one frame.
/// Cost      O(n log n + n h) for n frames, h of which are corners of the area of the centres.
std::size_t middle_of(std::span<const RigidMotion> motions, ImageShape shape);

/// Stations, and the station of each frame.
struct Stations {
    std::vector<std::size_t> frames;  ///< indices of the stations; the first is near the reference
    std::vector<std::size_t> nearest; ///< for each frame, the index of its station in `frames`
};

/// Chooses stations among the eligible frames, proceeding from the reference outwards. A frame
/// becomes a station if it overlaps no earlier station enough (station_overlap). Each frame belongs
/// to the station that it overlaps most.
///
/// Input     the motions of frames relative to the reference; for each frame, 1 if it may be a
///           station (at least one may); the index of the frame to start from.
/// Cost      O(frames × stations).
Stations choose_stations(std::span<const RigidMotion> motions,
                         std::span<const std::uint8_t> may_be_station, std::size_t from,
                         ImageShape shape);

/// Returns the window of a registered frame: the area with the shape of a frame, in the coordinates
/// of the reference, that is nearest to the frame and has its first pixel at multiples of `grid`.
PixelArea window_of(const RigidMotion& motion, ImageShape shape, Elements grid);

/// Returns the grid of windows: the pixel size of a pyramid's coarsest level.
Elements window_grid(ImageShape shape);

/// Converts a motion relative to the reference to a motion relative to the image in a window, about
/// the window's centre, and back.
RigidMotion in_window(const RigidMotion& motion, const PixelArea& window);
RigidMotion from_window(const RigidMotion& motion, const PixelArea& window);
AffineMotion in_window(AffineMotion motion, const PixelArea& window);
AffineMotion from_window(const AffineMotion& motion, const PixelArea& window);
/// Converts the result of registering a frame to the image in a window to a result relative to the
/// reference.
RigidResult from_window(RigidResult result, const PixelArea& window);
FamilyResult from_window(FamilyResult result, const PixelArea& window);

/// Returns the uncertainty of the position of the frame's centre and of its rotation. If the frame
/// overlaps the reference enough, returns the uncertainty of the motion itself.
RigidUncertainty uncertainty_of_centre(const RigidResult& result, ImageShape shape);

/// A registration of the averages around two stations.
struct StationLink {
    std::size_t from = 0, to = 0;
    /// The small motion by which `to` is displaced relative to `from`, about the centre of the
    /// reference.
    UncertainMotion displaced;
};

/// Computes the corrections of stations that agree best with the links, by weighted least squares.
/// A common rigid motion of all frames is removed, so that covariances are relative to the series.
///
/// Input     the windows of the stations; the number of frames around each; links that connect all
///           stations (std::logic_error otherwise).
/// Output    for each station, a small motion to be applied before the motions of the frames around
///           it.
/// Cost      O(n³) for n stations.
std::vector<UncertainMotion> correct_stations(std::span<const PixelArea> windows,
                                              std::span<const double> frames,
                                              std::span<const StationLink> links);

} // namespace sextant::registration
