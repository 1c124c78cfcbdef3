// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/samples.hpp"
#include "sextant/lab/thesis_elements.hpp"
#include "sextant/registration/motion.hpp"

#include <vector>

namespace sextant::lab {

/// E[φ] = −NCC[R, T∘φ] of a rigid motion φ. The parameters are α, t_x and t_y; lengths are in units
/// of the domain, and `c` is the centre of rotation. The metric is that of ∫‖∂φ‖²/|Ω|: α
/// has the mean of ‖x − c‖² as its weight, t has weight 1; it has no scale s. `images` must outlive
/// the functional.
Functional rigid_energy(const CrossCorrelation& images, registration::Point c);

/// E[φ] = −NCC[R, T∘φ] + (λ/2) ∫‖Du‖² of φ = id + u. The parameters are u_x at each node, then u_y,
/// in units of the domain. The metric is A = 1 − (s²/2)Δ with Neumann boundary conditions.
/// `images` must outlive the functional.
Functional nonrigid_energy(const CrossCorrelation& images, double lambda);

struct ThesisOptions {
    double sigma = 0;     ///< scale of the Gaussian filter for both frames, in pixels; 0: none
    double lambda = 200;  ///< weight of the Dirichlet energy; non-rigid only
    int coarsest = 2;     ///< number of times the first level's grid is halved
    int finest = 0;       ///< number of times the last level's grid is halved
    int iterations = 500; ///< maximum number of iterations per level
    double stop = 1e-6;   ///< a level ends when a step lowers the energy by at most this
};

/// The energies of each level (see Flow), coarsest level first.
using EnergiesOfLevels = std::vector<std::vector<double>>;

struct ThesisMotion {
    registration::RigidMotion motion;
    EnergiesOfLevels energies;
};

struct ThesisField {
    registration::DisplacementField field; ///< displacements at the nodes of the last level
    EnergiesOfLevels energies;
};

/// Registration as published: minimises E[φ] = −NCC[R, T∘φ] + (λ/2) ∫‖D(φ − id)‖², the second term
/// for non-rigid φ only, by a gradient flow on successively finer grids. This is the readable
/// reference for the library's faster registration: it is slow, and biased towards shifts by half a
/// pixel unless shot noise is filtered first (`sigma` of 2 px).
///
/// The domain Ω is the bounding rectangle of the pixel centres, in units of max(width, height)
/// pixels along both axes, so that rotations preserve shapes for any aspect ratio; integrals are
/// those of bilinear elements. A coarser grid has every second node, x_c = x_f/2 exactly, with
/// values by the stencil (1/16)[1 2 1; 2 4 2; 1 2 1], mirrored about the first and last node. If
/// the number of nodes is even, the last one has no counterpart on the coarse grid, but contributes
/// to its neighbour. Halving stops before a side has fewer than 8 nodes.
///
/// Input     two whole frames of one size.
/// Throws    InvalidTask unless they have at least 8x8 pixels without NaNs, the reference is not
///           constant, and coarsest >= finest >= 0.
/// Cost      tens to hundreds of evaluations of E per level, each of about 10 passes over its
///           nodes.
/// Deterministic  yes.
/// Source    Berkels et al., Ultramicroscopy 138, 2014, doi:10.1016/j.ultramic.2013.11.007; the
///           gradient flow: Clarenz, Droske, Rumpf, VMV 2002
ThesisMotion thesis_rigid(const kernel::SampleView& reference, const kernel::SampleView& templ,
                          const ThesisOptions& options = {},
                          const registration::RigidMotion& start = {});

ThesisField thesis_nonrigid(const kernel::SampleView& reference, const kernel::SampleView& templ,
                            const ThesisOptions& options,
                            const registration::DisplacementField& start);

} // namespace sextant::lab
