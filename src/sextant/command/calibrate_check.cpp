// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/calibrate_check.hpp"

#include "sextant/calibrate/campaign.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/core/text.hpp"
#include "sextant/machine/profile_file.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::command {

namespace {

using calibrate::HeldOut;

constexpr int contiguous_messages = 60, strided_messages = 60, rounds = 6;

/// The prediction errors of one kind of messages.
struct Errors {
    std::string kind;
    std::vector<double> values;

    double median() const { return sextant::median(values); }
    double nine_in_ten() const { return quantile(values, .9); }
};

void tell(machine::Link link, const std::vector<HeldOut>& held, bool as_json) {
    Errors errors[] = {{"contiguous", {}}, {"tiles of images", {}}};
    nlohmann::ordered_json json{{"operation", "calibrate --check"}, {"link", name(link)}};
    for (const HeldOut& one : held) {
        errors[one.cell.layout == machine::Layout::cc ? 0 : 1].values.push_back(one.error());
        json["messages"].push_back({{"layout", name(one.cell.layout)},
                                    {"bytes", one.cell.bytes},
                                    {"block", one.cell.block},
                                    {"row", one.cell.row},
                                    {"predicted", one.predicted},
                                    {"measured", one.measured}});
    }
    std::string text;
    for (const Errors& of : errors) {
        text += fmt::format("{}, {}: {} messages never calibrated, error {:.1f} % in the median, "
                            "nine in ten within {:.1f} %\n",
                            name(link), of.kind, of.values.size(), 100 * of.median(),
                            100 * of.nine_in_ten());
        json["errors"].push_back({{"kind", of.kind},
                                  {"messages", of.values.size()},
                                  {"median", of.median()},
                                  {"nine_in_ten", of.nine_in_ten()}});
    }
    print_text(as_json ? (sextant::to_text(json) + "\n").c_str() : text);
}

/// Notes if the machine is in another state than the profile: then errors include the difference
/// between the states. Collective.
void tell_state(const Communicator& communicator, const machine::Profile& profile) {
    const Seconds now = calibrate::probe_state(communicator);
    const std::string other = calibrate::difference_of_state(profile, now);
    if (communicator.rank() == 0 && profile.state_probe.median > 0 && !other.empty())
        print_note(fmt::format("the machine is not in the profile's {}", other));
}

} // namespace

void check_predictions(const std::string& path, unsigned seed, bool json) {
    launch(2, [&](Communicator communicator) {
        machine::Profile profile;
        agree(communicator, [&] { profile = machine::read_profile(path); });
        const std::vector<calibrate::Cell> cells =
            calibrate::draw_held_out(seed, contiguous_messages, strided_messages);
        agree(communicator, [&] { tell_state(communicator, profile); });
        agree(communicator, [&] {
            constexpr Bytes memory = Bytes{200} << 20;
            calibrate::with_rigs(communicator, memory, [&](auto& stopwatch, machine::Link link) {
                const auto held = calibrate::hold_out(stopwatch, cells, profile, link, rounds);
                if (communicator.rank() == 0)
                    tell(link, held, json);
            });
        });
    });
}

namespace {

struct Unit {
    std::string_view name;
    double factor;
};

/// Parses a number with a unit.
template <std::size_t N>
double quantity(std::string_view option, const std::string& text, const Unit (&units)[N],
                double least, double most, std::string_view expected) {
    const auto end = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
    const auto number = parsed_number<double>(std::string_view(text).substr(0, end));
    for (const Unit& unit : units) {
        const double value = number.value_or(0) * unit.factor;
        if (unit.name == std::string_view(text).substr(end) && value >= least && value <= most)
            return value;
    }
    throw InvalidTask(fmt::format("{} is '{}', expected {}", option, shortened(text), expected));
}

} // namespace

Seconds duration_from(std::string_view option, const std::string& text) {
    constexpr Unit units[] = {{"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}};
    constexpr double a_millisecond = 1e-3, a_day = 86400;
    return quantity(option, text, units, a_millisecond, a_day,
                    "a time from 1ms to 1440m, as 60s, 500ms or 2m");
}

double share_from(std::string_view option, const std::string& text) {
    constexpr Unit units[] = {{"%", .01}};
    return quantity(option, text, units, 1e-4, 1, "a share from .01% to 100%, as 2%");
}

} // namespace sextant::command
