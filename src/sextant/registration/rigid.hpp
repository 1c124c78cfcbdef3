// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/correlation.hpp"
#include "sextant/registration/level.hpp"
#include "sextant/registration/pyramid.hpp"

#include <optional>
#include <vector>

namespace sextant::registration {

struct RigidOptions {
    int most_steps = 30; ///< on a level
    double stop = .002;  ///< RMS length that the next step would have, in pixels of the frame
    /// A start whose similarity on the coarsest level is less than this above that of the second
    /// best, elsewhere, may be a hop by a period of a lattice.
    double least_margin = .012;
};

struct RigidResult {
    RigidMotion motion; ///< T∘φ ≈ R
    RigidUncertainty uncertainty;
    /// Of the filtered frames, over the overlap: before any motion (of every fourth row), and
    /// after.
    double ncc_before = 0, ncc_after = 0;
    double overlap = 0; ///< share of the reference whose place lies in the template
    int iterations = 0; ///< on all levels
    /// How much more alike the frames are than by the second best start; none where one was given.
    std::optional<double> margin;

    bool converged = false;
    bool ambiguous = false; ///< the margin is small: possibly a hop by a period
    bool unrelated = false; ///< no more alike than noise is
};

/// Registers pairs of frames of one shape by a rigid motion.
///
/// A motion is sought by correlation on the coarsest level; each of its peaks takes three
/// Gauss-Newton steps (level.hpp) there on every second row, the best three up to eight, and the
/// one under which the frames are most alike is followed to the finest level.
///
/// Steps on the finest level look at every second row: after the filter the others say nothing of
/// their own. (Sums over both halves of the rows differ by what the filter leaves of waves of two
/// rows: .4 % of their noise.) Without such a filter every row counts. Tiles, 32 x 32 pixels (16 x
/// 16 of small frames), tell how sure a motion is; one whose slopes are noise alone counts for
/// none.
///
/// One object a thread; `align` and `refine` allocate nothing. A team shares rows, angles and
/// starts. Deterministic  the same bits on the same kind of processor, for any number of threads.
class RigidRegistration {
  public:
    /// Throws InvalidTask where pyramids of that shape and number of levels would. A team stays.
    explicit RigidRegistration(ImageShape shape, int levels = 0, const RigidOptions& options = {},
                               Team* team = nullptr);

    /// Input     two pyramids of this shape and these levels, filled (InvalidTask otherwise).
    RigidResult align(const Pyramid& reference, const Pyramid& moved);

    /// From a motion that is right to within a few pixels; there is no search.
    RigidResult refine(const Pyramid& reference, const Pyramid& moved, const RigidMotion& start);

  private:
    struct Start {
        Fit fit;
        std::optional<double> margin;
        int iterations = 0;
    };

    void check(const Pyramid& pyramid) const;
    Images images(const Pyramid& reference, const Pyramid& moved, int level) const;
    Start search(const Pyramid& reference, const Pyramid& moved);
    void fit_all(const Images& coarsest, int steps, double stop, Start& start);
    void sort_out(ImageShape coarsest);
    RigidResult descend(const Pyramid& reference, const Pyramid& moved, int level, Start start);
    void finish(const Images& finest, double prefilter, RigidResult& result);
    kernel::RigidSums sums_of_tiles(const Images& finest, const RigidMotion& motion,
                                    Elements row_step);
    void judge(const Images& finest, const kernel::RigidSums& sums, double row_step,
               double prefilter, RigidResult& result);

    ImageShape shape_;
    int levels_;
    RigidOptions options_;
    Team* team_;
    Correlation correlation_;
    std::vector<Fit> fits_;                ///< of the starts
    std::vector<kernel::RigidSums> tiles_; ///< of the finest level
};

} // namespace sextant::registration
