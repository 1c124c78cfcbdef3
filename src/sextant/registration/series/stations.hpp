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

// Series whose frames drift out of one another's view. Frames that overlap the reference too little
// are registered by way of stations: frames along the path, each of which overlaps the next.
namespace sextant::registration {

/// Two frames are registered directly if they have at least this fraction of their pixels in
/// common.
inline constexpr double direct_overlap = .5;

/// A frame that overlaps every station less than this becomes a station. Each station then overlaps
/// several others. If there were more stations, the errors of their registrations would be more
/// correlated than the solution assumes.
inline constexpr double station_overlap = .7;

/// A covariance of (α, tx, ty), row by row.
using RigidCovariance = std::array<double, 9>;

/// The covariance of a motion that is known only from neighbouring frames: deviations of 1 pixel
/// and .01.
inline constexpr RigidCovariance unknown_covariance{1e-4, 0, 0, 0, 1, 0, 0, 0, 1};

/// A motion and the covariance of its parameters.
struct UncertainMotion {
    RigidMotion motion;
    RigidCovariance covariance{};
};

/// Returns φ₁∘φ₂ of two motions with independent errors.
UncertainMotion compose(const UncertainMotion& outer, const UncertainMotion& inner);
UncertainMotion inverse(const UncertainMotion& one);

/// Divides frames, in their order, into segments in which all overlap the first one. Returns the
/// base of each frame: the frame before its segment, which it overlaps enough to be registered to
/// it directly, if any frame before it does. The base of the first frame is the frame itself.
///
/// Input     the motion of each frame relative to any common frame.
/// Output    indices that do not decrease; all 0 if all frames overlap the first one.
std::vector<std::size_t> bases_of(std::span<const RigidMotion> motions, ImageShape shape);

/// Returns the frame in the middle of the motion: that whose centre is displaced least from that of
/// the frame farthest from it. The first of them, if there are several.
///
/// Input     as bases_of(); at least one frame.
/// Cost      O(n log n + n h) for n frames, h of which are corners of the area of the centres.
std::size_t middle_of(std::span<const RigidMotion> motions, ImageShape shape);

/// Frames that others are close to.
struct Stations {
    std::vector<std::size_t> frames;  ///< indices of the stations; the first is near the reference
    std::vector<std::size_t> nearest; ///< for each frame, the number of its station
};

/// Chooses stations among the frames that may be stations: from the reference outwards, each that
/// overlaps no earlier station enough (station_overlap). Frames belong to the station that they
/// overlap most.
///
/// Input     the motions of frames relative to the reference, whether each may be a station (at
///           least one may), and the index from which to proceed.
/// Cost      O(frames × stations).
Stations choose_stations(std::span<const RigidMotion> motions,
                         std::span<const std::uint8_t> may_be_station, std::size_t from,
                         ImageShape shape);

/// Returns the area with the shape of a frame, in the coordinates of the reference, that is nearest
/// to a registered frame and whose first pixel is a multiple of `grid` from that of the reference.
PixelArea window_of(const RigidMotion& motion, ImageShape shape, Elements grid);

/// Returns the unit of windows: the distance of the pixels of the coarsest level of a pyramid.
Elements window_grid(ImageShape shape);

/// Converts a motion to one relative to the image in a window instead of the reference, about the
/// centre of the window, and back.
RigidMotion in_window(const RigidMotion& motion, const PixelArea& window);
RigidMotion from_window(const RigidMotion& motion, const PixelArea& window);
AffineMotion in_window(AffineMotion motion, const PixelArea& window);
AffineMotion from_window(const AffineMotion& motion, const PixelArea& window);
/// Converts the result of registering a frame to the image in a window.
RigidResult from_window(RigidResult result, const PixelArea& window);
FamilyResult from_window(FamilyResult result, const PixelArea& window);

/// Returns the uncertainty of the position of the middle of a frame, and of its rotation, or of
/// the motion itself if the frame overlaps the reference enough.
RigidUncertainty uncertainty_of_centre(const RigidResult& result, ImageShape shape);

/// The registration of the averages around two stations.
struct StationLink {
    std::size_t from = 0, to = 0;
    /// The small motion by which `to` is displaced relative to `from`, about the centre of the
    /// reference.
    UncertainMotion displaced;
};

/// Solves for the corrections that agree best with the links, by weighted least squares. A common
/// rigid motion of all frames is removed, so that covariances are those relative to the series.
///
/// Input     the windows of the stations and the numbers of frames around them; links that connect
///           all stations (std::logic_error otherwise).
/// Output    for each station, a small motion to be applied before those of the frames around it.
/// Cost      O(n³) for n stations.
std::vector<UncertainMotion> correct_stations(std::span<const PixelArea> windows,
                                              std::span<const double> frames,
                                              std::span<const StationLink> links);

} // namespace sextant::registration
