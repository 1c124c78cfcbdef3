// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/reproduce/experiment.hpp"

#include <span>

namespace sextant::reproduce {

/// Cavin and Demengeon, EGPGV 2012.
std::span<const Experiment> shift_based_paper();
/// Its theory, Figures 2 and 3, and the bandwidths beside its frame rates.
std::span<const Experiment> shift_based_bandwidths();
/// Peterka, Goodell, Ross, Shen, Thakur, SC 2009, doi:10.1145/1654059.1654064
std::span<const Experiment> radix_k_paper();
/// What it leaves for later: images of which only a part is active.
std::span<const Experiment> radix_k_sparse();
/// Hambrusch and Khokhar, JPDC 32, 1996, doi:10.1006/jpdc.1996.0010
std::span<const Experiment> c3_paper();
/// What its figures charge, and what its choices cost on the machine that its authors measured.
std::span<const Experiment> c3_charges();
/// Its section 5, on contour ranking.
std::span<const Experiment> c3_contours();
/// Seinstra and Koelma, IEEE TPDS 13(7), 2002
std::span<const Experiment> p3pc_paper();
/// What it measured, measured on the machine at hand.
std::span<const Experiment> p3pc_here();
/// The prefix circuits that a scan-based registration of series builds on, each by its author.
std::span<const Experiment> scan_papers();
/// Copik, Parallel Prefix Algorithms for the Registration of Arbitrarily Long Electron Micrograph
/// Series, RWTH Aachen: a master's thesis, whose figures are described more than printed.
std::span<const Experiment> registration_papers();
/// Copik, Grosser, Hoefler, Bientinesi, Berkels, IEEE TPDS 33(3), 2022, arXiv:2010.12478
std::span<const Experiment> work_stealing_paper();

} // namespace sextant::reproduce
