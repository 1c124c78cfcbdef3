// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/registration/pair/level.hpp"
#include "sextant/registration/pair/motion.hpp"
#include "sextant/registration/pair/pyramid.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sextant::registration {

/// The families of affine motions, from the simplest to the most general. Each family contains the
/// previous one.
enum class MotionFamily { translation, rigid, similarity, affine };

/// The parameters of a small affine motion about the centre: the translation t (pixels), the
/// rotation α (radians), the relative increase λ of the magnification, and two components of a pure
/// shear, γ₁ (1, 0; 0, −1) and γ₂ (0, 1; 1, 0). A family varies the first 2, 3, 4 or 6 parameters.
inline constexpr std::size_t affine_parameters = 6;
std::size_t parameters_of(MotionFamily family);

/// The registration of a pair with a family of motions.
struct FamilyResult {
    AffineMotion motion; ///< T∘φ ≈ R
    /// The covariance of a small motion before φ, row by row; 0 for parameters that the family does
    /// not vary; infinite if the frames do not determine the motion.
    std::array<double, affine_parameters * affine_parameters> covariance{};
    /// The covariance of a shift that follows from the NCC if noise were white: row by row, up to a
    /// factor that depends on the filter only. Less accurate than `covariance`, but it varies less
    /// if there are few tiles. 0 if the frames do not determine the shift.
    std::array<double, 4> model_covariance{};
    double ncc = 0;     ///< NCC of the filtered frames over the overlap
    double overlap = 0; ///< fraction of the reference that the motion maps into the template
    int iterations = 0;
    bool converged = false;
    Misfit misfit = {}; ///< evidence that parts of the frame moved differently
};

/// Returns the uncertainty of the motion's nearest rigid motion.
RigidUncertainty uncertainty_of(const FamilyResult& result);

/// Registers pairs of frames with families of affine motions, starting near the true motion.
///
/// Takes Gauss-Newton steps as in level.hpp: the score uses only the gradients of R, so that
/// interpolation adds no bias; its derivative uses the gradients of both frames, because their
/// noise is independent. Sums are accumulated over tiles of 16x16 pixels. Within a tile, the motion
/// is approximated by the rigid motion that equals it at the tile's centre, and all gradients are
/// assigned to the centre. For a change of magnification by 1 %, the approximation is off by .08
/// pixels at the corners of a tile, in opposite directions at opposite corners. Uncertainties are
/// sandwich estimates from tiles of 32x32 pixels.
///
/// Not thread-safe. The rows of tiles are divided among the team's threads.
/// Deterministic: the same bits on the same kind of processor, for any number of threads.
class FamilyFit {
  public:
    /// Requires  the same as Pyramid. The team must outlive this object.
    explicit FamilyFit(ImageShape shape, Team* team = nullptr);

    /// Input     two filled pyramids of this object's shape; a start that is correct to within a
    ///           few pixels everywhere in the frame. The start is projected onto the family: for
    ///           translations, the rotation is dropped.
    FamilyResult fit(const Pyramid& reference, const Pyramid& moved, const AffineMotion& start,
                     MotionFamily family);

  private:
    struct Level {
        Images images;
        Tiling tiling;
        ImageShape tiles; ///< number of tiles along each axis
        Elements row_step = 2;
    };

    Level level_of(const Pyramid& reference, const Pyramid& moved, int number) const;
    kernel::RigidSums sums_of_tiles(const Level& level, const AffineMotion& motion);
    FamilyResult fit_level(const Level& level, const AffineMotion& start, MotionFamily family,
                           double stop);
    void add_covariance(FamilyResult& result, const Level& level, const Similarity& alike,
                        std::size_t parameters) const;

    ImageShape shape_;
    Team* team_;
    std::vector<kernel::RigidSums> tiles_; ///< weighted sums per tile, row by row
};

/// The choice of the simplest family that describes the motions of a series.
struct FamilyChoice {
    MotionFamily family = MotionFamily::rigid;
    std::string reason; ///< one sentence
};

/// Chooses a family. A more general family is chosen if its additional parameters are significant
/// over the series and move the content of some frame by more than .05 pixels (RMS). Parameters are
/// significant if Σpᵀ C⁻¹p exceeds its expectation by more than five standard deviations and at
/// least three frames (or all, if there are fewer) contribute to the excess.
///
/// Input     fits of the affine family to frames of this shape.
FamilyChoice choose_family(std::span<const FamilyResult> frames, ImageShape shape);

} // namespace sextant::registration
