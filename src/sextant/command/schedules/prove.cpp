// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/schedules/families.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/report/text.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/schedule/circuit.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

namespace sextant::command {

namespace {

struct ProveCommand {
    ScheduleRequest request;
    std::vector<int> ranks = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    std::string json;
};

Record record_of(ProveCommand& command) {
    constexpr int most_ranks = 16384, most_elements = 1 << 24;
    Record record = record_of(command.request);
    record.without("ranks");
    record["algorithm"].meaning = "algorithm of the family; default: all";
    Field& elements = record["elements"].between(1, most_elements).none_is(0);
    elements.meaning = "number of pixels; default: several sizes that ranks divide unevenly";
    record.add_ranges("ranks", command.ranks, "rank counts, such as 1..16,64")
        .between(1, most_ranks);
    declare_json(record, command.json);
    return record;
}

Effects effects_of(ProveCommand& command) {
    return effects_of(command.request);
}

/// The proof results of one algorithm.
struct Tally {
    int schedules = 0, failed = 0;
    int first_ranks = 0, last_ranks = 0;
    std::int64_t messages = 0;
    int most_messages = 0, depth = 0;
    std::string first_error;

    void add(int ranks, const Proof& proof, const std::string& where) {
        ++schedules;
        first_ranks = first_ranks == 0 ? ranks : std::min(first_ranks, ranks);
        last_ranks = std::max(last_ranks, ranks);
        messages += proof.messages;
        most_messages = std::max(most_messages, proof.most_messages);
        depth = std::max(depth, proof.depth);
        if (proof.holds())
            return;
        ++failed;
        if (first_error.empty())
            first_error = fmt::format("{}: {}", where, proof.error);
    }
};

using Tallies = std::map<std::string, Tally>;

/// The cost of scanning one value per rank, in operator applications, for the native form of a
/// circuit.
struct CircuitRow {
    std::string_view algorithm;
    std::string name;
    scan::Form form;
    int ranks = 1;
    Circuit circuit;
    Elements deficiency = 0;
};

/// Returns the numbers of ranks to show: only the smallest and the largest if there are more than
/// three.
std::vector<int> ranks_of_table(const std::vector<int>& ranks) {
    return ranks.size() <= 3 ? ranks : std::vector{ranks.front(), ranks.back()};
}

std::vector<CircuitRow> circuit_rows(const ProveCommand& command) {
    std::vector<CircuitRow> rows;
    if (command.request.family != "scan")
        return rows;
    const std::string& wanted = command.request.algorithm;
    for (const scan::Algorithm& algorithm : scan::catalogue()) {
        if (!wanted.empty() && wanted != algorithm.name)
            continue;
        for (const scan::Tuning& tuning : algorithm.tunings()) {
            for (const int ranks : ranks_of_table(command.ranks)) {
                const scan::Form form = scan::forms_of(algorithm).front();
                const Circuit read = circuit(sextant::make_schedule(ranks, [&](int rank) {
                    return scan::program(algorithm, {ranks, 1, form}, tuning, rank);
                }));
                const int inputs = form == scan::Form::inclusive ? ranks : ranks - 1;
                rows.push_back({algorithm.name, scan::to_text(algorithm, tuning), form, ranks, read,
                                inputs > 0 ? read.deficiency(inputs) : 0});
            }
        }
    }
    return rows;
}

/// Returns the cases to prove: pieces of unequal size, more ranks than elements, and collection on
/// the first and on the last rank.
std::vector<ScheduleRequest> requests_for(const ProveCommand& command, int ranks) {
    ScheduleRequest request = command.request;
    request.ranks = ranks;
    std::vector<ScheduleRequest> requests;
    const auto with = [&](Elements elements, int root) {
        request.elements = elements;
        request.root = root;
        requests.push_back(request);
    };
    if (is_file(command.request))
        return {command.request};
    if (command.request.elements > 0) {
        with(command.request.elements, compositing::Task::distributed);
        return requests;
    }
    if (request.family == "scan") { // values are scanned independently, so a few suffice
        with(1, compositing::Task::distributed);
        with(3, compositing::Task::distributed);
        return requests;
    }
    with(2 * ranks + 3, compositing::Task::distributed);
    with(std::max(1, ranks / 2), compositing::Task::distributed);
    if (request.family == "compositing") {
        with(ranks + 1, 0);
        with(ranks + 1, ranks - 1);
    }
    return requests;
}

/// Notes that a schedule in a file has no claim. Throws InvalidFile if its proof would take too
/// much time or memory.
void check_file(const std::string& path, const NamedSchedule& made) {
    constexpr double most = 1 << 24;
    double elements = 0;
    for (const Program& program : made.schedule()) {
        for (const BufferSpec& buffer : program.buffers)
            elements += static_cast<double>(buffer.size);
        for (const Region& region : program.regions)
            elements += static_cast<double>(region.elements());
    }
    if (elements > most)
        throw InvalidFile(path, fmt::format("the buffers and steps have {:.0f} elements in total, "
                                            "expected at most {:.0f} for a proof",
                                            elements, most));
    if (!made.kind)
        print_note(fmt::format("{} has no claim: the proof does not check which operands are "
                               "combined",
                               path));
}

/// A schedule to prove.
struct Case {
    ScheduleRequest request;
    Configuration configuration;
};

/// The schedules to prove for one number of ranks.
std::vector<Case> cases_for(const ProveCommand& command, int ranks) {
    std::vector<Case> cases;
    const std::vector<ScheduleRequest> requests = requests_for(command, ranks);
    const std::vector<Configuration> configurations = configurations_of(requests.front());
    for (const ScheduleRequest& request : requests) {
        for (const Configuration& configuration : configurations)
            cases.push_back({request, configuration});
    }
    return cases;
}

/// States how much there is to prove for one number of ranks, and how to prove less.
void print_size(const ProveCommand& command, std::int64_t schedules) {
    constexpr std::int64_t many = 300;
    if (schedules <= many || command.ranks.size() > 1)
        return;
    print_note(fmt::format("{} schedules are to be proved at {} ranks: each algorithm with each of "
                           "its parameters (radix-k with every vector of factors) at {} sizes; "
                           "--algorithm, --radices and --elements select among them",
                           report::grouped(schedules), command.ranks.front(),
                           requests_for(command, command.ranks.front()).size()));
}

Tallies prove_all(const ProveCommand& command) {
    Tallies tallies;
    std::mutex mutex;
    std::vector<int> ranks = is_file(command.request) ? std::vector{1} : command.ranks;
    std::int64_t all = 0;
    for (const int each : ranks)
        all += std::ssize(cases_for(command, each));
    print_size(command, all);
    // The most ranks come first, to balance the load of the cores. Only the cases for one number of
    // ranks are in memory; the next one is last.
    std::vector<Case> cases;
    const auto take_next = [&]() -> std::optional<Case> {
        for (; cases.empty() && !ranks.empty(); ranks.pop_back()) {
            cases = cases_for(command, ranks.back());
            std::ranges::reverse(cases);
        }
        if (cases.empty())
            return std::nullopt;
        Case next = std::move(cases.back());
        cases.pop_back();
        return next;
    };
    std::int64_t done = 0;
    Progress progress(true);
    std::exception_ptr error;
    const auto work = [&] {
        std::unique_lock lock(mutex);
        try {
            progress.say("schedules proved:", done, all);
            for (auto next = take_next(); next && !error; next = take_next()) {
                lock.unlock();
                const auto& [request, configuration] = *next;
                const NamedSchedule made = configuration.make(request);
                if (is_file(request))
                    check_file(request.family, made);
                const Proof proof = prove(made.schedule(), made.claim);
                const std::string where =
                    is_file(request) ? request.family
                                     : fmt::format("{} at {} ranks, {} elements", made.title,
                                                   made.ranks(), request.elements);
                lock.lock();
                tallies[made.algorithm].add(made.ranks(), proof, where);
                progress.say("schedules proved:", ++done, all);
            }
        } catch (...) {
            if (!lock.owns_lock())
                lock.lock();
            error = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
            threads.emplace_back(work);
        work();
    }
    if (error)
        std::rethrow_exception(error);
    return tallies;
}

std::string text_of(const std::vector<CircuitRow>& rows) {
    if (rows.empty())
        return "";
    std::string text = fmt::format("\n{:<24}{:<12}{:>8}{:>8}{:>10}{:>12}\n", "circuit", "form",
                                   "ranks", "span", "work", "deficiency");
    for (const CircuitRow& row : rows) {
        text += fmt::format("{:<24}{:<12}{:>8}{:>8}{:>10}{:>12}\n", row.name, name(row.form),
                            row.ranks, row.circuit.span, row.circuit.work, row.deficiency);
    }
    return text +
           "span: applications on the longest chain; work: all applications; deficiency: span + "
           "work\nminus Snir's bound, 2 inputs - 2; the last input of an exclusive scan does not "
           "count\n";
}

std::string text_of(const Tallies& tallies) {
    std::string text = fmt::format("{:<26}{:>9}{:>11}{:>8}{:>16}{:>8}\n", "algorithm", "ranks",
                                   "schedules", "failed", "most messages", "depth");
    for (const auto& [name, tally] : tallies) {
        text += fmt::format("{:<26}{:>9}{:>11}{:>8}{:>16}{:>8}\n", name,
                            fmt::format("{}..{}", tally.first_ranks, tally.last_ranks),
                            tally.schedules, tally.failed, tally.most_messages, tally.depth);
        if (tally.failed > 0)
            text += fmt::format("  {}\n", tally.first_error);
    }
    return text +
           "ranks: the smallest and the largest number; schedules: each combination of "
           "parameters, number\nof ranks and size, proved with rendezvous, shuffled, eager and "
           "zero-copy delivery; most\nmessages: sent by one rank, including its piece for the "
           "root; depth: the longest chain of\ndependent combinations\n";
}

Json circuits_of(std::string_view algorithm, const std::vector<CircuitRow>& rows) {
    Json list = Json::array();
    for (const CircuitRow& row : rows) {
        if (row.algorithm != algorithm)
            continue;
        list.add({{"circuit", row.name},
                  {"form", name(row.form)},
                  {"ranks", row.ranks},
                  {"span", row.circuit.span},
                  {"work", row.circuit.work},
                  {"deficiency", row.deficiency}});
    }
    return list;
}

std::string to_json(const Tallies& tallies, const std::vector<CircuitRow>& rows) {
    Json proofs = Json::array();
    for (const auto& [name, tally] : tallies) {
        Json row = {{"algorithm", name},
                    {"first_ranks", tally.first_ranks},
                    {"last_ranks", tally.last_ranks},
                    {"schedules", tally.schedules},
                    {"failed", tally.failed},
                    {"messages", tally.messages},
                    {"most_messages", tally.most_messages},
                    {"depth", tally.depth},
                    {"error", tally.first_error}};
        if (!rows.empty())
            row.set("circuits", circuits_of(name, rows));
        proofs.add(row);
    }
    return sextant::to_json(results_of("prove").add_result("proofs", proofs));
}

/// Throws if nothing was proved: an empty table could be mistaken for a proof.
void require_some(const Tallies& tallies, const Call& call) {
    if (!tallies.empty())
        return;
    const auto& algorithm = compositing::find(call.options.find("algorithm")->text());
    throw InvalidTask(fmt::format("nothing to prove: {} requires {}, and --ranks {} contains none",
                                  algorithm.name, algorithm.takes,
                                  call.options.find("ranks")->text()));
}

int run_prove(const ProveCommand& command, const Call& call) {
    const Tallies tallies = prove_all(command);
    require_some(tallies, call);
    const std::vector<CircuitRow> rows = circuit_rows(command);
    write_reports({command.json, ""}, {}, to_json(tallies, rows), text_of(tallies) + text_of(rows),
                  "");
    const bool all_hold = std::all_of(tallies.begin(), tallies.end(),
                                      [](const auto& entry) { return entry.second.failed == 0; });
    return all_hold ? 0 : 1;
}

} // namespace

Operation prove_operation() {
    return declare_command<ProveCommand>(
        "prove", "prove that schedules are correct: every operand once, in order, no deadlock",
        "  sextant prove compositing --ranks 1..70\n"
        "  sextant prove --algorithm radix-k --radices 16,16 --ranks 256 --elements 512\n"
        "  sextant prove schedule.json",
        run_prove, RunOn::one_rank);
}

} // namespace sextant::command
