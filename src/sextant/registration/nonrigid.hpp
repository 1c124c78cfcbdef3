// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/motion.hpp"
#include "sextant/registration/pair_pyramid.hpp"
#include "sextant/registration/spline_fit.hpp"
#include "sextant/registration/spline_grid.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant::registration {

/// A non-rigid motion in few numbers, φ(x) = motion(x) + Σ B_i(x) B_j(y) c_ij: about 1 kB of a
/// frame of any size above 512², where its field on nodes is 35 kB and more. It lives as long as
/// the grid.
struct SplineMotion {
    RigidMotion motion;
    std::vector<float> coefficients; ///< none: the rigid motion alone
    std::shared_ptr<const SplineGrid> grid = nullptr;
    Point centre; ///< of the frames

    /// φ(x).
    Point operator()(Point x) const;
};

/// The rigid motion nearest to any motion of frames of that shape, by places all over them.
RigidMotion nearest_rigid(const Displacement& phi, ImageShape shape);

/// A motion taken apart: the nearest rigid one, and what is beyond it.
FieldStart start_at(const Displacement& phi, ImageShape shape);

/// φ⁻¹(y) of a motion that is not far from that rigid one, by iteration to 10⁻³ px.
Point inverted(const Displacement& phi, const RigidMotion& near, Point centre, Point y);

struct NonrigidOptions {
    double prefilter = usual_prefilter; ///< σ of the Gaussian that both frames are filtered by
    int levels = 3;                     ///< of the pyramid, at most
    SplineFitOptions fit;
};

struct NonrigidResult {
    DisplacementField field; ///< φ with T∘φ ≈ R, with its standard deviation and where it is known
    SplineFitReport fit;
    double spacing = 0;   ///< of the control points, in pixels
    bool refined = false; ///< control points twice as dense were needed
};

/// How many numbers say how frames of that shape move, at most: on the dense grid.
std::size_t most_coefficients(ImageShape image);

/// Non-rigid registration of one pair of frames after another. The field is a rigid motion plus
/// cubic splines on a control grid, bilinear within cells of 8x8 pixels, found by Gauss-Newton on
/// squared residuals of normalised frames with the reference's slopes (so that no bias arises from
/// how the template is interpolated), from coarse to fine. How smooth it is follows from the data
/// (spline_fit.hpp). Control points lie max(64, max(width, height)/8) pixels apart; where that grid
/// leaves coherent residuals, half as far.
///
/// Input     the whole of two frames of the shape it is made for, and a motion near to the truth:
///           within half a period on lattices.
/// Output    a field with a node every 8 pixels. Nodes whose surroundings show no more than noise
///           or whose places lie beyond the template are not `known`: there it is an
///           extrapolation, and sigma says how far it may be off.
/// Requires  as Pyramid, which also says what it throws.
/// Cost      a pixel: a prefilter, a pyramid, and ~10 looks of 12 operations; a matrix of a few
///           hundred unknowns factored for each step. Nothing is allocated once two pairs have
///           been registered, one of which needed the dense grid.
/// Deterministic  the same bits again on the same kind of processor, for any number of threads.
/// Source    the smoothness: MacKay, Neural Computation 4(3), 1992, doi:10.1162/neco.1992.4.3.415;
///           the grid: Rueckert et al., IEEE TMI 18(8), 1999, doi:10.1109/42.796284
class NonrigidRegistration {
  public:
    /// A team stays.
    explicit NonrigidRegistration(ImageShape image, NonrigidOptions options = {},
                                  Team* team = nullptr);

    /// The result stays until the next pair.
    const NonrigidResult& run(const kernel::SampleView& reference, const kernel::SampleView& templ,
                              const FieldStart& start);

    /// The same without the field on nodes and its deviations: what a series is scanned with.
    SplineMotion find(const kernel::SampleView& reference, const kernel::SampleView& templ,
                      const FieldStart& start);
    const SplineFitReport& report() const { return result_.fit; } ///< of the last pair
    /// A start as a motion of as many numbers.
    SplineMotion as_spline(const FieldStart& start);

    /// The grid of so many numbers; none where neither grid has as many.
    std::shared_ptr<const SplineGrid> grid_of(std::size_t coefficients) const;

  private:
    SplineMotion motion_of(const SplineFit& fit, bool dense) const;
    SplineFit& fit(const kernel::SampleView& reference, const kernel::SampleView& templ,
                   const FieldStart& start);

    ImageShape image_;
    Team* team_;
    std::shared_ptr<const SplineGrid> grid_, dense_grid_;
    NonrigidOptions options_;
    PairPyramid pyramid_;
    SplineFit coarse_;
    std::optional<SplineFit> dense_; // made when first needed
    NonrigidResult result_;
};

} // namespace sextant::registration
