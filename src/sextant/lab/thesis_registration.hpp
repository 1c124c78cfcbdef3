// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/samples.hpp"
#include "sextant/lab/thesis_elements.hpp"
#include "sextant/registration/motion.hpp"

#include <vector>

namespace sextant::registration {

/// E[φ] = −NCC[R, T∘φ] of a rigid motion, on a grid of nodes `spacing` apart. The parameters are α,
/// t_x and t_y; lengths are in units of the domain, the middle of rotation at `c`. The metric is
/// that of ∫‖∂φ‖²/|Ω|: it weighs α by the mean of ‖x − c‖², t by 1, and has no scale.
/// The functional refers to the images, which must live as long as it.
Functional rigid_energy(const CrossCorrelation& images, Point c);

/// E[φ] = −NCC[R, T∘φ] + (λ/2) ∫‖Du‖² of φ = id + u. The parameters are u_x at each node, then u_y,
/// in units of the domain. The metric is A = 1 − (s²/2)Δ with Neumann's condition.
/// The functional refers to the images, which must live as long as it.
Functional nonrigid_energy(const CrossCorrelation& images, double lambda);

struct ThesisOptions {
    double sigma = 0;     ///< of a Gaussian that both frames are filtered by first; 0: none
    double lambda = 200;  ///< weight of the Dirichlet energy; non-rigid only
    int coarsest = 2;     ///< how often the grid of the first level is halved
    int finest = 0;       ///< and that of the last
    int iterations = 500; ///< at most, on a level
    double stop = 1e-6;   ///< the drop in energy at which a level ends
};

/// E after each step, the coarsest level first.
using EnergiesOfLevels = std::vector<std::vector<double>>;

struct ThesisMotion {
    RigidMotion motion;
    EnergiesOfLevels energies;
};

struct ThesisField {
    DisplacementField field; ///< on the nodes of the last level
    EnergiesOfLevels energies;
};

/// Registration as published: the φ that minimises E[φ] = −NCC[R, T∘φ] + (λ/2) ∫‖D(φ − id)‖², the
/// second term for non-rigid φ only, by a gradient flow on one grid after another. It is what fast
/// registration is held against, written to be read: slow, and biased towards shifts by half a
/// pixel where shot noise is not filtered away first (`sigma` of 2 px).
///
/// The domain Ω is the hull of the pixel centres in units of max(width, height) pixels, so that a
/// rotation is one for any aspect; the integrals are those of bilinear elements. A coarser grid has
/// every second node, x_c = x_f/2 exactly, with values by the stencil (1/16)[1 2 1; 2 4 2; 1 2 1],
/// mirrored about the first and last node; of an even number of nodes the last one has no coarse
/// counterpart and counts as a neighbour. Halving ends before a side has fewer than 8 nodes.
///
/// Input     the whole of two frames of one size.
/// Requires  at least 8x8 pixels, all of them numbers, a reference that is not constant,
///           coarsest >= finest >= 0; otherwise throws InvalidTask.
/// Cost      tens to hundreds of evaluations of E a level, each of ~10 passes over its nodes.
/// Deterministic
/// Source    Berkels et al., Ultramicroscopy 138, 2014, doi:10.1016/j.ultramic.2013.11.007; the
///           gradient flow: Clarenz, Droske, Rumpf, VMV 2002
ThesisMotion thesis_rigid(const kernel::SampleView& reference, const kernel::SampleView& templ,
                          const ThesisOptions& options = {}, const RigidMotion& start = {});

ThesisField thesis_nonrigid(const kernel::SampleView& reference, const kernel::SampleView& templ,
                            const ThesisOptions& options, const DisplacementField& start);

} // namespace sextant::registration
