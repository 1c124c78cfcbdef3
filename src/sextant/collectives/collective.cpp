// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collectives/collective.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/collective/all_to_all.hpp"
#include "sextant/collective/tiles.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/text.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/planner/race.hpp"
#include "sextant/scan/catalogue.hpp"
#include "sextant/schedule/builder.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

namespace {

using enum CollectiveKind;

/// True if ranks may have different numbers of elements.
bool has_blocks(CollectiveKind kind) {
    return kind == scatter || kind == gather || kind == all_gather || kind == reduce_scatter;
}

/// True if the algorithm combines in the same order as a serial loop over the ranks.
bool is_serial(std::string_view algorithm) {
    return algorithm == "direct-send" || algorithm == "shift-based" || algorithm == "serial" ||
           algorithm == "direct-reduce-scatter";
}

Operator operator_of(const CollectiveTask& task) {
    if (combines(task.kind) && task.op)
        return *task.op;
    Operator moved;
    moved.element = {"element", task.element_size};
    return moved;
}

/// The name of MPI's own operation.
constexpr const char* mpi_name = "mpi";

constexpr Elements most_elements = Elements{1} << 40; ///< maximum number of elements per block

/// Returns a record of the options that must be equal on all ranks.
Record record_of(CollectiveTask& task, std::string& op, CollectiveOptions& options) {
    Record record;
    declare_kind(record, task.kind);
    record.add("op", op, "NAME", "the operator that combines elements");
    record.add("element_size", task.element_size, "BYTES", "size of an element")
        .between(1, most_count);
    record.include(sextant::record_of(options));
    return record;
}

/// Checks the values that are the same on all ranks. Throws InvalidTask.
void check(const CollectiveTask& task, const CollectiveOptions& options, int ranks) {
    const auto require = [](bool fine, const std::string& what) {
        if (!fine)
            throw InvalidTask(what);
    };
    require(!combines(task.kind) || task.op,
            fmt::format("{} combines elements: expected an operator", name(task.kind)));
    require(options.root >= 0 && options.root < ranks,
            fmt::format("root {}: expected 0 to {}", options.root, ranks - 1));
    require(!options.reproducible || options.association == Association::in_order,
            "reproducible requires the association in-order, not by-arrival");
    const bool commutative = task.op && task.op->commutative;
    std::vector<std::string_view> names = algorithms_of(task.kind, commutative);
    names.emplace_back(mpi_name);
    const std::string& wanted = options.algorithm;
    for (const collective::Algorithm& row : collective::reductions()) {
        require(commutative || !row.commutative || row.what != task.kind || row.name != wanted,
                fmt::format("{} requires an operator that is declared commutative", wanted));
    }
    require(wanted == "auto" || std::find(names.begin(), names.end(), wanted) != names.end(),
            unknown_name(fmt::format("{} algorithm", name(task.kind)), wanted, names));
    require(!options.reproducible || !combines(task.kind) || wanted == "auto" || is_serial(wanted),
            fmt::format("{} does not combine elements in the order of a serial loop, as the option "
                        "reproducible requires; {}",
                        wanted,
                        task.kind == scan || task.kind == exclusive_scan ? "use serial"
                        : task.kind == reduce_scatter ? "use direct-reduce-scatter"
                                                      : "use direct-send or shift-based"));
}

/// A summary of a rank's counts. Every rank checks the summaries of all ranks.
struct Declaration {
    std::int64_t numbers = 0; ///< number of counts
    Elements least = 0, most = 0;
};

/// Every rank runs this check on the same data, so that either all ranks throw or none.
void check(CollectiveKind kind, const std::vector<Declaration>& all) {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const Declaration &own = all[rank], &first = all[0];
        const auto ranks = static_cast<std::int64_t>(all.size());
        if (own.numbers != 1 && !(kind == all_to_all && own.numbers == ranks)) {
            throw InvalidTask(fmt::format("rank {} passes {} counts: expected 1{}", rank,
                                          own.numbers,
                                          kind == all_to_all ? fmt::format(" or {}", ranks) : ""));
        }
        for (const Elements count : {own.least, own.most}) {
            if (count < 0 || count > most_elements) {
                throw InvalidTask(fmt::format("rank {} passes count {}: expected 0 to {}", rank,
                                              count, most_elements));
            }
        }
        if (!has_blocks(kind) && kind != all_to_all && own.most != first.most) {
            throw InvalidTask(fmt::format("counts differ: rank 0 passes {}, rank {} passes {}",
                                          first.most, rank, own.most));
        }
    }
}

/// The counts of all ranks.
struct Counts {
    bool equal = true; ///< true if all counts are equal
    /// One count per rank; in an all-to-all with different counts, one per pair of ranks.
    std::vector<Elements> by_rank;

    Elements of(int rank) const { return by_rank[static_cast<std::size_t>(rank)]; }
    Elements total() const { return std::accumulate(by_rank.begin(), by_rank.end(), Elements{0}); }
};

/// Gathers the counts of all ranks. Collective.
Counts gather_counts(const Communicator& communicator, const CollectiveTask& task) {
    const auto [least, most] = std::minmax_element(task.counts.begin(), task.counts.end());
    Declaration own{static_cast<std::int64_t>(task.counts.size())};
    if (own.numbers > 0)
        own = {own.numbers, *least, *most};
    const std::vector<Declaration> all = communicator.all_gather(own);
    agree(communicator, [&] { check(task.kind, all); });
    Counts counts;
    for (const Declaration& each : all) {
        counts.equal = counts.equal && each.least == all[0].least && each.most == all[0].least;
        counts.by_rank.push_back(each.least);
    }
    if (task.kind != all_to_all || counts.equal)
        return counts;
    std::vector<Elements> row = task.counts;
    const auto ranks = static_cast<std::size_t>(communicator.size());
    row.resize(ranks, row.front());
    counts.by_rank.resize(ranks * ranks);
    communicator.all_gather(std::as_bytes(std::span(row)),
                            std::as_writable_bytes(std::span(counts.by_rank)));
    return counts;
}

/// The operation on all ranks. Each rank's program is derived from it.
struct Operation {
    CollectiveKind kind;
    int ranks, root; ///< `root` is 0 for kinds without a root
    Counts counts;
    /// Numbers of the ranks, with the root and rank 0 swapped, because algorithms expect rank 0 as
    /// the root. This permutation is its own inverse.
    std::vector<int> numbers;
    collective::Partition data;
    compositing::Task images; ///< for reductions, each rank's elements as an image
    bool commutative = false; ///< true if the operator is
};

/// Returns the partition of the elements. Equal blocks are represented as tiles of an image, which
/// needs less memory than a list of blocks.
collective::Partition partition(const Operation& operation) {
    const Counts& counts = operation.counts;
    const int ranks = operation.ranks;
    const CollectiveKind kind = operation.kind;
    const Elements count = counts.of(0);
    Grid grid = near_square(ranks, count, 1);
    if (kind == broadcast || (combines(kind) && kind != reduce_scatter))
        return grid;
    if (kind == all_to_all) {
        return counts.equal ? collective::Partition(near_square(ranks, count * ranks, ranks))
                            : collective::Partition::pairs(ranks, counts.by_rank);
    }
    if (counts.equal && operation.root == 0) {
        grid.width = count * grid.columns;
        grid.height = grid.rows;
        return grid;
    }
    std::vector<Elements> in_order(counts.by_rank.size()), lengths, firsts;
    std::exclusive_scan(counts.by_rank.begin(), counts.by_rank.end(), in_order.begin(),
                        Elements{0});
    for (const int rank : operation.numbers) {
        lengths.push_back(counts.of(rank));
        firsts.push_back(in_order[static_cast<std::size_t>(rank)]);
    }
    return collective::Partition::blocks(std::move(lengths), std::move(firsts));
}

Operation operation_of(const CollectiveTask& task, int ranks, int root, Counts counts) {
    Operation made{task.kind, ranks, has_root(task.kind) ? root : 0, std::move(counts), {},
                   Grid{},    {}};
    made.commutative = task.op && task.op->commutative;
    made.numbers = collective::all_ranks(ranks);
    std::swap(made.numbers[0], made.numbers[static_cast<std::size_t>(made.root)]);
    made.data = partition(made);
    made.images = compositing::one_image_each(
        ranks, made.counts.of(0), task.kind == reduce ? made.root : compositing::Task::distributed);
    return made;
}

struct Sizes {
    Elements send = 0, receive = 0;
};

Sizes sizes_of(const Operation& operation, int rank) {
    const Counts& counts = operation.counts;
    const bool at_root = rank == operation.root;
    const Elements own = counts.of(rank);
    switch (operation.kind) {
    case broadcast:
        return {at_root ? own : 0, at_root ? 0 : own};
    case scatter:
        return {at_root ? counts.total() : 0, own};
    case gather:
        return {own, at_root ? counts.total() : 0};
    case all_gather:
        return {own, counts.total()};
    case all_to_all: {
        if (counts.equal)
            return {own * operation.ranks, own * operation.ranks};
        Sizes sizes;
        for (int other = 0; other < operation.ranks; ++other) {
            sizes.send += operation.data.between(rank, other);
            sizes.receive += operation.data.between(other, rank);
        }
        return sizes;
    }
    case reduce_scatter:
        return {counts.total(), own};
    case reduce:
        return {own, at_root ? own : 0};
    case exclusive_scan:
        return {own, rank > 0 ? own : 0};
    default:
        return {own, own};
    }
}

/// Returns the program with its result in an output buffer of exactly the result's size. The caller
/// provides this buffer.
Program with_receive_buffer(Program program) {
    const Region& result = program.result;
    if (result.empty())
        return program;
    BufferSpec& buffer = program.buffers[static_cast<std::size_t>(result.buffer)];
    const bool whole = result == block(result.buffer, 0, buffer.size);
    if (!whole || buffer.role == Role::input)
        return with_packed_result(std::move(program));
    buffer.role = Role::output;
    return program;
}

Program data_program(const Operation& operation, const collective::Algorithm& algorithm, int rank) {
    const std::vector<int>& numbers = operation.numbers;
    Program program = with_peers(
        algorithm.program(operation.data, numbers[static_cast<std::size_t>(rank)]), numbers);
    if (operation.kind == broadcast && rank == operation.root)
        program.result = {}; // the result is already in the send buffer
    return program;
}

/// Returns the program of a reduction that leaves a piece of the result on each rank, followed by
/// an all-gather of the pieces.
Program all_reduce_program(const Operation& operation,
                           const compositing::Configuration& configuration,
                           const collective::Algorithm& gathering, int rank) {
    const compositing::Task& task = operation.images;
    std::vector<Elements> lengths, firsts;
    for (int each = 0; each < operation.ranks; ++each) {
        const auto piece =
            compositing::piece(*configuration.algorithm, task, configuration.tuning, each);
        lengths.push_back(piece.count);
        firsts.push_back(piece.first);
    }
    const Program reduction =
        compositing::program(*configuration.algorithm, task, configuration.tuning, rank);
    ProgramBuilder builder;
    builder.window(reduction.window);
    const Region own = builder.run(reduction, {builder.input(task.elements)});
    builder.round(operation.ranks); // after all rounds of the reduction
    return builder.finish(
        builder.run(gathering.program(
                        collective::Partition::blocks(std::move(lengths), std::move(firsts)), rank),
                    {own, builder.output(task.elements)}));
}

using Operations = std::shared_ptr<const Operation>;

/// Adds the rows of a catalogue that support the operation.
void add_candidates(std::vector<Candidate>& all, const Operations& operation,
                    std::span<const collective::Algorithm> catalogue) {
    for (const collective::Algorithm& row : catalogue) {
        if (row.what != operation->kind || (row.commutative && !operation->commutative))
            continue;
        all.push_back({std::string(row.name),
                       "",
                       operation->ranks,
                       [operation, &row](int rank) { return data_program(*operation, row, rank); },
                       {operation->root}});
    }
}

std::vector<Candidate> reduction_candidates(const Operations& operation) {
    std::vector<Candidate> all;
    for (const compositing::Configuration& configuration :
         compositing::configurations(operation->images)) {
        const Candidate candidate = compositing::candidate(operation->images, configuration);
        if (operation->kind == reduce) {
            all.push_back(candidate);
            continue;
        }
        for (const char* name : {"ring-all-gather", "direct-all-gather"}) {
            const collective::Algorithm& gathering = collective::find(name);
            Candidate& both = all.emplace_back(candidate);
            both.tuning += fmt::format("{}{}", both.tuning.empty() ? "" : ", ", name);
            both.program = [operation, configuration, &gathering](int rank) {
                return all_reduce_program(*operation, configuration, gathering, rank);
            };
        }
    }
    return all;
}

std::vector<Candidate> scan_candidates(const Operations& operation) {
    const scan::Task task{operation->ranks, operation->counts.of(0),
                          operation->kind == scan ? scan::Form::inclusive : scan::Form::exclusive};
    std::vector<Candidate> all;
    for (const scan::Algorithm& row : scan::catalogue()) {
        const std::vector<scan::Tuning> tunings = row.tunings();
        for (const scan::Tuning& tuning : tunings) {
            all.push_back(
                {std::string(row.name),
                 tunings.size() > 1 ? fmt::format("k = {}", tuning.k) : "",
                 operation->ranks,
                 [task, tuning, &row](int rank) { return scan::program(row, task, tuning, rank); },
                 {operation->ranks / 2, operation->ranks - 1}});
        }
    }
    return all;
}

/// Returns all configurations that match the options, the same on every rank.
/// Throws    InvalidTask if no configuration matches.
std::vector<Candidate> candidates_for(const Operations& operation,
                                      const CollectiveOptions& options) {
    const CollectiveKind kind = operation->kind;
    if (options.algorithm == mpi_name)
        return {};
    std::vector<Candidate> all =
        kind == reduce || kind == all_reduce     ? reduction_candidates(operation)
        : kind == scan || kind == exclusive_scan ? scan_candidates(operation)
                                                 : std::vector<Candidate>{};
    add_candidates(all, operation, collective::catalogue());
    add_candidates(all, operation, collective::reductions());
    const bool serial = options.reproducible && combines(kind);
    std::erase_if(all, [&](const Candidate& candidate) {
        return (options.algorithm != "auto" && candidate.algorithm != options.algorithm) ||
               (serial && !is_serial(candidate.algorithm));
    });
    if (all.empty()) {
        throw InvalidTask(fmt::format("{} does not support {} ranks, expected {}",
                                      options.algorithm, operation->ranks,
                                      compositing::find(options.algorithm).takes));
    }
    for (Candidate& candidate : all) {
        candidate.program = [operation, program = std::move(candidate.program)](int rank) {
            return with_receive_buffer(program(rank));
        };
    }
    return all;
}

/// True if MPI's own operation is a candidate, provided that the ranks are MPI processes.
bool may_use_mpi(const CollectiveTask& task, const CollectiveOptions& options, int ranks) {
    return (options.algorithm == mpi_name || (options.algorithm == "auto" && ranks > 1)) &&
           (!combines(task.kind) || (task.op->nothrow && !options.reproducible));
}

LibraryTask library_task(const Operation& operation, const Operator& op, int rank) {
    LibraryTask task{
        operation.kind, operation.root, operation.counts.equal, operation.counts.by_rank, {}, op};
    if (operation.kind == all_to_all && !task.equal) {
        task.blocks.clear();
        for (int other = 0; other < operation.ranks; ++other) {
            task.blocks.push_back(operation.data.between(rank, other));
            task.from.push_back(operation.data.between(other, rank));
        }
    } else if (!has_blocks(operation.kind) && operation.kind != all_to_all) {
        task.blocks.resize(1);
    }
    return task;
}

/// Returns the profile, with the operator's time added if the profile lacks it.
machine::Profile with_operator(machine::Profile profile, const Operator& op, Seconds seconds) {
    const std::string element(channels(op.element));
    if (seconds > 0 && !profile.find_operator(op.name, element)) {
        machine::Work& work = profile.operators.emplace_back();
        work.name = op.name;
        work.element = element;
        work.seconds_per_element = machine::exactly(seconds);
    }
    return profile;
}

/// The result of comparing candidates.
struct Compared {
    CollectivePlan plan;
    std::size_t chosen = 0; ///< index of the chosen candidate
};

Compared compare(std::span<const Candidate> candidates, const Operator& op,
                 const CollectiveOptions& options, const planner::Setting& setting) {
    std::vector<CollectiveConfiguration> configurations;
    for (const Candidate& candidate : candidates)
        configurations.push_back({candidate.algorithm, candidate.tuning});
    const machine::Profile profile = with_operator(setting.machine, op, options.operator_seconds);
    planner::Choice choice = planner::choose(
        candidates,
        {.machine = profile,
         .element_size = op.element.size,
         .operator_name = std::string(op.name),
         .element_name = std::string(channels(op.element)),
         .folds_at_once = options.association == Association::in_order && !op.exact_when_split,
         .nodes = setting.nodes,
         .wires = setting.wires,
         .within_node = setting.within_node,
         .model = setting.model});
    const std::size_t chosen = choice.chosen().candidate;
    return {
        planner::plan_of<CollectiveConfiguration>(std::move(choice), configurations, profile.name),
        chosen};
}

} // namespace

CollectivePlan plan_collective(const CollectiveTask& task, const CollectiveOptions& options,
                               int ranks, const planner::Setting& setting) {
    check(task, options, ranks);
    check(task.kind, {{std::ssize(task.counts), task.counts.front(), task.counts.front()}});
    Counts counts;
    counts.by_rank.assign(static_cast<std::size_t>(ranks), task.counts.front());
    const auto operation = std::make_shared<const Operation>(
        operation_of(task, ranks, options.root, std::move(counts)));
    if (options.algorithm == mpi_name)
        throw model::CannotExpress("mpi has no prediction: only running ranks measure it");
    CollectivePlan plan =
        compare(candidates_for(operation, options), operator_of(task), options, setting).plan;
    if (may_use_mpi(task, options, ranks) && setting.within_node != machine::Link::same_process)
        plan.alternatives.push_back({.configuration = {mpi_name, ""},
                                     .remark = "not predicted: ranks over MPI measure it"});
    return plan;
}

std::vector<std::string_view> algorithms_of(CollectiveKind kind, bool commutative) {
    std::vector<std::string_view> names;
    const auto add = [&](const auto& rows) {
        for (const auto& row : rows)
            names.push_back(row.name);
    };
    if (kind == reduce || kind == all_reduce)
        add(compositing::catalogue());
    else if (combines(kind) && kind != reduce_scatter)
        add(scan::catalogue());
    for (const auto rows : {collective::catalogue(), collective::reductions()}) {
        for (const collective::Algorithm& row : rows) {
            if (row.what == kind && (commutative || !row.commutative))
                names.push_back(row.name);
        }
    }
    return names;
}

Field& declare_kind(Record& record, CollectiveKind& kind) {
    std::vector<Named<CollectiveKind>> kinds;
    for (int each = 0; each <= static_cast<int>(exclusive_scan); ++each) {
        const auto one = static_cast<CollectiveKind>(each);
        kinds.push_back({name(one), one});
    }
    return record.add("kind", kind, std::move(kinds), "KIND", "the collective operation");
}

Record record_of(CollectiveOptions& options) {
    constexpr double longest = 1e6;
    Record record;
    record.add("algorithm", options.algorithm, "NAME",
               "name of an algorithm; auto: the one predicted or measured to be fastest");
    record.add("root", options.root, "RANK", "the rank that sends to or receives from all others")
        .between(0, std::numeric_limits<int>::max());
    record.add("association", options.association,
               {{"in-order", Association::in_order}, {"by-arrival", Association::by_arrival}},
               "HOW", "order in which operands are combined");
    record.add("reproducible", options.reproducible,
               "combine in the order of a serial loop over the ranks");
    planner::declare_planning(record, options.machine, options.probing);
    record
        .add("operator_seconds", options.operator_seconds, "SECONDS",
             "time in seconds to combine two elements, if the profile lacks it")
        .between(0, longest)
        .by_rank();
    return record;
}

Collective::Collective(Communicator communicator, CollectiveTask task, CollectiveOptions options)
    : communicator_(std::move(communicator)), operator_(operator_of(task)) {
    const int rank = communicator_.rank(), ranks = communicator_.size();
    std::string op(combines(task.kind) && task.op ? task.op->name : "none");
    if (combines(task.kind) && task.op && task.op->commutative)
        op += ", commutative";
    task.element_size = operator_.element.size;
    const Record record = record_of(task, op, options);
    communicator_ =
        scope_of(communicator_, fmt::format("Collective, {}", name(task.kind)), RunsOf::all_ranks);
    require_same(communicator_, record);
    agree(communicator_, [&] {
        record.check();
        check(task, options, ranks);
    });
    Counts counts = gather_counts(communicator_, task);
    std::vector<Candidate> candidates;
    agree(communicator_, [&] {
        const auto operation = std::make_shared<const Operation>(
            operation_of(task, ranks, options.root, std::move(counts)));
        const Sizes sizes = sizes_of(*operation, rank);
        send_ = sizes.send;
        receive_ = sizes.receive;
        candidates = candidates_for(operation, options);
        if (may_use_mpi(task, options, ranks))
            mpi_ = communicator_.handle()->library_operation(
                library_task(*operation, operator_, rank));
    });
    if (std::ranges::min(communicator_.all_gather(mpi_ ? 1 : 0)) == 0)
        mpi_ = nullptr; // some ranks cannot use MPI's own operation
    const bool requests_mpi = options.algorithm == mpi_name;
    const Candidate* const chosen =
        requests_mpi ? nullptr : &candidates[choose(candidates, options)];
    if (requests_mpi)
        plan_ = {.configuration = {mpi_name, ""}, .reason = "requested"};
    else
        plan_.configuration = {chosen->algorithm, chosen->tuning};
    agree(communicator_, [&] {
        if (requests_mpi && !mpi_)
            throw InvalidTask("mpi cannot run this operation: expected MPI processes, at most "
                              "2 GiB per buffer, and a noexcept operator; use another algorithm");
        if (chosen)
            execution_.emplace(communicator_, chosen->program(rank), operator_,
                               ExecuteOptions{.association = options.association});
    });
    if (mpi_ && execution_)
        race(options.probing);
}

/// Runs the chosen schedule and MPI's own operation in turn, and keeps the faster one; the schedule
/// if runs take too long for a race, or if nothing may be measured. Collective.
void Collective::race(planner::Probing probing) {
    constexpr Seconds budget = .02, most_predicted = budget / 10;
    const std::array<CollectiveConfiguration, 2> both = {plan_.configuration, {mpi_name, ""}};
    auto& all = plan_.alternatives; // empty except on rank 0
    const Seconds predicted =
        all.empty() ? 0 : plan_.expected().value_or(all.front().bound.value_or(0));
    Memory send, receive;
    const auto run_one = [&](int contestant) {
        Seconds took = 0;
        communicator_.barrier();
        timed(took, [&] {
            contestant == 0 ? execution_->run() : mpi_->run(send.data(), receive.data());
        });
        return took;
    };
    double turns = 0; // turns of both within the budget
    const bool may_measure =
        communicator_.all_gather(calibrate::may_measure(probing) ? 1 : 0).front() == 1;
    if (may_measure && communicator_.all_gather(predicted).front() <= most_predicted) {
        agree(communicator_, [&] {
            send = Memory(send_ * operator_.element.size);
            receive = Memory(receive_ * operator_.element.size);
            bind(send.bytes(), receive.bytes());
        });
        for (int i = 0; i < 2; ++i) { // the first turn is a warm-up
            Seconds turn = 0;
            timed(turn, [&] { run_one(0), run_one(1); });
            turns = budget / std::ranges::max(communicator_.all_gather(turn));
        }
    }
    if (!all.empty())
        all.push_back({.configuration = both[1],
                       .remark = !may_measure ? "not measured: probing is off"
                                 : turns < 2  ? "not measured: runs take too long"
                                              : "measured"});
    int winner = 0;
    if (turns >= 2) {
        planner::Race race(2, static_cast<int>(std::min(turns - 1, 0. + race.most_rounds)));
        while (!race.over())
            race.finish(run_one(race.next()));
        const auto outcome = race.judge(communicator_.all_gather(race.times()));
        plan_ = planner::after_race(std::move(plan_), both, outcome, "runs");
        winner = outcome.winner;
    }
    if (winner == 0)
        mpi_ = nullptr;
    else
        execution_.reset();
}

/// Returns the index of the chosen candidate. Rank 0 predicts and broadcasts. Collective.
std::size_t Collective::choose(std::span<const Candidate> candidates,
                               const CollectiveOptions& options) {
    const std::size_t all = candidates.size() + (mpi_ ? 1 : 0);
    if (options.algorithm != "auto" || all < 2 || communicator_.size() < 2) {
        plan_.reason = options.algorithm != "auto" ? "requested"
                       : communicator_.size() < 2
                           ? "nothing to choose: there is only one rank"
                           : "nothing to choose: there is only one algorithm";
        return 0;
    }
    const std::vector<int> nodes = nodes_of(communicator_);
    const planner::DefaultPlanner usual =
        calibrate::planner_here(communicator_, nodes, options.machine, options.probing);
    std::size_t chosen = 0;
    agree(communicator_, [&] {
        if (communicator_.rank() == 0)
            chosen = predict(candidates, options, nodes, usual);
    });
    plan_.reason = all_gather_texts(communicator_, plan_.reason).front();
    return communicator_.all_gather(chosen).front();
}

/// Predicts with the planner's default profile or, if this profile cannot describe the operation,
/// with a built-in profile and a warning.
std::size_t Collective::predict(std::span<const Candidate> candidates,
                                const CollectiveOptions& options, const std::vector<int>& nodes,
                                const planner::DefaultPlanner& usual) {
    const auto choose_on = [&](const machine::Profile& machine) {
        Compared compared =
            compare(candidates, operator_, options,
                    {.machine = machine,
                     .nodes = nodes,
                     .within_node = reads_all(communicator_, nodes) ? machine::Link::same_process
                                                                    : machine::Link::same_node});
        plan_ = std::move(compared.plan);
        return compared.chosen;
    };
    warnings_ = usual.warnings;
    try {
        return choose_on(usual.planner->machine());
    } catch (const model::CannotExpress& why) {
        warnings_.push_back(
            fmt::format("{}; planned with a built-in machine profile instead", why.what()));
        return choose_on(machine::built_in());
    }
}

void Collective::bind(std::span<const std::byte> send, std::span<std::byte> receive) {
    const auto check = [&](const char* buffer, std::size_t given, Elements elements) {
        if (static_cast<Bytes>(given) != elements * operator_.element.size) {
            throw InvalidTask(fmt::format("rank {}: a {} buffer of {} bytes, expected {} ({} "
                                          "elements of {})",
                                          communicator_.rank(), buffer, given,
                                          elements * operator_.element.size, elements,
                                          operator_.element.size));
        }
    };
    check("send", send.size(), send_);
    check("receive", receive.size(), receive_);
    if (execution_ && send_ > 0)
        execution_->bind(0, send);
    if (execution_ && receive_ > 0)
        execution_->bind(execution_->program().result.buffer, receive);
}

void Collective::run(std::span<const std::byte> send, std::span<std::byte> receive) {
    try {
        bind(send, receive);
    } catch (const InvalidTask&) {
        if (execution_)
            execution_->run_failed(std::current_exception()); // throws, after notifying peers
        fail("a buffer has another size than planned");
        throw;
    }
    if (execution_)
        return execution_->run();
    try {
        mpi_->run(send.data(), receive.data());
    } catch (...) {
        static_cast<void>(new std::pair(mpi_, std::move(received_))); // MPI may still use them
        throw;
    }
}

const Program& Collective::program() const {
    static const Program none;
    return execution_ ? execution_->program() : none;
}

void Collective::fail(const std::string& text) {
    sextant::fail(communicator_, text);
}

std::span<std::byte> Collective::own_buffer() {
    const Bytes size = receive_ * operator_.element.size;
    if (received_.size() != size)
        received_ = Memory(size);
    return received_.bytes();
}

} // namespace sextant
