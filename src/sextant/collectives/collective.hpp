// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/core/units.hpp"
#include "sextant/planner/planner.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant {

class Field;
class Record;

/// The arguments of a collective operation on one rank.
struct CollectiveTask {
    CollectiveKind kind = CollectiveKind::broadcast;
    /// This rank's element counts, each 0 or more. Broadcast, reduce, all-reduce and the scans: one
    /// number, the same on all ranks. Scatter: the number of elements that this rank receives.
    /// Reduce-scatter: the length of its block of the combined elements. Gather and all-gather: the
    /// number that it sends. All-to-all: the number that it sends to each rank, or a single number
    /// if these are equal.
    std::vector<Elements> counts;
    Bytes element_size = 1; ///< bytes per element, if elements are only moved
    /// Reductions and scans: combines elements (element_operator), in rank order unless the
    /// operator is declared commutative.
    std::optional<Operator> op = {};
};

/// Options of a collective operation. They must be the same on every rank.
struct CollectiveOptions {
    /// "auto": the algorithm that is predicted to be fastest or, if it is faster in a race on these
    /// ranks, "mpi" (not with Probing::off, nor with SEXTANT_PROBE=off in the environment); or the
    /// name of an algorithm (algorithms_of, or "mpi": the operation of MPI
    /// itself).
    std::string algorithm = "auto";
    int root = 0; ///< root rank of a broadcast, scatter, gather or reduce
    Association association = Association::in_order;
    /// Reductions and scans: use only algorithms that combine in the same order as a
    /// serial loop over the ranks, so that results are bit-identical on every machine.
    bool reproducible = false;
    /// Used with `auto`, on rank 0: the profile file for predictions, and the rule for probing a
    /// machine without a profile (CompositeOptions).
    std::string machine = {};
    planner::Probing probing = planner::Probing::kept;
    /// Used with `auto`, on rank 0: the time the operator takes to combine two elements, if the
    /// profile does not state it. If 0, the time is unknown and assumed to be 0.
    Seconds operator_seconds = 0;
};

/// Returns a record of the options (core/record.hpp).
Record record_of(CollectiveOptions& options);
/// Declares the kind of a collective operation.
Field& declare_kind(Record& record, CollectiveKind& kind);

/// An algorithm of a collective operation, and its tuning as text.
struct CollectiveConfiguration {
    std::string algorithm; ///< a name of algorithms_of(kind), or "mpi"
    std::string tuning;    ///< as text, such as "radices 4,2", or empty

    /// Returns the algorithm and its tuning, such as "radix-k, radices 4,2".
    std::string text() const { return tuning.empty() ? algorithm : algorithm + ", " + tuning; }
    bool operator==(const CollectiveConfiguration&) const = default;
};
using CollectivePlan = planner::Plan<CollectiveConfiguration>;

/// Compares the algorithms of an operation on ranks that need not be running, as rank 0 does for a
/// Collective with the algorithm "auto". MPI's own operation is listed without a time, because only
/// running ranks measure it.
/// Input     one count, which is the same on all ranks; `setting`: the machine, its links, the
///           nodes of the ranks, the link within a node, and the model.
/// Throws    InvalidTask; model::CannotExpress.
CollectivePlan plan_collective(const CollectiveTask& task, const CollectiveOptions& options,
                               int ranks, const planner::Setting& setting);

/// Returns the names of the algorithms for a collective operation that are schedules; with
/// `commutative`, also those that require a commutative operator.
std::vector<std::string_view> algorithms_of(CollectiveKind kind, bool commutative = false);

/// A collective operation on the ranks of a communicator. It is planned once, for the sizes of its
/// messages and the nodes of the ranks, and can be run any number of times. Corresponds to a
/// persistent collective operation of MPI.
class Collective {
  public:
    /// Plans the operation.
    /// Requires  valid counts and an existing root on every rank, an operator if elements are
    ///           combined, and an algorithm for this number of ranks; for "mpi", ranks that are MPI
    ///           processes, an operator that throws nothing (Operator::nothrow), and at most 2 GiB
    ///           per buffer; the same task and options on all ranks, except for the counts of
    ///           blocks.
    /// Throws    AgreedFailure on every rank if any rank fails, or if the task or options differ
    ///           between ranks; the message then names two ranks, the difference, and both values.
    /// Cost      an all-gather of the counts, and of a few numbers and strings; on rank 0 the
    ///           predictions (planner::choose). While an all-to-all with different counts is
    ///           planned, every rank holds p² numbers for p ranks. If "mpi" is a candidate and a
    ///           run is predicted to take at most 2 ms, about 20 ms of runs in temporary buffers.
    /// Collective.
    Collective(Communicator communicator, CollectiveTask task, CollectiveOptions options = {});

    /// Runs the operation.
    /// Input     `send`: send_count() elements; blocks for or from other ranks are contiguous, in
    ///           rank order. Must not change until run() returns.
    /// Output    `receive`: receive_count() elements, arranged as in `send`; must not overlap
    ///           `send`.
    /// Throws    InvalidTask if a buffer has another size, and then PeerFailed on ranks that wait
    ///           for this one; the next run may succeed, but with the algorithm "mpi" the object
    ///           has failed as by fail(). CommunicationFailed, and any exception of the operator.
    ///           After PeerFailed with "mpi", MPI may still access the buffers, though after the
    ///           first 100 ms this is unlikely.
    /// Cost      after the first run, nothing is allocated.
    /// Collective: all ranks must run the collective operations of a communicator in the same
    /// order.
    /// Deterministic, unless elements are combined by arrival.
    void run(std::span<const std::byte> send, std::span<std::byte> receive);

    template <class Element>
    void run(std::span<const Element> send, std::span<Element> receive) {
        static_assert(std::is_trivially_copyable_v<Element>);
        run(std::as_bytes(send), std::as_writable_bytes(receive));
    }

    /// Runs the operation with a receive buffer of this object, which is valid until the next run.
    template <class Element>
    std::span<const Element> run(std::span<const Element> send) {
        static_assert(std::is_trivially_copyable_v<Element>);
        const std::span<std::byte> receive = own_buffer();
        run(std::as_bytes(send), receive);
        return {reinterpret_cast<const Element*>(receive.data()), receive.size() / sizeof(Element)};
    }

    /// Ends the use of this object on all ranks, because this rank cannot continue. Other ranks
    /// that wait for this rank, now or in a later call, throw PeerFailed with this rank and `text`;
    /// so do this rank's later calls. Returns at once, and throws nothing. An exception that
    /// destroys the object has the same effect. Normal destruction does not notify other ranks, so
    /// a rank that stops earlier than others must call fail() first. Afterwards a new object may be
    /// made on the communicator, unless processes share memory (share_nodes.hpp). Not collective.
    void fail(const std::string& text);

    /// The numbers of elements that this rank sends and receives. If only the root has such a
    /// buffer, the number is 0 on other ranks. The root of a broadcast and rank 0 in an exclusive
    /// scan receive 0 elements.
    Elements send_count() const { return send_; }
    Elements receive_count() const { return receive_; }

    /// The plan and the reason for it. Only rank 0's plan has the alternatives.
    const CollectivePlan& plan() const { return plan_; }
    /// Warnings for the user about the plan; on rank 0.
    const std::vector<std::string>& warnings() const { return warnings_; }
    /// This rank's schedule; empty if the algorithm is "mpi".
    const Program& program() const;

  private:
    std::size_t choose(std::span<const Candidate> candidates, const CollectiveOptions& options);
    std::size_t predict(std::span<const Candidate> candidates, const CollectiveOptions& options,
                        const std::vector<int>& nodes, const planner::DefaultPlanner& usual);
    void race(planner::Probing probing);
    void bind(std::span<const std::byte> send, std::span<std::byte> receive);
    std::span<std::byte> own_buffer();

    Communicator communicator_;
    Operator operator_; // if elements are only moved, states only their size
    Elements send_ = 0, receive_ = 0;
    CollectivePlan plan_;
    std::vector<std::string> warnings_;
    std::optional<Execution> execution_;    // if the algorithm is a schedule
    std::shared_ptr<LibraryOperation> mpi_; // if the algorithm is "mpi"
    Memory received_;                       // receive buffer, if the caller provides none
};

/// Returns an operator that combines elements of a trivially copyable type by combine(left, right):
/// element_operator<double>("sum", std::plus()). `combine` must be associative, and
/// several threads may call it concurrently. If it is also commutative, declare this in the result
/// (Operator::commutative): more algorithms can then be used. If it is noexcept, as std::plus() is,
/// MPI's own operations can be used, and it must accept elements of zero bytes. A profile may state
/// the operator's cost under `name`. The characters of `name` must outlive the operator.
template <std::default_initializable Element, class Combine>
Operator element_operator(std::string_view name, Combine combine) {
    static_assert(std::is_trivially_copyable_v<Element>);
    Operator op;
    op.name = name;
    op.element = {"element", sizeof(Element)};
    op.exact_when_split = true;
    op.nothrow =
        std::is_nothrow_invocable_r_v<Element, const Combine&, const Element&, const Element&>;
    op.fold = [combine = std::move(combine)](std::span<const std::byte* const> sources,
                                             std::byte* to, Elements elements) {
        // Combines a few elements at a time in local arrays, because `to` may be one of the
        // sources.
        constexpr auto most = std::max<Elements>(1, 2048 / Elements{sizeof(Element)});
        std::array<Element, most> sum{}, next{};
        for (Elements first = 0; first < elements; first += most) {
            const auto count = static_cast<std::size_t>(std::min(most, elements - first));
            const std::size_t bytes = count * sizeof(Element);
            const auto offset = static_cast<std::size_t>(first) * sizeof(Element);
            std::memcpy(sum.data(), sources[0] + offset, bytes);
            for (const std::byte* source : sources.subspan(1)) {
                std::memcpy(next.data(), source + offset, bytes);
                for (std::size_t i = 0; i < count; ++i)
                    sum[i] = combine(std::as_const(sum[i]), std::as_const(next[i]));
            }
            std::memcpy(to + offset, sum.data(), bytes);
        }
    };
    return op;
}

} // namespace sextant
