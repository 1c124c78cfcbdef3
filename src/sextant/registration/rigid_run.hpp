// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/correlation.hpp"
#include "sextant/registration/lead.hpp"
#include "sextant/registration/level.hpp"
#include "sextant/registration/pyramid.hpp"
#include "sextant/registration/rigid.hpp"
#include "sextant/registration/rotation_search.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace sextant::registration {

/// The state and the steps of a RigidRegistration, whose functions call those of the same names
/// here.
class RigidRun {
  public:
    RigidRun(ImageShape shape, int levels, const RigidOptions& options, Team* team);

    RigidResult align(const Pyramid& reference, const Pyramid& moved);
    RigidResult locate(const Pyramid& reference, const Pyramid& moved);
    RigidResult refine(const Pyramid& reference, const Pyramid& moved, const RigidMotion& start);

  private:
    struct Start {
        Fit fit;
        int level = 0; ///< at which `fit` ended
        std::optional<double> lead;
        int iterations = 0;
    };

    void check(const Pyramid& pyramid) const;
    Images images(const Pyramid& reference, const Pyramid& moved, int level,
                  bool inverted = false) const;
    void find_starts(const Images& coarsest);
    std::size_t most_rivals() const;
    Start search(const Pyramid& reference, const Pyramid& moved);
    void fit_all(const Images& coarsest, std::size_t first, std::size_t last, int steps,
                 double stop, Start& start);
    void sort_out(ImageShape coarsest);
    void choose(const Images& images, std::size_t count, double apart, LeadMeter& meter,
                Start& start);
    void look_closer(const Pyramid& reference, const Pyramid& moved, Start& start);
    RigidResult to_finest(const Pyramid& reference, const Pyramid& moved, const Start& start);
    RigidResult descend(const Pyramid& reference, const Pyramid& moved, const Start& start);
    void finish(const Images& finest, double prefilter, RigidResult& result);
    kernel::RigidSums sums_of_tiles(const Images& finest, const RigidMotion& motion,
                                    Elements row_step);
    void judge(const Images& finest, const kernel::RigidSums& sums, double row_step,
               double prefilter, RigidResult& result);
    void compare(const kernel::RigidSums& sums, double row_step, double prefilter,
                 RigidResult& result) const;

    ImageShape shape_;
    int levels_;
    RigidOptions options_;
    Team* team_;
    Correlation correlation_;
    LeadMeter lead_, closer_lead_;            ///< on the coarsest level, on the next finer one
    std::optional<RotationSearch> rotations_; ///< if more than the usual rotation is allowed
    std::vector<Fit> fits_;                   ///< one per start
    std::vector<kernel::RigidSums> tiles_;    ///< on the finest level
};

} // namespace sextant::registration
