// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/bench_collective.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/collective/catalogue.hpp"
#include "sextant/comm/agree.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/comm/hosts.hpp"
#include "sextant/comm/mpi_collectives.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/operation/bench/bench_summary.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

/// One way, ready to run.
struct Contestant {
    CollectiveResult result;
    bool keeps = false; ///< this rank has what it wants from the start, and receives nothing
    std::function<void()> run;
    std::function<std::span<const std::byte>()> received;
};

std::byte byte_of_image(Elements place) {
    return static_cast<std::byte>(static_cast<std::uint32_t>(place) * 2654435761u >> 24);
}

/// Bytes that are moved and never folded.
Operator bytes() {
    Operator op;
    op.element = {"byte", 1};
    return op;
}

/// What a rank holds when it has finished, in one piece as MPI would leave it; what it had from the
/// start stays where it is.
Program delivered(Program program) {
    const bool lies_ready = program.result.contiguous() || program.result.empty();
    return lies_ready ? program : with_packed_result(std::move(program));
}

bool keeps_input(const Program& program) {
    return !program.result.empty() &&
           program.buffers[static_cast<std::size_t>(program.result.buffer)].role == Role::input;
}

/// All that run at one size on one rank.
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
            const bool asked =
                wanted.empty() || std::find(wanted.begin(), wanted.end(), row.name) != wanted.end();
            if (row.what == what.what && asked)
                add(row);
        }
        predict();
    }

    std::vector<Contestant>& contestants() { return contestants_; }

    /// Holds what each contestant's ranks received against what they want.
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
        const std::shared_ptr<PreparedCollective> prepared = row.prepare(communicator_, grid_);
        const bool deals = what_.what == Collective::scatter || what_.what == Collective::broadcast;
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

    /// At rank 0, which tells.
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
            throw std::logic_error(fmt::format("{} in case '{}', {} bytes: rank {} of {} received "
                                               "something else than it should",
                                               contestant.result.name, what_.name, size_,
                                               communicator_.rank(), communicator_.size()));
        }
    }

    const Communicator& communicator_;
    const CollectiveCase& what_;
    const Bytes size_;
    const Grid grid_;
    const Memory given_;
    std::vector<Contestant> contestants_;
};

ResultsOfSize bench_size(const Communicator& communicator, const CollectiveCase& what, Bytes size,
                         const ContestOptions& options) {
    Field field(communicator, what, size);
    field.check();
    std::vector<std::function<void()>> runs;
    for (const Contestant& contestant : field.contestants())
        runs.push_back(contestant.run);
    const std::vector<Score> scores = contest(communicator, runs, options);
    ResultsOfSize of_size{size, {}};
    for (std::size_t i = 0; i < scores.size(); ++i) {
        CollectiveResult result = std::move(field.contestants()[i].result);
        result.wall = estimate(scores[i].wall);
        result.cpu = estimate(scores[i].cpu);
        result.ratio = estimate_ratio(scores[i].wall, scores.front().wall);
        of_size.results.push_back(std::move(result));
    }
    return of_size;
}

} // namespace

CollectiveResults bench_collective(const Communicator& communicator, const CollectiveCase& what,
                                   const ContestOptions& options) {
    // Rank 0 of a scatter waits for nobody: repeated without barriers, it would be timed for how
    // fast it fills queues.
    ContestOptions apart = options;
    apart.barriers = true;
    apart.most_repeats = std::min(options.most_repeats, 200);
    CollectiveResults results{what, communicator.size(), {}};
    for (const Bytes size : what.sizes)
        results.sizes.push_back(bench_size(communicator, what, size, apart));
    return results;
}

} // namespace sextant::operation
