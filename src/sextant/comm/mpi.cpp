// SPDX-License-Identifier: BSD-3-Clause
#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi.hpp"

#include "sextant/comm/cores.hpp"
#include "sextant/comm/mpi_call.hpp"
#include "sextant/comm/mpi_exchange.hpp"
#include "sextant/comm/mpi_window.hpp"
#include "sextant/comm/node_transport.hpp"
#include "sextant/core/error.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace sextant {

namespace {

void barrier(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi_check(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
    mpi_finish(request, "MPI_Ibarrier");
}

void all_gather(MPI_Comm comm, std::span<const std::byte> mine, std::span<std::byte> all) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int bytes = static_cast<int>(mine.size());
    mpi_check(
        MPI_Iallgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm, &request),
        "MPI_Iallgather");
    mpi_finish(request, "MPI_Iallgather");
}

/// Whether the ranks of this node have fewer cores than they are. Collective.
bool is_crowded(MPI_Comm comm) {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0, ranks = 0;
    MPI_Get_processor_name(name, &length);
    MPI_Comm_size(comm, &ranks);
    const Seat mine{std::hash<std::string_view>()({name, static_cast<std::size_t>(length)}),
                    Cores::available()};
    std::vector<Seat> all(static_cast<std::size_t>(ranks));
    all_gather(comm, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return is_crowded(mine.host, all);
}

/// Our own duplicate of a caller's communicator; lives as long as anyone uses it.
class Duplicate {
  public:
    explicit Duplicate(MPI_Comm original) {
        MPI_Request request = MPI_REQUEST_NULL;
        mpi_check(MPI_Comm_idup(original, &comm_, &request), "MPI_Comm_idup");
        mpi_finish(request, "MPI_Comm_idup");
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        crowded_ = is_crowded(comm_);
    }
    Duplicate(const Duplicate&) = delete;
    Duplicate& operator=(const Duplicate&) = delete;
    ~Duplicate() {
        if (!has_strays && !mpi_finalized())
            MPI_Comm_free(&comm_);
    }
    MPI_Comm get() const { return comm_; }
    /// Whether messages may still be under way: then it is never freed.
    bool has_strays = false;
    bool crowded() const { return crowded_; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    bool crowded_ = false;
};

class MpiTransport : public Transport {
  public:
    explicit MpiTransport(std::shared_ptr<Duplicate> duplicate) : duplicate_(std::move(duplicate)) {
        mpi_check(MPI_Comm_rank(comm(), &rank_), "MPI_Comm_rank");
        mpi_check(MPI_Comm_size(comm(), &size_), "MPI_Comm_size");
        int found = 0;
        int* bound = nullptr;
        MPI_Comm_get_attr(comm(), MPI_TAG_UB, &bound, &found);
        if (found)
            most_tag_ = *bound;
    }

    MPI_Comm comm() const { return duplicate_->get(); }
    int most_tag() const { return most_tag_; }
    int rank() const override { return rank_; }
    int size() const override { return size_; }
    bool shares_memory() const override { return false; }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override;

    std::vector<Segment> shared_segments(Bytes size) override {
        return segments_by_window(comm(), size);
    }

    void barrier() override { sextant::barrier(comm()); }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        if (mine.size() * static_cast<std::size_t>(size_) != all.size())
            throw std::logic_error("all_gather: sizes differ");
        sextant::all_gather(comm(), mine, all);
    }

    std::shared_ptr<Transport> split(int color, int key) override {
        barrier(); // there is no split that does not block: at least enter it together
        MPI_Comm part = MPI_COMM_NULL;
        mpi_check(MPI_Comm_split(comm(), color < 0 ? MPI_UNDEFINED : color, key, &part),
                  "MPI_Comm_split");
        if (part == MPI_COMM_NULL)
            return nullptr;
        auto transport = std::make_shared<MpiTransport>(std::make_shared<Duplicate>(part));
        MPI_Comm_free(&part);
        return transport;
    }

  private:
    std::shared_ptr<Duplicate> duplicate_;
    int rank_ = 0, size_ = 0, most_tag_ = 32767;
};

std::unique_ptr<Exchange> MpiTransport::open(std::vector<Message> messages) {
    return open_over_mpi(comm(), {duplicate_->crowded(), most_tag_, &duplicate_->has_strays},
                         std::move(messages));
}

int free_duplicate(MPI_Comm, int, void* attribute, void*) {
    delete static_cast<std::shared_ptr<MpiTransport>*>(attribute);
    return MPI_SUCCESS;
}

/// Under which a caller's communicator keeps our transport. Not copied when it is duplicated.
int attribute_key() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        mpi_check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_duplicate, &made, nullptr),
                  "MPI_Comm_create_keyval");
        return made;
    }();
    return key;
}

} // namespace

Communicator from_mpi(MPI_Comm communicator) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (!initialized)
        throw CommunicationFailed("from_mpi: MPI is not initialised");
    if (communicator == MPI_COMM_NULL)
        throw InvalidTask("from_mpi: the communicator is MPI_COMM_NULL, expected a group of ranks");
    int joins_two_groups = 0;
    mpi_check(MPI_Comm_test_inter(communicator, &joins_two_groups), "MPI_Comm_test_inter");
    if (joins_two_groups != 0) {
        throw InvalidTask("from_mpi: the communicator is an intercommunicator, expected one group "
                          "of ranks (MPI_Intercomm_merge makes one of both)");
    }
    void* attribute = nullptr;
    int found = 0;
    mpi_check(MPI_Comm_get_attr(communicator, attribute_key(), &attribute, &found),
              "MPI_Comm_get_attr");
    if (!found) {
        auto kept = std::make_unique<std::shared_ptr<MpiTransport>>(
            std::make_shared<MpiTransport>(std::make_shared<Duplicate>(communicator)));
        mpi_check(MPI_Comm_set_attr(communicator, attribute_key(), kept.get()),
                  "MPI_Comm_set_attr");
        attribute = kept.release();
    }
    return Communicator(*static_cast<std::shared_ptr<MpiTransport>*>(attribute));
}

MPI_Comm to_mpi(const Communicator& communicator) {
    if (const auto* node = dynamic_cast<const NodeTransport*>(&communicator.transport()))
        return to_mpi(node->messages());
    const auto* transport = dynamic_cast<const MpiTransport*>(&communicator.transport());
    return transport ? transport->comm() : MPI_COMM_NULL;
}

} // namespace sextant
#endif
