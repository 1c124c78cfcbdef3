// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/pair/pyramid.hpp"
#include "sextant/registration/pair/spline_grid.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sextant::registration {

struct SplineFitOptions {
    int steps = 20;     ///< maximum number per level
    double stop = .003; ///< a level ends when a step is shorter than this (RMS, pixels)
    double reach = 3;   ///< standard deviation of coefficients in the weakest prior, pixels
    int weak_steps = 3; ///< number of initial steps with the weakest prior
    double share_of_strain = .1; ///< weight of the strain in SplineGrid::energy()
};

/// Diagnostics of a fit.
struct SplineFitReport {
    double ncc_before = 0, ncc_after = 0; ///< NCC of the filtered frames over the overlap
    double overlap = 0;  ///< fraction of pixels that the motion maps into the template
    double freedom = 0;  ///< γ: number of coefficients that the data determine
    double strength = 0; ///< β, strength of the prior
    double noise = 0;    ///< v, variance of the scores relative to the structure tensor
    /// Σ|s|² over tiles divided by Σ|s|² over cells: 1 if only noise is left, up to 16 if
    /// neighbouring cells agree.
    double coherence = 0;
    int steps = 0; ///< number of steps over all levels
    /// Covariance of the parameters (α, t_x, t_y) of the rigid motion nearest to the field, row by
    /// row; set by SplineFit::write().
    std::array<double, 9> covariance{};
};

/// A function of a position in the reference, such as the displacement w of a motion φ(x) =
/// motion(x) + w(x). Threads of a team may call it concurrently.
using Displacement = std::function<Point(Point)>;

/// The start of a fit: a rigid motion plus, if known, a displacement field.
struct FieldStart {
    RigidMotion motion;
    Displacement beyond; ///< empty: no displacement
    /// The factor that matches the template's contrast to the reference. If empty, the variances
    /// are matched, which is correct only if both frames have the same noise.
    std::optional<double> gain = {};
    /// True if the reference is an average of resampled frames.
    bool of_average = false;
    /// The strength of the prior. If empty, it is estimated from the evidence.
    std::optional<double> strength = {};

    FieldStart(const RigidMotion& near = {}, Displacement field = {})
        : motion(near), beyond(std::move(field)) {}
};

/// Fits splines on one control grid to pairs of frames, from the coarsest level that resolves the
/// grid to the finest. Each Gauss-Newton step δ of the coefficients c solves (H/v + βK) δ = −(s/v +
/// βKc). H sums the structure tensors and s the scores of the cells that show more than noise; on
/// the finest level, H excludes the gradients of noise. K is the energy of the splines. The noise v
/// = Σ|s|² / tr H is estimated over tiles of up to 32 pixels of a level, because noise is
/// correlated within them. It is corrected for the degrees of freedom of the coefficients. The
/// strength β of the prior is estimated from the evidence: β ← (n − n₀ − β tr (H/v + βK)⁻¹K) /
/// cᵀKc, with n coefficients and n₀ the dimension of K's null space. β starts small, because a
/// strong prior would prevent the data from changing the coefficients. If a level determines fewer
/// than four coefficients, the next level starts with a small β again. (H/v + βK)⁻¹ is the
/// covariance of the coefficients.
///
/// If fewer than one in twelve tiles shows more than noise, a field cannot be distinguished from
/// noise. The result is then the start, with the standard deviations of the weakest prior.
///
/// A start with a field is projected onto the grid by least squares over cells; the fit then begins
/// at the second finest level. The prior applies to the whole field, not to its change from the
/// start, so the result does not depend on the start.
///
/// The rows of tiles, the rows of control points and the two ends of the matrix
/// (banded_cholesky.hpp) are divided among the team's threads.
/// Deterministic  the bits do not depend on the number of threads.
class SplineFit {
  public:
    SplineFit(ImageShape image, double spacing, const PairPyramid& pyramid,
              SplineFitOptions options, Team* team = nullptr);

    double spacing() const { return spacing_; }
    SplineFitReport run(const PairPyramid& pyramid, const FieldStart& start);
    /// Projects the start onto the grid without fitting.
    void begin_at(const FieldStart& start);
    const RigidMotion& motion() const { return motion_; }
    /// The coefficients of the displacement added to motion().
    std::span<const double> coefficients() const { return coefficients_; }
    /// Writes the field at the corners of cells, which are the nodes of `field`. A node is known if
    /// an adjacent cell shows more than noise and the node maps into the template. If no node is
    /// known, writes the starting field with infinite standard deviations.
    void write(DisplacementField& field);
    const SplineFitReport& report() const { return report_; } ///< report of the last pair

  private:
    /// The sums over tiles of cells.
    struct Found {
        kernel::FitMoments moments;
        double trace = 0;                    // sum of the tensors' traces
        double of_squares = 0, of_cells = 0; // Σ|s|² over tiles, and over cells
        double squares = 0;                  // number of tiles that show more than noise

        Found& operator+=(const Found& other);
    };
    /// Buffers of a level.
    struct Level {
        SplineCells cells;
        std::vector<float> u_x, u_y;
        std::vector<kernel::CellSums> sums;
        Elements tile_side;       // side of the tiles, in cells
        std::vector<Found> found; // one per row of tiles
    };

    void bring_onto_grid(const Displacement& field);
    void comparison(const PairPyramid& pyramid, std::size_t number);
    Found compare_cells(const kernel::CellComparison& comparison, std::size_t number, Elements row,
                        const InformativeTiles& tiles);
    void estimate_noise(const Found& found, Elements tiles);
    bool step();
    void estimate_strength();
    double correlation() const;
    std::array<double, 9> covariance_of_motion();

    SplineFitOptions options_;
    Team* team_;
    double spacing_;
    ImageShape image_;
    Point centre_;
    std::unique_ptr<const SplineGrid> grid_; // referenced by the levels
    BandedMatrix energy_, matrix_;
    BandedCholesky cholesky_;
    std::vector<double> coefficients_, score_, direction_, energy_slope_;
    /// The parameters of the nearest rigid motion as linear functions of the coefficients.
    std::array<std::vector<double>, 3> motion_weights_;
    double weak_strength_;
    std::vector<Level> levels_;

    RigidMotion motion_;
    int weak_steps_left_ = 0;
    bool estimates_strength_ = true; ///< false if the start states the strength
    double shown_ = 0;               ///< fraction of the tiles that show more than noise
    kernel::FitMoments moments_;
    std::optional<double> known_gain_; ///< in units of the normalised frames
    float gain_ = 1, offset_ = 0;
    SplineFitReport report_;
};

/// A compact non-rigid motion, φ(x) = motion(x) + Σ B_i(x) B_j(y) c_ij. For frames of 512x512
/// pixels or more, it needs about 1 kB, whereas a field on nodes needs at least 35 kB.
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

/// Returns φ⁻¹(y) for a motion φ close to the rigid motion `near`. Iterates until steps are shorter
/// than 10⁻³ px.
Point inverted(const Displacement& phi, const RigidMotion& near, Point centre, Point y);

/// Returns a zero field with one node at each corner of the cells over which a fit accumulates its
/// sums. No node is marked as known.
DisplacementField field_of_cells(ImageShape image);

struct NonrigidOptions {
    double prefilter = usual_prefilter; ///< σ of the Gaussian filter of both frames, pixels
    int levels = 3;                     ///< maximum number of pyramid levels
    SplineFitOptions fit;
};

struct NonrigidResult {
    DisplacementField field; ///< φ with T∘φ ≈ R, with standard deviations and known nodes
    SplineFitReport fit;
    double spacing = 0;   ///< spacing of control points, pixels
    bool refined = false; ///< true if the dense control grid was needed
};

/// Returns the maximum number of coefficients of a motion between frames of this shape: the number
/// on the dense grid.
std::size_t most_coefficients(ImageShape image);

/// Registers pairs of frames non-rigidly, one after another. The field is a rigid motion plus cubic
/// splines on a control grid, bilinear within cells of 8x8 pixels. The fit proceeds from coarse to
/// fine with Gauss-Newton steps on the squared residuals of normalised frames. Steps use the
/// reference's gradients, so that interpolation of the template adds no bias. The smoothness of the
/// field is estimated from the data (SplineFit). Control points are max(64, max(width, height)/8)
/// pixels apart, or half that if the residuals on this grid are still spatially coherent.
///
/// Input     two whole frames of this object's shape; a start near the true motion. On a lattice,
///           the start must be within half a period of the true motion.
/// Output    a field with a node every 8 pixels. Nodes that are surrounded by noise only, or that
///           map outside the template, are not `known`. At these nodes the field is extrapolated,
///           and sigma estimates the error of the extrapolation.
/// Requires  the same as Pyramid. Throws the same errors.
/// Cost      per pixel: a filter, a pyramid, and about 10 evaluations of 12 operations; per step
///           the factorisation of a matrix of a few hundred unknowns. Allocates nothing after the
///           first two pairs, if one of them needed the dense grid.
/// Deterministic  the same bits on the same kind of processor, for any number of threads.
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

    /// Same as run(), but without the field on nodes and its standard deviations. Used by the scan
    /// of a series.
    SplineMotion find(const kernel::SampleView& reference, const kernel::SampleView& templ,
                      const FieldStart& start);
    const SplineFitReport& report() const { return result_.fit; } ///< report of the last pair
    /// Returns a start as a spline motion on the coarse grid.
    SplineMotion as_spline(const FieldStart& start);

    /// Returns the grid that has this number of coefficients, or null if neither grid has this
    /// number.
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
