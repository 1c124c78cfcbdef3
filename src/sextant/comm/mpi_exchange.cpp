// SPDX-License-Identifier: BSD-3-Clause

#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi_exchange.hpp"

#include "sextant/comm/waiting.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <climits>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

namespace sextant {

void mpi_check(int code, const char* call) {
    if (code == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw CommunicationFailed(fmt::format("{}: {}", call, std::string_view(text, length)));
}

void mpi_finish(MPI_Request& request, const char* call, MpiCalls* calls, int patience) {
    constexpr int between_looks = 64;
    for (int idle = 0, done = 0;; ++idle) {
        mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
        if (done)
            return;
        if (idle >= patience) {
            WhileWaiting::call();
            sched_yield();
        }
        if (calls && idle % between_looks == between_looks - 1)
            calls->look();
    }
}

std::vector<int> mpi_ranks_in(MPI_Comm whole, MPI_Comm part) {
    int size = 0;
    mpi_check(MPI_Comm_size(part, &size), "MPI_Comm_size");
    std::vector<int> own(static_cast<std::size_t>(size)), of_whole(own.size());
    std::iota(own.begin(), own.end(), 0);
    MPI_Group here = MPI_GROUP_NULL, everyone = MPI_GROUP_NULL;
    MPI_Comm_group(part, &here);
    MPI_Comm_group(whole, &everyone);
    MPI_Group_translate_ranks(here, size, own.data(), everyone, of_whole.data());
    MPI_Group_free(&here);
    MPI_Group_free(&everyone);
    return of_whole;
}

bool mpi_finalized() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    return finalized != 0;
}

namespace {

/// A type of `length` contiguous bytes. If the length exceeds the range of int, the type consists
/// of whole chunks and a remainder.
MPI_Datatype contiguous_type(Bytes length) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (length <= INT_MAX) {
        mpi_check(MPI_Type_contiguous(static_cast<int>(length), MPI_BYTE, &type),
                  "MPI_Type_contiguous");
        return type;
    }
    const int whole = static_cast<int>(length / mpi_chunk),
              rest = static_cast<int>(length % mpi_chunk);
    MPI_Datatype one = MPI_DATATYPE_NULL;
    mpi_check(MPI_Type_contiguous(static_cast<int>(mpi_chunk), MPI_BYTE, &one),
              "MPI_Type_contiguous");
    int counts[] = {whole, rest};
    MPI_Aint places[] = {0, static_cast<MPI_Aint>(whole) * static_cast<MPI_Aint>(mpi_chunk)};
    MPI_Datatype types[] = {one, MPI_BYTE};
    mpi_check(MPI_Type_create_struct(2, counts, places, types, &type), "MPI_Type_create_struct");
    MPI_Type_free(&one);
    return type;
}

} // namespace

Datatype::Datatype(std::span<const Blocks> blocks) {
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Aint> places;
    const std::vector<int> counts(blocks.size(), 1);
    for (const Blocks& b : blocks) {
        MPI_Datatype run = contiguous_type(b.contiguous() ? b.bytes() : b.length), strided = run;
        if (!b.contiguous()) {
            mpi_check(
                MPI_Type_create_hvector(static_cast<int>(b.count), 1, b.stride, run, &strided),
                "MPI_Type_create_hvector");
            MPI_Type_free(&run);
        }
        types.push_back(strided);
        places.push_back(b.base - blocks[0].base);
    }
    mpi_check(MPI_Type_create_struct(static_cast<int>(types.size()), counts.data(), places.data(),
                                     types.data(), &type_),
              "MPI_Type_create_struct");
    for (MPI_Datatype& type : types)
        MPI_Type_free(&type);
    mpi_check(MPI_Type_commit(&type_), "MPI_Type_commit");
}

namespace {

/// Messages as MPI requests. Open requests are stored contiguously, so that one MPI_Testsome tests
/// all of them and no others.
class MpiExchange : public Exchange {
  public:
    MpiExchange(MPI_Comm comm, const MpiConditions& conditions, std::vector<Message> messages)
        : comm_(comm),
          patience_(conditions.patience()),
          most_tag_(conditions.most_tag),
          has_strays_(conditions.has_strays),
          calls_(conditions.calls),
          messages_(messages.size()) {
        std::size_t most_requests = 0;
        for (std::size_t m = 0; m < messages.size(); ++m) {
            check_tag(messages[m].tag, messages[m].peer);
            receives_ = receives_ || !messages[m].sends;
            messages_[m].message = std::move(messages[m]);
            prepare(messages_[m]);
            most_requests += static_cast<std::size_t>(messages_[m].chunks);
        }
        requests_.reserve(most_requests);
        message_of_.reserve(most_requests);
        indices_.resize(most_requests);
        statuses_.resize(most_requests);
    }

    /// Cancels pending receives, because their memory may be freed next.
    ~MpiExchange() override {
        if (!requests_.empty() && !mpi_finalized())
            withdraw();
    }

    bool lends(int) const override { return false; }

    void place(int m, const std::vector<Blocks>& blocks) override {
        Prepared& prepared = messages_[static_cast<std::size_t>(m)];
        const bool same_shape = std::equal(
            blocks.begin(), blocks.end(), prepared.message.blocks.begin(),
            [&](const Blocks& a, const Blocks& b) {
                return a.base - blocks[0].base == b.base - prepared.message.blocks[0].base;
            });
        prepared.message.blocks = blocks;
        if (!same_shape)
            prepare(prepared);
    }

    void address(int m, int peer, int tag) override {
        check_tag(tag, peer);
        Message& message = messages_[static_cast<std::size_t>(m)].message;
        message.peer = peer;
        message.tag = tag;
    }

    /// A rank that only sends may never wait, so it checks for failures here.
    void begin() override {
        calls_->begin_exchange();
        if (!receives_ && !messages_.empty())
            calls_->look();
    }
    void end() override { calls_->end(); }

    void abandon() override {
        if (has_strays_)
            *has_strays_ = true;
        withdraw();
    }

    void leave() override { abandon(); }

    /// Cancels pending receives and detaches pending sends, which MPI cannot cancel.
    void withdraw() {
        compact(); // a failed poll may have completed some requests
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (messages_[static_cast<std::size_t>(message_of_[i])].message.sends) {
                MPI_Request_free(&requests_[i]);
                if (has_strays_)
                    *has_strays_ = true;
            } else {
                MPI_Cancel(&requests_[i]);
                MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
            }
        }
        requests_.clear();
        message_of_.clear();
    }

    void start(int m) override {
        Prepared& prepared = messages_[static_cast<std::size_t>(m)];
        prepared.open = prepared.chunks;
        prepared.came = 0;
        std::byte* const base = prepared.message.blocks[0].base;
        if (prepared.type.get() != MPI_DATATYPE_NULL)
            return post(m, base, 1, prepared.type.get());
        if (prepared.chunks == 1) {
            return post(m, base, static_cast<int>(prepared.bytes), MPI_BYTE);
        }
        for (Bytes done = 0; done < prepared.bytes; done += mpi_chunk) {
            post(m, base + done, static_cast<int>(std::min(mpi_chunk, prepared.bytes - done)),
                 MPI_BYTE);
        }
    }

    /// The receiver expects every chunk of its buffer, so chunks without data are sent empty.
    void start_short(int m, Bytes bytes) override {
        Prepared& prepared = messages_[static_cast<std::size_t>(m)];
        prepared.open = prepared.chunks;
        std::byte* const base = prepared.message.blocks[0].base;
        for (int i = 0; i < prepared.chunks; ++i) {
            const Bytes done = std::min(bytes, i * mpi_chunk);
            post(m, base + done, static_cast<int>(std::min(mpi_chunk, bytes - done)), MPI_BYTE);
        }
    }

    void start_empty(int m) override {
        Prepared& prepared = messages_[static_cast<std::size_t>(m)];
        prepared.open = prepared.chunks;
        for (int i = 0; i < prepared.chunks; ++i) {
            post(m, prepared.message.blocks[0].base, 0, MPI_BYTE);
        }
    }

    ReceiveBuffer room(int) const override { return {}; }
    void start_delivered(int) override {}

    int poll(std::span<Completion> completions) override {
        if (requests_.empty())
            return 0;
        const int room = static_cast<int>(std::min(completions.size(), requests_.size()));
        // Test only as many requests as `completions` has room for, oldest first.
        int done = 0;
        const int code =
            MPI_Testsome(room, requests_.data(), &done, indices_.data(), statuses_.data());
        if (code == MPI_ERR_IN_STATUS)
            throw_error(done);
        mpi_check(code, "MPI_Testsome");
        if (done <= 0) {
            if (static_cast<std::size_t>(room) < requests_.size())
                rotate(room);
            return 0;
        }
        int finished = 0;
        for (int i = 0; i < done; ++i) {
            const auto index = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
            const int m = message_of_[index];
            Prepared& prepared = messages_[static_cast<std::size_t>(m)];
            if (!prepared.message.sends)
                prepared.came += arrived(statuses_[static_cast<std::size_t>(i)], prepared);
            if (--prepared.open > 0)
                continue;
            const Bytes bytes = prepared.message.sends ? prepared.bytes : prepared.came;
            completions[static_cast<std::size_t>(finished++)] = {m, bytes, {}};
        }
        compact();
        return finished;
    }

    void give_back(int) override {}
    void copy_loan(int) override {}

    void rest(int idle) override {
        constexpr int before_looks = 256, between_looks = 32;
        if (idle > patience_) {
            WhileWaiting::call();
            sched_yield();
        }
        if (idle >= before_looks && idle % between_looks == 0)
            calls_->look();
    }

  private:
    struct Prepared {
        Message message;
        Bytes bytes = 0;
        int chunks = 1;
        Datatype type; ///< null if contiguous
        int open = 0;  ///< chunks in transit
        Bytes came = 0;
    };

    /// Throws the first error among the completed requests. A message longer than its receive
    /// buffer was sent by a rank that is in a different call.
    void throw_error(int done) const {
        for (int i = 0; i < done; ++i) {
            const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
            int error = MPI_SUCCESS;
            if (status.MPI_ERROR != MPI_SUCCESS)
                MPI_Error_class(status.MPI_ERROR, &error);
            if (error == MPI_ERR_TRUNCATE)
                throw CommunicationFailed(
                    fmt::format("a message from rank {} is longer than expected: ranks run "
                                "different programs, or run programs in different orders",
                                status.MPI_SOURCE));
            mpi_check(status.MPI_ERROR, "MPI_Testsome");
        }
    }

    void check_tag(int tag, int peer) const {
        if (tag > most_tag_) {
            throw InvalidTask(fmt::format("message {} to rank {}: this MPI supports tags up to {}",
                                          tag, peer, most_tag_));
        }
    }

    static void prepare(Prepared& prepared) {
        const std::vector<Blocks>& blocks = prepared.message.blocks;
        prepared.bytes = prepared.message.bytes();
        prepared.chunks = 1;
        if (blocks.size() > 1 || !blocks[0].contiguous()) {
            prepared.type = Datatype(blocks);
        } else {
            prepared.chunks =
                static_cast<int>(std::max<Bytes>(1, (prepared.bytes + mpi_chunk - 1) / mpi_chunk));
        }
    }

    void post(int m, std::byte* base, int count, MPI_Datatype type) {
        const Message& message = messages_[static_cast<std::size_t>(m)].message;
        MPI_Request request = MPI_REQUEST_NULL;
        if (message.sends) {
            mpi_check(MPI_Isend(base, count, type, message.peer, message.tag, comm_, &request),
                      "MPI_Isend");
        } else {
            mpi_check(MPI_Irecv(base, count, type, message.peer, message.tag, comm_, &request),
                      "MPI_Irecv");
        }
        requests_.push_back(request);
        message_of_.push_back(m);
    }

    /// The number of bytes that a chunk received.
    static Bytes arrived(const MPI_Status& status, const Prepared& prepared) {
        const bool derived = prepared.type.get() != MPI_DATATYPE_NULL;
        int count = 0;
        MPI_Get_count(&status, derived ? prepared.type.get() : MPI_BYTE, &count);
        if (!derived)
            return count;
        return count == 0 ? 0 : prepared.bytes;
    }

    /// Removes completed requests, keeping the order.
    void compact() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (requests_[i] == MPI_REQUEST_NULL)
                continue;
            requests_[kept] = requests_[i];
            message_of_[kept++] = message_of_[i];
        }
        requests_.resize(kept);
        message_of_.resize(kept);
    }

    /// Moves the first requests to the end, so that the others are tested next time.
    void rotate(int by) {
        std::rotate(requests_.begin(), requests_.begin() + by, requests_.end());
        std::rotate(message_of_.begin(), message_of_.begin() + by, message_of_.end());
    }

    const MPI_Comm comm_;
    const int patience_; // empty polls before yielding
    const int most_tag_;
    bool* const has_strays_;
    const std::shared_ptr<MpiCalls> calls_;
    bool receives_ = false;
    std::vector<Prepared> messages_;
    std::vector<MPI_Request> requests_;
    std::vector<int> message_of_; // the message of each request
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
};

} // namespace

std::unique_ptr<Exchange> open_over_mpi(MPI_Comm comm, const MpiConditions& conditions,
                                        std::vector<Message> messages) {
    return std::make_unique<MpiExchange>(comm, conditions, std::move(messages));
}

} // namespace sextant

#endif
