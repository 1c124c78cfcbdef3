// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/staleness.hpp"

#include "sextant/calibrate/campaign.hpp"
#include "sextant/calibrate/estimate.hpp"
#include "sextant/calibrate/rig.hpp"
#include "sextant/comm/threads.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>

#include <fmt/format.h>

namespace sextant::calibrate {

namespace {

void compare(std::vector<std::string>& all, const char* what, const std::string& then,
             const std::string& now) {
    if (!then.empty() && then != now)
        all.push_back(
            fmt::format("{}: measured {}, here {}", what, then, now.empty() ? "none" : now));
}

/// Days since 1970 of "2026-01-02..."; nothing where a date is written otherwise.
std::optional<double> days(const std::string& date) {
    std::tm parts{};
    if (std::sscanf(date.c_str(), "%4d-%2d-%2d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday) !=
        3)
        return std::nullopt;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return static_cast<double>(timegm(&parts)) / 86400;
}

} // namespace

std::vector<std::string> differences(const machine::Profile& profile,
                                     const machine::Profile& here) {
    constexpr double old = 90;
    std::vector<std::string> all;
    compare(all, "host", profile.host, here.host);
    compare(all, "topology", profile.topology, here.topology);
    if (profile.cores > 0)
        compare(all, "cores", std::to_string(profile.cores), std::to_string(here.cores));
    compare(all, "transport", profile.transport, here.transport);
    compare(all, "MPI", profile.mpi, here.mpi);
    compare(all, "version of MPI", profile.mpi_version, here.mpi_version);
    const auto then = days(profile.origin.date), now = days(here.origin.date);
    if (then && now && *now - *then > old)
        all.push_back(fmt::format("age: {:.0f} days, more than {:.0f}", *now - *then, old));
    return all;
}

std::string difference_of_state(const machine::Profile& profile, Seconds round_trip) {
    const Seconds then = profile.state_probe.median;
    if (then <= 0)
        return "state: the profile has no probe to compare with";
    if (is_state(then, round_trip))
        return "";
    return fmt::format("state: a round trip of 64 KiB took {:.2f} us, now it takes {:.2f} us",
                       then * 1e6, round_trip * 1e6);
}

bool is_state(Seconds of_state, Seconds round_trip) {
    return of_state <= 0 ||
           std::max(of_state, round_trip) <= one_state * std::min(of_state, round_trip);
}

Seconds probe_state(const Communicator& communicator) {
    constexpr Bytes memory = 1 << 20;
    constexpr int bursts = 5;
    const bool takes_part = communicator.rank() < 2;
    const Communicator pair = communicator.split(takes_part ? 0 : -1, 0);
    Series series;
    if (takes_part) {
        Rig rig(pair, memory);
        for (int i = 0; i < bursts; ++i) {
            for (const Sample& sample : rig.burst(probe()))
                series.add(sample);
        }
    }
    communicator.barrier();
    return takes_part ? series.value(0).median : 0;
}

Seconds probe_threads() {
    Seconds probed = 0;
    run_threads(2, [&](const Communicator& communicator) {
        const Seconds mine = probe_state(communicator);
        if (communicator.rank() == 0)
            probed = mine;
    });
    return probed;
}

} // namespace sextant::calibrate
