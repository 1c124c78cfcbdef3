// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/reproduce/papers.hpp"

namespace sextant::reproduce {

std::vector<Experiment> catalogue() {
    std::vector<Experiment> all;
    for (const auto paper : {shift_based_paper, shift_based_bandwidths, radix_k_paper,
                             radix_k_sparse, c3_charges, c3_paper, c3_contours, p3pc_paper,
                             p3pc_here, scan_papers, registration_papers, work_stealing_paper}) {
        const std::span<const Experiment> rows = paper();
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

std::optional<double> ratio(const Row& row) {
    if (!row.theirs || row.ours.empty())
        return std::nullopt;
    return row.ours.back() / *row.theirs;
}

std::string_view verdict(const Row& row) {
    const std::optional<double> found = ratio(row);
    if (!found)
        return "";
    constexpr double most = 1.25;
    return *found <= most && *found * most >= 1 ? "agrees" : "differs";
}

} // namespace sextant::reproduce
