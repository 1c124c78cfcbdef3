// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/reproduce/runs.hpp"

#include "sextant/compositing/catalogue.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/simulate/clock.hpp"
#include "sextant/simulate/shared.hpp"

namespace sextant::reproduce {

machine::Profile machine_of_paper(const std::string& name) {
    return machine::read_profile(machine::shared_file(machine::machines, name));
}

Schedule compositing_schedule(const std::string& algorithm, int ranks, Elements pixels,
                              const std::vector<int>& radices) {
    const compositing::Algorithm& row = compositing::find(algorithm);
    const auto task = compositing::one_image_each(ranks, pixels);
    compositing::Tuning tuning;
    if (radices.empty())
        tuning = row.tunings(ranks).at(0);
    else
        tuning.radices = radices;
    return make_schedule(ranks,
                         [&](int rank) { return compositing::program(row, task, tuning, rank); });
}

simulate::Simulation run(const Schedule& schedule, Bytes element_size, const Setting& setting) {
    simulate::Question question{.schedule = schedule,
                                .platform =
                                    machine::shared_file(simulate::platforms, setting.platform),
                                .element_size = element_size,
                                .active_by_round = setting.active_by_round,
                                .association = Association::by_arrival,
                                .timeline = setting.timeline};
    if (!setting.order.empty())
        question.order =
            simulate::read_order(machine::shared_file(simulate::orders, setting.order));
    std::optional<simulate::Platform> platform;
    if (simulate::is_json(question.platform))
        platform = simulate::read_platform(question.platform);
    if (platform)
        question.costs = platform->costs;
    if (setting.blend_rate)
        question.costs.seconds_per_application = 1 / *setting.blend_rate;
    return platform ? simulate::simulate_on_clock(question, *platform)
                    : simulate::simulate(question);
}

Seconds composite(const std::string& algorithm, int ranks, Elements pixels, const Setting& setting,
                  const std::vector<int>& radices) {
    constexpr Bytes pixel = 16;
    return run(compositing_schedule(algorithm, ranks, pixels, radices), pixel, setting).seconds;
}

} // namespace sextant::reproduce
