// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/reproduce/runs.hpp"

#include "sextant/compositing/catalogue.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/simulate/platform.hpp"
#include "sextant/simulate/shared.hpp"

#include <array>

namespace sextant::reproduce {

namespace {

constexpr std::array<std::string_view, 1> profile_endings{".json"};
constexpr machine::SharedFolder machines{"machine", "machines", profile_endings};

} // namespace

machine::Profile machine_of_paper(const std::string& name) {
    return machine::read_profile(machine::shared_file(machines, name));
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
    const std::string platform = machine::shared_file(simulate::platforms, setting.platform);
    simulate::Costs costs;
    if (simulate::is_json(platform))
        costs = simulate::read_platform(platform).costs;
    if (setting.blend_rate)
        costs.seconds_per_application = 1 / *setting.blend_rate;
    std::vector<std::string> order;
    if (!setting.order.empty())
        order = simulate::read_order(machine::shared_file(simulate::orders, setting.order));
    return simulate::simulate({.schedule = schedule,
                               .platform = platform,
                               .order = std::move(order),
                               .element_size = element_size,
                               .costs = costs,
                               .association = Association::by_arrival});
}

Seconds composite(const std::string& algorithm, int ranks, Elements pixels, const Setting& setting,
                  const std::vector<int>& radices) {
    constexpr Bytes pixel = 16;
    return run(compositing_schedule(algorithm, ranks, pixels, radices), pixel, setting).seconds;
}

} // namespace sextant::reproduce
