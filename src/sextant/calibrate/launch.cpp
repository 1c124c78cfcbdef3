// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/launch.hpp"

#include "sextant/calibrate/estimate.hpp"
#include "sextant/calibrate/rig.hpp"
#include "sextant/calibrate/this_machine.hpp"

#include <algorithm>
#include <iterator>

namespace sextant::calibrate {

void with_rigs(const Communicator& communicator, Bytes memory,
               const std::function<void(Stopwatch&, machine::Link)>& body) {
    for (const Pair& pair : pairs_of(communicator)) {
        const bool mine = communicator.rank() == 0 || communicator.rank() == pair.other;
        const Communicator two = communicator.split(mine ? 0 : -1, communicator.rank());
        if (mine) {
            Rig rig(two, memory);
            body(rig, pair.link);
        }
        communicator.barrier();
    }
}

machine::Profile measure_launch(const Communicator& communicator, const machine::Profile* earlier,
                                const CampaignOptions& options) {
    const bool threads = communicator.shares_memory();
    machine::Profile profile = describe_machine(threads ? "threads" : "mpi");
    PlanOptions what;
    what.lending = threads;
    CampaignOptions part = options;
    part.budget /= static_cast<double>(pairs_of(communicator).size());
    with_rigs(communicator, what.memory, [&](Stopwatch& stopwatch, machine::Link link) {
        Plan plan = make_plan(what);
        if (const machine::LinkCosts* known = earlier ? earlier->find(link) : nullptr)
            plan = with_sizes_of(std::move(plan), *known);
        const machine::Profile costs = costs_of(measure(stopwatch, plan, part), link);
        add_costs(profile, costs, what.work);
        what.work = false;
    });
    return profile;
}

} // namespace sextant::calibrate
