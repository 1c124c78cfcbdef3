// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/mpi_algorithms.hpp"

#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"

#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi.hpp"
#include "sextant/comm/mpi_exchange.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>

#include <mpi.h>
#endif

namespace sextant::lab {

void allow_mpi_algorithms() {
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
}

#ifdef SEXTANT_WITH_MPI

namespace {

/// A control variable of MPI (MPI_T cvar) with an integer value.
class ControlVariable {
  public:
    /// Returns the variable with this name; empty if MPI does not have one.
    static std::optional<ControlVariable> find(const std::string& name) {
        static const bool ready = [] {
            int given = 0;
            return MPI_T_init_thread(MPI_THREAD_SINGLE, &given) == MPI_SUCCESS;
        }();
        ControlVariable variable;
        int count = 0;
        if (!ready || MPI_T_cvar_get_index(name.c_str(), &variable.index_) != MPI_SUCCESS ||
            MPI_T_cvar_handle_alloc(variable.index_, nullptr, &variable.handle_, &count) !=
                MPI_SUCCESS)
            return std::nullopt;
        return variable;
    }

    int get() const {
        int value = 0;
        MPI_T_cvar_read(handle_, &value);
        return value;
    }
    void set(int value) {
        if (MPI_T_cvar_write(handle_, &value) != MPI_SUCCESS)
            throw InvalidTask("MPI does not allow tools to change its control variables for "
                              "collectives");
    }

    /// Returns the possible values in the order of MPI's enumeration; empty if the variable is not
    /// an enumeration.
    std::vector<MpiAlgorithm> values() const {
        const Information all = information();
        std::vector<MpiAlgorithm> values;
        if (all.values == MPI_T_ENUM_NULL)
            return values;
        int count = 0, length = longest;
        std::string name(longest, '\0');
        MPI_T_enum_get_info(all.values, &count, name.data(), &length);
        for (int i = 0; i < count; ++i) {
            MpiAlgorithm value;
            length = longest;
            MPI_T_enum_get_item(all.values, i, &value.number, name.data(), &length);
            value.name = name.c_str();
            values.push_back(value);
        }
        return values;
    }
    std::string description() const { return information().description; }

  private:
    static constexpr int longest = 4096;
    struct Information {
        std::string description;
        MPI_T_enum values = MPI_T_ENUM_NULL;
    };
    Information information() const {
        Information all;
        std::string name(longest, '\0'), description(longest, '\0');
        int name_length = longest, length = longest, verbosity = 0, binding = 0, scope = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_cvar_get_info(index_, name.data(), &name_length, &verbosity, &type, &all.values,
                            description.data(), &length, &binding, &scope);
        all.description = description.c_str();
        return all;
    }

    int index_ = 0;
    MPI_T_cvar_handle handle_ = MPI_T_CVAR_HANDLE_NULL;
};

bool is_mpich() {
    return mpi_of_build().starts_with("MPICH");
}

std::string variable_of_algorithm(const TunedOperation& operation) {
    if (!is_mpich())
        return fmt::format("coll_tuned_{}_algorithm", operation.name);
    std::string upper(operation.name);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return "MPIR_CVAR_" + upper + "_INTRA_ALGORITHM";
}

ControlVariable variable_or_throw(const TunedOperation& operation) {
    const std::string name = variable_of_algorithm(operation);
    if (auto variable = ControlVariable::find(name))
        return *variable;
    throw InvalidTask(fmt::format(
        "the algorithms of {} cannot be selected: {} has no variable {}{}", operation.call,
        mpi_of_build(), name, is_mpich() ? "" : "; is its component coll/tuned enabled?"));
}

/// Returns the algorithms of MPICH. MPICH lists them only in the description of a variable, in the
/// order of their numbers, as "name  - Force ...", without separators.
std::vector<MpiAlgorithm> listed_in(const std::string& description, std::string_view call) {
    static constexpr std::string_view known[] = {"binomial",
                                                 "nb",
                                                 "smp",
                                                 "scatter_recursive_doubling_allgather",
                                                 "scatter_ring_allgather",
                                                 "brucks",
                                                 "recursive_doubling",
                                                 "ring",
                                                 "pairwise",
                                                 "pairwise_sendrecv_replace",
                                                 "scattered",
                                                 "reduce_scatter_gather",
                                                 "reduce_scatter_allgather"};
    constexpr std::string_view mark = "- Force";
    std::vector<MpiAlgorithm> all;
    for (std::size_t at = description.find(mark); at != std::string::npos;
         at = description.find(mark, at + 1)) {
        const std::size_t end = description.find_last_not_of(' ', at - 1);
        const std::string before = description.substr(0, end + 1);
        std::string_view longest;
        for (const std::string_view name : known) {
            if (before.ends_with(name) && name.size() > longest.size())
                longest = name;
        }
        if (longest.empty())
            throw InvalidTask(fmt::format("the algorithms of {} cannot be selected: {} lists "
                                          "algorithms that sextant does not know",
                                          call, mpi_of_build()));
        all.push_back({std::string(longest), static_cast<int>(all.size()) + 1});
    }
    return all;
}

/// Returns true if this algorithm of Open MPI divides messages into segments.
bool divides(const TunedOperation& operation, const std::string& name) {
    static constexpr std::string_view broadcasts[] = {
        "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"};
    static constexpr std::string_view reductions[] = {"chain", "pipeline", "binary", "binomial",
                                                      "in-order_binary"};
    const auto in = [&](std::span<const std::string_view> names) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    return (operation.name == "bcast" && in(broadcasts)) ||
           (operation.name == "reduce" && in(reductions)) || name == "segmented_ring";
}

std::vector<MpiAlgorithm> open_mpi_algorithms(const TunedOperation& operation,
                                              const ControlVariable& variable) {
    const auto dynamic = ControlVariable::find("coll_tuned_use_dynamic_rules");
    if (!dynamic || dynamic->get() == 0)
        throw InvalidTask(fmt::format("the algorithms of {} cannot be selected: the parameter "
                                      "coll_tuned_use_dynamic_rules of Open MPI is 0, expected 1",
                                      operation.call));
    const auto fanout = ControlVariable::find(variable_of_algorithm(operation) + "_chain_fanout");
    std::vector<MpiAlgorithm> all;
    for (MpiAlgorithm algorithm : variable.values()) {
        if (algorithm.number == 0)
            continue;
        if (algorithm.name == "chain" && fanout)
            algorithm.fanout = fanout->get();
        all.push_back(algorithm);
        for (const Bytes segment : {Bytes{8} << 10, Bytes{64} << 10}) {
            algorithm.segment = segment;
            if (divides(operation, algorithm.name))
                all.push_back(algorithm);
        }
    }
    return all;
}

/// Throws InvalidTask unless the build's MPI is known to support the selection of algorithms.
void require_known_mpi(const TunedOperation& operation) {
    if (!is_mpich() && !mpi_of_build().starts_with("Open MPI"))
        throw InvalidTask(fmt::format("the algorithms of {} cannot be selected: sextant was built "
                                      "with {}, expected Open MPI or MPICH",
                                      operation.call, mpi_of_build()));
}

/// An affine map x -> a x + b on 32-bit numbers. Composing maps does not commute.
struct AffineMap {
    std::uint32_t a = 1, b = 0;

    /// Returns the composition: this map after `first`.
    AffineMap after(const AffineMap& first) const { return {a * first.a, a * first.b + b}; }
    bool operator==(const AffineMap&) const = default;
};

AffineMap map_of(int rank, std::size_t element) {
    const auto r = static_cast<std::uint32_t>(rank), e = static_cast<std::uint32_t>(element);
    return {2 * r + 3, 7 * r + e + 1};
}

void compose_maps(void* left, void* right, int* count, MPI_Datatype*) {
    const auto* const first = static_cast<const AffineMap*>(left);
    auto* const second = static_cast<AffineMap*>(right);
    for (int i = 0; i < *count; ++i)
        second[i] = second[i].after(first[i]);
}

} // namespace

std::vector<MpiAlgorithm> mpi_algorithms(const TunedOperation& operation) {
    require_known_mpi(operation);
    const ControlVariable variable = variable_or_throw(operation);
    std::vector<MpiAlgorithm> all = is_mpich() ? listed_in(variable.description(), operation.call)
                                               : open_mpi_algorithms(operation, variable);
    if (all.empty())
        throw InvalidTask(fmt::format("the algorithms of {} cannot be selected: {} lists none",
                                      operation.call, mpi_of_build()));
    return all;
}

struct MpiOperation::State {
    const TunedOperation& operation;
    MpiAlgorithm algorithm;
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, ranks = 1;
    std::optional<ControlVariable> at_each_call; ///< for MPICH, which reads it in every call

    void call(int count, MPI_Datatype type, MPI_Op op, const void* send, void* receive);
};

MpiOperation::MpiOperation(const Communicator& communicator, const TunedOperation& operation,
                           const MpiAlgorithm& algorithm)
    : state_(std::make_unique<State>(State{operation, algorithm, MPI_COMM_NULL, 0, 1, {}})) {
    State& state = *state_;
    state.rank = communicator.rank();
    state.ranks = communicator.size();
    std::optional<ControlVariable> variable, segment;
    if (algorithm.number > 0)
        variable = variable_or_throw(operation);
    if (is_mpich())
        state.at_each_call = std::exchange(variable, std::nullopt);
    if (variable && divides(operation, algorithm.name))
        segment = ControlVariable::find(variable_of_algorithm(operation) + "_segmentsize");
    // Open MPI reads its variables when a communicator is created.
    const int algorithm_before = variable ? variable->get() : 0;
    const int segment_before = segment ? segment->get() : 0;
    if (variable)
        variable->set(algorithm.number);
    if (segment)
        segment->set(static_cast<int>(algorithm.segment));
    const int made = MPI_Comm_dup(to_mpi(communicator), &state.comm);
    if (variable)
        variable->set(algorithm_before);
    if (segment)
        segment->set(segment_before);
    mpi_check(made, "MPI_Comm_dup");
    MPI_Comm_set_errhandler(state.comm, MPI_ERRORS_RETURN);
}

MpiOperation::MpiOperation(MpiOperation&&) noexcept = default;

MpiOperation::~MpiOperation() {
    if (state_ && state_->comm != MPI_COMM_NULL && !mpi_finalized())
        MPI_Comm_free(&state_->comm);
}

void MpiOperation::State::call(int count, MPI_Datatype type, MPI_Op op, const void* send,
                               void* receive) {
    if (at_each_call)
        at_each_call->set(algorithm.number);
    int code = MPI_SUCCESS;
    switch (operation.what) {
    case CollectiveKind::broadcast:
        code = MPI_Bcast(receive, count, type, 0, comm);
        break;
    case CollectiveKind::scatter:
        code = MPI_Scatter(send, count, type, receive, count, type, 0, comm);
        break;
    case CollectiveKind::gather:
        code = MPI_Gather(send, count, type, receive, count, type, 0, comm);
        break;
    case CollectiveKind::all_gather:
        code = MPI_Allgather(send, count, type, receive, count, type, comm);
        break;
    case CollectiveKind::all_to_all:
        code = MPI_Alltoall(send, count, type, receive, count, type, comm);
        break;
    case CollectiveKind::reduce:
        code = MPI_Reduce(send, receive, count, type, op, 0, comm);
        break;
    default:
        code = MPI_Allreduce(send, receive, count, type, op, comm);
        break;
    }
    if (at_each_call)
        at_each_call->set(0);
    mpi_check(code, operation.call.data());
}

void MpiOperation::run(Bytes size, std::span<const std::byte> send,
                       std::span<std::byte> receive) const {
    const bool combines = state_->operation.combines;
    const auto count = static_cast<int>(combines ? size / Bytes{sizeof(float)} : size);
    state_->call(count, combines ? MPI_FLOAT : MPI_BYTE, MPI_SUM, send.data(), receive.data());
}

bool MpiOperation::keeps_order(Bytes size) const {
    if (!state_->operation.combines)
        return true;
    const auto count =
        static_cast<std::size_t>(std::max<Bytes>(1, size / Bytes{sizeof(AffineMap)}));
    std::vector<AffineMap> own(count), all(count);
    for (std::size_t i = 0; i < count; ++i)
        own[i] = map_of(state_->rank, i);
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(compose_maps, 0, &op);
    state_->call(static_cast<int>(count), MPI_UINT64_T, op, own.data(), all.data());
    MPI_Op_free(&op);
    if (state_->rank > 0 && state_->operation.what == CollectiveKind::reduce)
        return true; // only the root has the result
    for (std::size_t i = 0; i < count; ++i) {
        AffineMap expected = map_of(0, i);
        for (int rank = 1; rank < state_->ranks; ++rank)
            expected = map_of(rank, i).after(expected);
        if (all[i] != expected)
            return false;
    }
    return true;
}

#else

std::vector<MpiAlgorithm> mpi_algorithms(const TunedOperation& operation) {
    throw InvalidTask(fmt::format("the algorithms of {} cannot be selected: sextant was built "
                                  "without MPI",
                                  operation.call));
}

struct MpiOperation::State {};
MpiOperation::MpiOperation(const Communicator&, const TunedOperation&, const MpiAlgorithm&) {}
MpiOperation::MpiOperation(MpiOperation&&) noexcept = default;
MpiOperation::~MpiOperation() = default;
void MpiOperation::run(Bytes, std::span<const std::byte>, std::span<std::byte>) const {}
bool MpiOperation::keeps_order(Bytes) const {
    return true;
}

#endif

} // namespace sextant::lab
