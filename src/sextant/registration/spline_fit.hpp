// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/motion.hpp"
#include "sextant/registration/pair_pyramid.hpp"
#include "sextant/registration/spline_grid.hpp"

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace sextant::registration {

struct SplineFitOptions {
    int steps = 20;     ///< at most, on a level
    double stop = .003; ///< the step, RMS in pixels, at which a level ends
    double reach = 3;   ///< of the weakest prior, pixels: the deviation of independent coefficients
    int weak_steps = 3; ///< with that prior, until scores show noise rather than the motion
    double share_of_strain = .1; ///< of SplineGrid::energy
};

/// What a fit says of itself.
struct SplineFitReport {
    double ncc_before = 0, ncc_after = 0; ///< over the overlap, of the filtered frames
    double overlap = 0; ///< the share of pixels whose place lies within the template
    double freedom = 0; ///< γ: how many of the coefficients the data decides, beyond a rigid motion
    double strength = 0;  ///< β, of the prior
    double noise = 0;     ///< v, the variance that scores have beside the structure tensor
    double coherence = 0; ///< scores of tiles beside those of cells: 1 where only noise is left,
                          ///< up to 16 where neighbouring cells still pull the same way
    int steps = 0;        ///< of all levels
};

/// w of a motion φ(x) = motion(x) + w(x), at places of the reference. Threads of a team ask it side
/// by side.
using Displacement = std::function<Point(Point)>;

/// Where a fit begins: at a rigid motion, and at a field about it where one is known.
struct FieldStart {
    RigidMotion motion;
    Displacement beyond; ///< none: 0

    FieldStart(const RigidMotion& near = {}, Displacement field = {})
        : motion(near), beyond(std::move(field)) {}
};

/// Fits splines on one control grid to pairs: Gauss-Newton from the coarsest level that resolves
/// the grid to the finest, each step (H/v + βK) δ = −(s/v + βKc). H are the structure tensors and s
/// the scores of the cells that show more than noise, on the finest level without the slopes of
/// noise; K is the energy of the splines. v = Σ|s|² / tr H, over tiles of up to 32 pixels of a
/// level, within which noise is correlated, less what the coefficients decide. β follows from the
/// evidence, β ← (n − n₀ − β tr (H/v + βK)⁻¹K) / cᵀKc, from a weak prior on, since a strong one
/// would never let the data speak; where a level decided fewer than four coefficients, the next one
/// begins weak again. (H/v + βK)⁻¹ is the coefficients' covariance.
///
/// A field to begin with is brought onto the grid by least squares over cells; the fit then goes on
/// from the second finest level. The prior is on the field, not on what is added to that one, so
/// the end does not depend on it.
///
/// A team shares the rows of squares of cells, of control points, and both ends of the matrix.
/// Deterministic  the same bits for any number of threads.
class SplineFit {
  public:
    SplineFit(ImageShape image, double spacing, const PairPyramid& pyramid,
              SplineFitOptions options, Team* team = nullptr);

    double spacing() const { return spacing_; }
    SplineFitReport run(const PairPyramid& pyramid, const FieldStart& start);
    /// The start alone, brought onto the grid.
    void begin_at(const FieldStart& start);
    const RigidMotion& motion() const { return motion_; }
    /// Of the field found about it.
    std::span<const double> coefficients() const { return coefficients_; }
    /// The field found, on a node for each corner of cells. `field` has that shape. A node is known
    /// where a cell around it shows more than noise and its place lies in the template. Where
    /// nothing at all is known the field is the start, and its deviations are infinite.
    void write(DisplacementField& field);

  private:
    /// What a look finds in squares of cells.
    struct Found {
        kernel::FitMoments moments;
        double trace = 0;                    // of the tensors
        double of_squares = 0, of_cells = 0; // Σ|s|²
        double squares = 0;                  // how many show something

        Found& operator+=(const Found& other);
    };
    /// What is kept of a level.
    struct Level {
        SplineCells cells;
        std::vector<float> u_x, u_y;
        std::vector<kernel::CellSums> sums;
        Elements tile_side;       // in cells, of the squares that show how large noise is
        std::vector<Found> found; // in each row of squares
    };

    void bring_onto_grid(const Displacement& field);
    void look(const PairPyramid& pyramid, std::size_t number);
    Found look_at_squares(const kernel::CellLook& look, std::size_t number, Elements row,
                          const InformativeTiles& tiles);
    void estimate_noise(const Found& found);
    bool step();
    double length_of_step();
    void estimate_strength();
    double correlation() const;

    SplineFitOptions options_;
    Team* team_;
    double spacing_;
    Point centre_;
    std::unique_ptr<const SplineGrid> grid_; // levels refer to it
    BandedMatrix energy_, matrix_;
    BandedCholesky cholesky_;
    std::vector<double> coefficients_, score_, direction_, energy_slope_;
    double weak_strength_;
    std::vector<Level> levels_;

    RigidMotion motion_;
    int weak_steps_left_ = 0;
    kernel::FitMoments moments_;
    float gain_ = 1, offset_ = 0;
    SplineFitReport report_;
};

} // namespace sextant::registration
