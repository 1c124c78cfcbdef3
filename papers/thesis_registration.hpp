// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/samples.hpp"
#include "sextant/registration/pair/motion.hpp"

#include <span>
#include <vector>

#include "papers/thesis_elements.hpp"

namespace sextant::papers {

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
    double sigma = 0; ///< scale of the Gaussian filter for both frames, in pixels; 0 for no filter
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

/// Registration by gradient flow, as published: minimises E[φ] = −NCC[R, T∘φ] + (λ/2) ∫‖D(φ −
/// id)‖², the second term for non-rigid φ only, on successively finer grids. This is the readable
/// reference for the library's faster registration (registration/pair/rigid.hpp): it is slow, and
/// biased towards shifts by half a pixel unless shot noise is filtered first (`sigma` of 2 px).
///
/// A series is registered by an inclusive scan: its values are the motions φ_{i,i+1} of
/// neighbouring frames, found by rigid(), and its operator is joined(), which registers the outer
/// two frames again. The operator is not commutative, and associative only approximately: another
/// bracketing gives another local minimum, less than a pixel away.
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
/// Source    Berkels et al., Ultramicroscopy 138, 2014, doi:10.1016/j.ultramic.2013.11.007; Copik,
///           arXiv:1712.02533; the gradient flow: Clarenz, Droske, Rumpf, VMV 2002
class GradientFlowRegistration {
  public:
    explicit GradientFlowRegistration(const ThesisOptions& options = {}) : options_(options) {}

    /// Returns a rigid motion φ with T∘φ ≈ R, found from `start`: A(R, T, start).
    ThesisMotion rigid(const kernel::SampleView& reference, const kernel::SampleView& templ,
                       const registration::RigidMotion& start = {}) const;
    /// Returns a non-rigid motion, found from `start`, a field for frames of this size.
    ThesisField nonrigid(const kernel::SampleView& reference, const kernel::SampleView& templ,
                         const registration::DisplacementField& start) const;
    /// The operator of the scan: φ_{i,j} ⊙ φ_{j,k} = A(f_i, f_k, φ_{j,k}∘φ_{i,j}).
    /// Input     frames i and k; the motions between frames i and j and between j and k.
    ThesisMotion joined(const kernel::SampleView& frame_i, const kernel::SampleView& frame_k,
                        const registration::RigidMotion& i_to_j,
                        const registration::RigidMotion& j_to_k) const;
    /// Returns E of each motion on the finest grid.
    std::vector<double> energies(const kernel::SampleView& reference,
                                 const kernel::SampleView& templ,
                                 std::span<const registration::RigidMotion> motions) const;

  private:
    ThesisOptions options_;
};

} // namespace sextant::papers
