// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/bench_collective.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/collective/catalogue.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/lab/bench_cases.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/lab/mpi_baselines.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {

namespace {

/// An implementation, ready to run.
struct Contestant {
    CollectiveResult result;
    bool keeps = false; ///< true if this rank's result is its input
    std::function<void()> run;
    std::function<std::span<const std::byte>()> received;
};

std::byte byte_of_image(Elements place) {
    return static_cast<std::byte>(static_cast<std::uint32_t>(place) * 2654435761u >> 24);
}

/// Returns an operator on bytes without a fold, for collectives that only copy.
Operator bytes() {
    Operator op;
    op.element = {"byte", 1};
    return op;
}

/// Returns the program with a contiguous result, as MPI would return it. A program whose result is
/// already contiguous or empty is returned unchanged.
Program delivered(Program program) {
    const bool lies_ready = program.result.contiguous() || program.result.empty();
    return lies_ready ? program : with_packed_result(std::move(program));
}

bool keeps_input(const Program& program) {
    return !program.result.empty() &&
           program.buffers[static_cast<std::size_t>(program.result.buffer)].role == Role::input;
}

/// All contestants at one size, on one rank.
class Field {
  public:
    Field(const Communicator& communicator, const CollectiveCase& what, Bytes size)
        : communicator_(communicator),
          what_(what),
          size_(size),
          grid_(grid_of(what, size, communicator.size())),
          given_(pixels_of(collective::pixels_before(what.what, grid_, communicator.rank()))) {
        for (const CollectiveBaseline& row : mpi_collectives(communicator)) {
            if (row.what == what.what && row.takes(grid_))
                add(row);
        }
        for (const collective::Algorithm& row : collective::catalogue()) {
            const auto& wanted = what.algorithms;
            const bool requested =
                wanted.empty() || std::find(wanted.begin(), wanted.end(), row.name) != wanted.end();
            if (row.what == what.what && requested)
                add(row);
        }
        predict();
    }

    std::vector<Contestant>& contestants() { return contestants_; }

    /// Makes the data new, so that no rank has them in its caches from the last repetition.
    void renew() { write_anew(given_.bytes()); }

    /// Compares the data received by each contestant with the expected result. Collective.
    void check() {
        const Memory wanted =
            pixels_of(collective::pixels_after(what_.what, grid_, communicator_.rank()));
        for (Contestant& contestant : contestants_) {
            contestant.run();
            agree(communicator_, [&] { check(contestant, wanted); });
        }
    }

  private:
    static Memory pixels_of(const Region& part) {
        Memory memory(part.elements());
        for (Elements e = 0; e < part.elements(); ++e)
            memory.data()[e] = byte_of_image(part.at(e));
        return memory;
    }

    void add(const CollectiveBaseline& row) {
        const std::shared_ptr<PreparedCall> prepared = row.prepare(communicator_, grid_);
        const bool deals =
            what_.what == CollectiveKind::scatter || what_.what == CollectiveKind::broadcast;
        Contestant contestant;
        contestant.result.name = row.name;
        contestant.result.baseline = true;
        contestant.keeps = deals && communicator_.rank() == 0;
        contestant.run = [this, prepared] { prepared->run(std::as_const(given_).bytes()); };
        contestant.received = [prepared] { return prepared->result(); };
        contestants_.push_back(std::move(contestant));
    }

    void add(const collective::Algorithm& row) {
        Program program = row.program(grid_, communicator_.rank());
        const bool has_input =
            !program.buffers.empty() && program.buffers.front().role == Role::input;
        Contestant contestant;
        contestant.result.name = row.name;
        contestant.keeps = keeps_input(program);
        if (!contestant.keeps)
            program = delivered(std::move(program));
        const auto execution =
            std::make_shared<Execution>(communicator_, std::move(program), bytes());
        if (has_input)
            execution->bind(0, std::as_const(given_).bytes());
        contestant.run = [execution] { execution->run(); };
        contestant.received = [execution] { return execution->result(); };
        contestants_.push_back(std::move(contestant));
    }

    /// Predicts the times on rank 0, which prints them. Collective.
    void predict() {
        const std::vector<int> nodes = nodes_of(communicator_);
        const auto planner =
            calibrate::planner_here(communicator_, nodes, "", planner::Probing::now).planner;
        agree(communicator_, [&] {
            if (communicator_.rank() > 0)
                return;
            const bool threads = communicator_.shares_memory();
            const planner::Setting setting{.machine = planner->machine(),
                                           .element_size = 1,
                                           .nodes = nodes,
                                           .within_node = threads ? machine::Link::same_process
                                                                  : machine::Link::same_node};
            for (Contestant& contestant : contestants_) {
                if (!contestant.result.baseline)
                    contestant.result.predicted = predicted_seconds(
                        candidate_of(collective::find(contestant.result.name)), setting);
            }
        });
    }

    Candidate candidate_of(const collective::Algorithm& row) const {
        return {std::string(row.name),
                "",
                grid_.ranks(),
                [&row, grid = grid_](int rank) { return row.program(grid, rank); },
                {0}};
    }

    void check(const Contestant& contestant, const Memory& wanted) const {
        if (contestant.keeps)
            return;
        const auto received = contestant.received();
        if (!std::equal(received.begin(), received.end(), wanted.bytes().begin(),
                        wanted.bytes().end())) {
            throw std::logic_error(
                fmt::format("{} in case '{}', {} bytes: rank {} of {} received wrong data",
                            contestant.result.name, what_.name, size_, communicator_.rank(),
                            communicator_.size()));
        }
    }

    const Communicator& communicator_;
    const CollectiveCase& what_;
    const Bytes size_;
    const Grid grid_;
    Memory given_;
    std::vector<Contestant> contestants_;
};

ResultsOfSize bench_size(const Communicator& communicator, const CollectiveCase& what, Bytes size,
                         const ContestOptions& options) {
    Field field(communicator, what, size);
    field.check();
    ContestOptions with_new_data = options;
    with_new_data.before = [&field] { field.renew(); };
    const std::vector<Score> scores = contest_of(communicator, field.contestants(), with_new_data);
    ResultsOfSize of_size{size, {}};
    for (std::size_t i = 0; i < scores.size(); ++i) {
        CollectiveResult result = std::move(field.contestants()[i].result);
        result.set(scores[i], scores.front());
        of_size.results.push_back(std::move(result));
    }
    return of_size;
}

} // namespace

CollectiveResults bench_collective(const Communicator& communicator, const CollectiveCase& what,
                                   const ContestOptions& options) {
    // Rank 0 of a scatter waits for no other rank. Without a barrier before each repetition, rank 0
    // would run ahead, and the benchmark would only measure how fast messages are queued.
    ContestOptions apart = options;
    apart.barriers = true;
    apart.most_repeats = std::min(options.most_repeats, 200);
    CollectiveResults results{what, communicator.size(), {}};
    for (const Bytes size : what.sizes)
        results.sizes.push_back(bench_size(communicator, what, size, apart));
    return results;
}

namespace {

bool deals_tiles(CollectiveKind what) {
    return what != CollectiveKind::broadcast && what != CollectiveKind::all_to_all;
}

std::string usual_name(const CollectiveCase& what) {
    return fmt::format("{}{}", name(what.what), what.tiles ? " of tiles" : "");
}

/// Checks a case before any measurement; sets its default name. Throws InvalidTask.
void complete(CollectiveCase& what) {
    if (what.sizes.empty())
        throw InvalidTask("sizes is empty");
    if (what.tiles && !deals_tiles(what.what)) {
        throw InvalidTask(fmt::format(
            "{} does not support tiles: expected scatter, gather or all-gather", name(what.what)));
    }
    for (const std::string& wanted : what.algorithms) {
        const CollectiveKind does = collective::find(wanted).what;
        if (does != what.what) {
            throw InvalidTask(fmt::format("{} is an algorithm for {}, expected one for {}", wanted,
                                          name(does), name(what.what)));
        }
    }
    if (what.name.empty())
        what.name = usual_name(what);
}

/// Returns the rectangle of this many pixels that is closest to a square.
Tile rectangle(Elements pixels) {
    Elements width = 0;
    for (Elements divisor = 1; divisor * divisor <= pixels; ++divisor) {
        if (pixels % divisor == 0)
            width = divisor;
    }
    return {0, 0, width, width > 0 ? pixels / width : 0};
}

} // namespace

Record record_of(CollectiveCase& what) {
    constexpr double largest = 1 << 28;
    std::vector<Named<CollectiveKind>> names;
    for (const CollectiveKind each : data_movements)
        names.push_back({name(each), each});
    Record record;
    record.add("name", what.name, "NAME", "name of the case");
    record.add("collective", what.what, names, "NAME", "operation");
    record.add("tiles", what.tiles, "use tiles of an image instead of contiguous blocks");
    record.add("sizes", what.sizes, "BYTES", "size of a block in bytes").between(0, largest);
    record.add("algorithms", what.algorithms, "NAME", "algorithms to time; default: all");
    return record;
}

std::vector<CollectiveCase> read_collective_cases(const std::string& path) {
    return read_cases<CollectiveCase>(path, complete);
}

std::vector<CollectiveCase> usual_collective_cases() {
    std::vector<CollectiveCase> cases;
    for (const bool tiles : {false, true}) {
        for (const CollectiveKind each : data_movements) {
            if (tiles && !deals_tiles(each))
                continue;
            CollectiveCase& made = cases.emplace_back();
            made.what = each;
            made.tiles = tiles;
            made.name = usual_name(made);
        }
    }
    return cases;
}

Grid grid_of(const CollectiveCase& what, Bytes size, int ranks) {
    if (what.what == CollectiveKind::broadcast)
        return near_square(ranks, size, 1);
    if (what.what == CollectiveKind::all_to_all)
        return near_square(ranks, size * ranks, ranks);
    Grid grid = near_square(ranks, 0, 0);
    const Tile each = what.tiles ? rectangle(size) : Tile{0, 0, size, 1};
    grid.width = grid.columns * each.width;
    grid.height = grid.rows * each.height;
    return grid;
}

namespace {

/// Returns the result of a contestant; null if it was not measured at this size.
const CollectiveResult* find(const ResultsOfSize& of_size, const std::string& name) {
    const auto found =
        std::find_if(of_size.results.begin(), of_size.results.end(),
                     [&](const CollectiveResult& result) { return result.name == name; });
    return found == of_size.results.end() ? nullptr : &*found;
}

std::vector<std::string> contestants(const CollectiveResults& results) {
    std::vector<std::string> names;
    for (const ResultsOfSize& of_size : results.sizes) {
        for (const CollectiveResult& result : of_size.results) {
            if (std::find(names.begin(), names.end(), result.name) == names.end())
                names.push_back(result.name);
        }
    }
    return names;
}

std::string table_of(const CollectiveResults& results, const std::string& name,
                     const std::string& reference) {
    std::string text = fmt::format("# {}\n# {:<10} {:>12} {:>24}{}\n", name, "Size", "Median(us)",
                                   "95 %", name == reference ? "" : "   of " + reference);
    for (const ResultsOfSize& of_size : results.sizes) {
        const CollectiveResult* result = find(of_size, name);
        if (!result)
            continue;
        text += fmt::format("{:<12} {:>12.2f} {:>24}", of_size.size, result->wall.median * 1e6,
                            interval_text(result->wall, 1e6, 2));
        if (name != reference)
            text += "   " + to_text(result->ratio, 1, 3);
        text += "\n";
    }
    return text;
}

} // namespace

std::string to_text(const CollectiveResults& results, const std::string& transport, int rounds) {
    std::string text =
        fmt::format("# {}, {} ranks over {}; bytes {}; medians of {} rounds\n", results.what.name,
                    results.ranks, transport,
                    results.what.what == CollectiveKind::broadcast    ? "in total"
                    : results.what.what == CollectiveKind::all_to_all ? "per pair of ranks"
                                                                      : "per rank",
                    rounds);
    const std::vector<std::string> names = contestants(results);
    for (const std::string& name : names)
        text += table_of(results, name, names.front());
    return text;
}

nlohmann::ordered_json to_json(const CollectiveResults& results) {
    nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
    for (const ResultsOfSize& of_size : results.sizes) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const CollectiveResult& result : of_size.results) {
            list.push_back(to_json(result));
            list.back()["baseline"] = result.baseline;
        }
        sizes.push_back({{"size", of_size.size}, {"results", list}});
    }
    return {{"name", results.what.name},
            {"collective", name(results.what.what)},
            {"tiles", results.what.tiles},
            {"sizes", sizes}};
}

std::vector<TimedConfiguration> configurations_of(const CollectiveResults& results) {
    std::vector<TimedConfiguration> configurations;
    for (const ResultsOfSize& of_size : results.sizes) {
        for (const CollectiveResult& result : of_size.results)
            configurations.push_back(
                {fmt::format("{}, {}", results.what.name,
                             report::bytes_to_text(static_cast<double>(of_size.size))),
                 fmt::format("{}: {}", results.what.name, result.name), result.predicted,
                 result.wall, static_cast<double>(of_size.size)});
    }
    return configurations;
}

report::Section section_of(const CollectiveResults& results) {
    report::Section section{results.what.name, ""};
    for (const ResultsOfSize& of_size : results.sizes) {
        report::Alternatives configurations{"",
                                            fmt::format("{} on {} ranks; the slowest rank's time",
                                                        report::counted(of_size.size, "byte"),
                                                        results.ranks),
                                            {}};
        for (const CollectiveResult& result : of_size.results)
            configurations.all.push_back(alternative_of(result));
        sort_by_time(configurations);
        section.html += alternatives_section(configurations).html;
    }
    return section;
}

} // namespace sextant::lab
