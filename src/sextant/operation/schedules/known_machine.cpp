// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/known_machine.hpp"

#include "sextant/machine/profile_file.hpp"
#include "sextant/machine/shared_file.hpp"
#include "sextant/simulate/as_machine.hpp"
#include "sextant/simulate/placement.hpp"
#include "sextant/simulate/shared.hpp"

#include <array>

namespace sextant::operation {

namespace {

constexpr std::array<std::string_view, 1> endings{".json"};
/// Without SimGrid's own, whose links only it knows.
constexpr machine::SharedFolder platforms{simulate::platforms.kind, simulate::platforms.path,
                                          endings};

} // namespace

std::string machine_file(const std::string& given) {
    constexpr std::array folders{machine::machines, platforms};
    return machine::shared_file(folders, given);
}

bool is_platform(const std::string& given) {
    return simulate::is_platform(machine_file(given));
}

KnownMachine known_machine(const std::string& given, int ranks) {
    const std::string file = machine_file(given);
    if (!simulate::is_platform(file))
        return {machine::read_profile(file), {}, {}};
    const simulate::Platform platform = simulate::read_platform(file);
    return {simulate::profile_of(platform), simulate::wires_of(platform),
            simulate::place(simulate::rooms_of(platform.network), {}, ranks, file)};
}

} // namespace sextant::operation
