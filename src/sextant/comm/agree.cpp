// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/agree.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace sextant {

namespace {

enum class Outcome : int { fine, peer_failed, failed, invalid_task };

struct Report {
    Outcome outcome = Outcome::fine;
    std::array<char, 1020> text{};

    void say(Outcome how, const char* what) {
        outcome = how;
        std::strncpy(text.data(), what, text.size() - 1);
    }
};

Report attempt(const std::function<void()>& part) {
    Report report;
    try {
        part();
    } catch (const PeerFailed& error) {
        report.say(Outcome::peer_failed, error.what());
    } catch (const AgreedFailure& error) {
        report.say(error.invalid_task() ? Outcome::invalid_task : Outcome::failed, error.what());
    } catch (const InvalidTask& error) {
        report.say(Outcome::invalid_task, error.what());
    } catch (const std::exception& error) {
        report.say(Outcome::failed, error.what());
    }
    return report;
}

[[noreturn]] void throw_what_counts(const std::vector<Report>& reports) {
    const Report* first = nullptr;
    std::size_t rank = 0;
    bool alike = true;
    for (std::size_t r = 0; r < reports.size(); ++r) {
        const Report& report = reports[r];
        if (report.text != reports[0].text)
            alike = false;
        const bool counts = report.outcome > Outcome::peer_failed;
        if (report.outcome == Outcome::fine || (first && !counts))
            continue;
        if (first && first->outcome > Outcome::peer_failed)
            continue;
        first = &report;
        rank = r;
    }
    std::string text = first->text.data();
    if (!alike && text.rfind("rank ", 0) != 0)
        text = fmt::format("rank {}: {}", rank, text);
    throw AgreedFailure(text, first->outcome == Outcome::invalid_task);
}

} // namespace

void agree(const Communicator& communicator, const std::function<void()>& part) {
    const Report mine = attempt(part);
    const std::vector<Outcome> outcomes = communicator.all_gather(mine.outcome);
    const bool fine = std::all_of(outcomes.begin(), outcomes.end(),
                                  [](Outcome outcome) { return outcome == Outcome::fine; });
    if (!fine)
        throw_what_counts(communicator.all_gather(mine));
}

} // namespace sextant
