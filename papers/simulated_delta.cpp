// SPDX-License-Identifier: BSD-3-Clause
#include "papers/simulated_delta.hpp"

#include "sextant/collective/catalogue.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/simulate/simulation.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace sextant::papers {

namespace {

constexpr int side = 16, processors = side * side;

simulate::Platform platform_called(const char* name) {
    return simulate::read_platform(machine::shared_file(simulate::platforms, name));
}

/// The program with a copy of the whole buffer after each receive. The result is wrong, but only
/// the time is simulated.
Program with_recombination(Program program) {
    std::vector<Step> steps;
    for (const Step& step : program.steps) {
        steps.push_back(step);
        if (step.verb != Verb::receive)
            continue;
        const int buffer = program.regions_of(step)[0].buffer;
        const Elements size = program.buffers[static_cast<std::size_t>(buffer)].size;
        program.buffers.push_back({.role = Role::scratch, .size = size});
        Step copy;
        copy.round = step.round;
        copy.group = step.group;
        copy.first = static_cast<std::uint32_t>(program.regions.size());
        copy.count = 1;
        copy.to = block(buffer, 0, size);
        program.regions.push_back(block(static_cast<int>(program.buffers.size()) - 1, 0, size));
        steps.push_back(copy);
    }
    program.steps = std::move(steps);
    return program;
}

/// The program of a one-level all-to-all with its messages in another order, each in a separate
/// round.
Program in_order(Program program, SendOrder order, int rank) {
    for (Step& step : program.steps) {
        const int difference = step.peer ^ rank;
        const int column = difference % side, row = difference / side;
        step.round = order == SendOrder::by_number ? step.peer : side * column + row;
    }
    std::stable_sort(program.steps.begin(), program.steps.end(),
                     [](const Step& a, const Step& b) { return a.round < b.round; });
    return program;
}

} // namespace

Delta fitted_delta() {
    return {platform_called("delta-16x16-wormholes"), 5e-6, 32, true};
}

Delta sharing_delta() {
    return {.platform = platform_called("delta-16x16")};
}

double milliseconds(const Delta& delta, std::string_view algorithm, Bytes bytes,
                    const Variation& variation) {
    const collective::Algorithm& row = collective::find(algorithm);
    const Grid grid = row.what == CollectiveKind::all_to_all
                          ? Grid{processors * bytes, processors, side, side}
                          : Grid{side * bytes, side, side, side};
    const Schedule schedule = make_schedule(processors, [&](int rank) {
        Program program = variation.parameter ? row.program_with(grid, rank, *variation.parameter)
                                              : row.program(grid, rank);
        if (variation.order != SendOrder::of_algorithm)
            program = in_order(std::move(program), variation.order, rank);
        if (delta.recombines && row.name == "logp-lev-bfly-all-to-all")
            program = with_recombination(std::move(program));
        program.window = delta.window;
        return program;
    });
    simulate::Costs costs = delta.platform.costs;
    const double each_byte = delta.per_block / static_cast<double>(bytes);
    costs.pack_seconds_per_byte += each_byte;
    costs.copy_seconds_per_byte += each_byte;
    return 1e3 * simulate::simulate_on_clock({.schedule = schedule,
                                              .platform = delta.platform.name,
                                              .element_size = 1,
                                              .costs = costs,
                                              .association = Association::by_arrival},
                                             delta.platform)
                     .seconds;
}

double fitted_milliseconds(std::string_view algorithm, Bytes bytes) {
    static const Delta delta = fitted_delta();
    static std::map<std::pair<std::string, Bytes>, double> known;
    const auto [entry, is_new] = known.insert({{std::string(algorithm), bytes}, 0});
    if (is_new)
        entry->second = milliseconds(delta, algorithm, bytes);
    return entry->second;
}

} // namespace sextant::papers
