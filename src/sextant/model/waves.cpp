// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/model/waves.hpp"

#include <algorithm>

namespace sextant::model {

std::vector<int> waves_of(const Program& program, const Dependences& dependences) {
    std::vector<int> waves(program.steps.size());
    int worked = 0; // receives depend on nothing, but come from who is as far
    for (std::size_t s = 0; s < waves.size(); ++s) {
        const Step& step = program.steps[s];
        if (is_message(step.verb)) {
            const int windows = program.window > 0 ? step.round / program.window : 0;
            waves[s] = std::max({waves[s], worked, windows});
        } else {
            worked = std::max(worked, waves[s]);
        }
        const int next = waves[s] + (step.verb == Verb::receive ? 1 : 0);
        for (const Dependences::Edge& edge : dependences.after(static_cast<int>(s)))
            waves[edge.step] = std::max(waves[edge.step], next);
    }
    return waves;
}

} // namespace sextant::model
