// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/pair/spline_fit.hpp"
#include "sextant/registration/pair/spline_grid.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant::registration {

/// A compact non-rigid motion, φ(x) = motion(x) + Σ B_i(x) B_j(y) c_ij. It takes about 1 kB for
/// frames of 512x512 pixels or more; as a field on nodes it would take at least 35 kB.
struct SplineMotion {
    RigidMotion motion;
    std::vector<float> coefficients; ///< empty: the rigid motion alone
    std::shared_ptr<const SplineGrid> grid = nullptr;
    Point centre; ///< centre of the frames

    /// Returns φ(x).
    Point operator()(Point x) const;
};

/// Returns the rigid motion nearest to any motion, by least squares over positions in the frame.
RigidMotion nearest_rigid(const Displacement& phi, ImageShape shape);

/// Splits a motion into the nearest rigid motion and the remaining displacement.
FieldStart start_at(const Displacement& phi, ImageShape shape);

/// Returns φ⁻¹(y) of a motion close to the rigid motion `near`, by iteration until steps are
/// shorter than 10⁻³ px.
Point inverted(const Displacement& phi, const RigidMotion& near, Point centre, Point y);

/// Returns a field of 0 with a node at each corner of the cells over which fits sum. No node is
/// known.
DisplacementField field_of_cells(ImageShape image);

struct NonrigidOptions {
    double prefilter = usual_prefilter; ///< σ of the Gaussian filter of both frames, pixels
    int levels = 3;                     ///< maximum number of pyramid levels
    SplineFitOptions fit;
};

struct NonrigidResult {
    DisplacementField field; ///< φ with T∘φ ≈ R, with standard deviations and known nodes
    SplineFitReport fit;
    double spacing = 0;   ///< between control points, in pixels
    bool refined = false; ///< true if the dense control grid was needed
};

/// Returns the number of coefficients of the dense grid, the maximum for a motion of frames of this
/// shape.
std::size_t most_coefficients(ImageShape image);

/// Registers pairs of frames non-rigidly, one after another. The field is a rigid motion plus cubic
/// splines on a control grid, bilinear within cells of 8x8 pixels. It is found from coarse to fine
/// by Gauss-Newton steps on squared residuals of normalised frames with the reference's gradients,
/// so that interpolation of the template adds no bias. Its smoothness is estimated from the data
/// (spline_fit.hpp). Control points are max(64, max(width, height)/8) pixels apart, or half that if
/// the residuals on this grid are still spatially coherent.
///
/// Input     two whole frames of this object's shape, and a start near the true motion; on a
///           lattice, within half a period of it.
/// Output    a field with a node every 8 pixels. Nodes that are surrounded by only noise, or mapped
///           outside the template, are not `known`: the field is extrapolated there, and sigma
///           estimates its error.
/// Requires  as Pyramid. Throws the same errors.
/// Cost      per pixel: a filter, a pyramid, and about 10 evaluations of 12 operations; per step
///           the factorisation of a matrix of a few hundred unknowns. Allocates nothing after the
///           first two pairs, if one of them needed the dense grid.
/// Deterministic  The same bits on the same kind of processor, for any number of threads.
/// Source    smoothness: MacKay, Neural Computation 4(3), 1992, doi:10.1162/neco.1992.4.3.415;
///           grid: Rueckert et al., IEEE TMI 18(8), 1999, doi:10.1109/42.796284
class NonrigidRegistration {
  public:
    /// The team must outlive this object.
    explicit NonrigidRegistration(ImageShape image, NonrigidOptions options = {},
                                  Team* team = nullptr);

    /// Registers a pair. The result is valid until the next pair.
    const NonrigidResult& run(const kernel::SampleView& reference, const kernel::SampleView& templ,
                              const FieldStart& start);

    /// Does the same as run(), but without the field on nodes and its standard deviations; used by
    /// the scan of a series.
    SplineMotion find(const kernel::SampleView& reference, const kernel::SampleView& templ,
                      const FieldStart& start);
    const SplineFitReport& report() const { return result_.fit; } ///< report of the last pair
    /// Returns a start as a spline motion on the coarse grid.
    SplineMotion as_spline(const FieldStart& start);

    /// Returns the grid with this number of coefficients, or null if neither grid has it.
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
    std::optional<SplineFit> dense_; ///< created when first needed
    NonrigidResult result_;
};

} // namespace sextant::registration
