// SPDX-License-Identifier: BSD-3-Clause
#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <climits>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <sched.h>

namespace sextant {

namespace {

void check(int code, const char* call) {
    if (code == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw CommunicationFailed(fmt::format("{}: {}", call, std::string_view(text, length)));
}

/// Completes a request without blocking inside MPI, which may spin: lets others run meanwhile.
void finish(MPI_Request& request, const char* call) {
    constexpr int patience = 8;
    for (int idle = 0, done = 0;; ++idle) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
        if (done)
            return;
        if (idle >= patience)
            sched_yield();
    }
}

/// Bytes that do not lie in one piece, as MPI knows them: relative to the first.
class Datatype {
  public:
    Datatype() = default;
    explicit Datatype(const std::vector<Blocks>& blocks);
    Datatype(Datatype&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
    Datatype& operator=(Datatype&& other) noexcept {
        std::swap(type_, other.type_);
        return *this;
    }
    ~Datatype() {
        if (type_ != MPI_DATATYPE_NULL)
            MPI_Type_free(&type_);
    }
    MPI_Datatype get() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

constexpr Bytes chunk = Bytes{256} << 20; // what one call moves at most of a contiguous message

/// `length` contiguous bytes; more than an int can count as whole chunks and a rest.
MPI_Datatype contiguous_type(Bytes length) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (length <= INT_MAX) {
        check(MPI_Type_contiguous(static_cast<int>(length), MPI_BYTE, &type),
              "MPI_Type_contiguous");
        return type;
    }
    const int whole = static_cast<int>(length / chunk), rest = static_cast<int>(length % chunk);
    MPI_Datatype one = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(static_cast<int>(chunk), MPI_BYTE, &one), "MPI_Type_contiguous");
    int counts[] = {whole, rest};
    MPI_Aint places[] = {0, static_cast<MPI_Aint>(whole) * static_cast<MPI_Aint>(chunk)};
    MPI_Datatype types[] = {one, MPI_BYTE};
    check(MPI_Type_create_struct(2, counts, places, types, &type), "MPI_Type_create_struct");
    MPI_Type_free(&one);
    return type;
}

Datatype::Datatype(const std::vector<Blocks>& blocks) {
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Aint> places;
    const std::vector<int> counts(blocks.size(), 1);
    for (const Blocks& b : blocks) {
        MPI_Datatype run = contiguous_type(b.contiguous() ? b.bytes() : b.length), strided = run;
        if (!b.contiguous()) {
            check(MPI_Type_create_hvector(static_cast<int>(b.count), 1, b.stride, run, &strided),
                  "MPI_Type_create_hvector");
            MPI_Type_free(&run);
        }
        types.push_back(strided);
        places.push_back(b.base - blocks[0].base);
    }
    check(MPI_Type_create_struct(static_cast<int>(types.size()), counts.data(), places.data(),
                                 types.data(), &type_),
          "MPI_Type_create_struct");
    for (MPI_Datatype& type : types)
        MPI_Type_free(&type);
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
}

/// Whether this node has fewer cores than ranks of the communicator. Collective.
bool is_crowded(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
          "MPI_Comm_split_type");
    int ranks = 0;
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    return static_cast<unsigned>(ranks) > std::thread::hardware_concurrency();
}

/// Our own duplicate of a caller's communicator; lives as long as anyone uses it.
class Duplicate {
  public:
    explicit Duplicate(MPI_Comm original) {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Comm_idup(original, &comm_, &request), "MPI_Comm_idup");
        finish(request, "MPI_Comm_idup");
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        crowded_ = is_crowded(comm_);
    }
    Duplicate(const Duplicate&) = delete;
    Duplicate& operator=(const Duplicate&) = delete;
    ~Duplicate() {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (!finalized)
            MPI_Comm_free(&comm_);
    }
    MPI_Comm get() const { return comm_; }
    bool crowded() const { return crowded_; }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    bool crowded_ = false;
};

class MpiTransport : public Transport {
  public:
    explicit MpiTransport(std::shared_ptr<Duplicate> duplicate) : duplicate_(std::move(duplicate)) {
        check(MPI_Comm_rank(comm(), &rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(comm(), &size_), "MPI_Comm_size");
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

    void barrier() override {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Ibarrier(comm(), &request), "MPI_Ibarrier");
        finish(request, "MPI_Ibarrier");
    }

    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        if (mine.size() * static_cast<std::size_t>(size_) != all.size()) {
            throw std::logic_error("all_gather: sizes differ");
        }
        MPI_Request request = MPI_REQUEST_NULL;
        const int bytes = static_cast<int>(mine.size());
        check(MPI_Iallgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm(),
                             &request),
              "MPI_Iallgather");
        finish(request, "MPI_Iallgather");
    }

    std::shared_ptr<Transport> split(int color, int key) override {
        barrier(); // there is no split that does not block: at least enter it together
        MPI_Comm part = MPI_COMM_NULL;
        check(MPI_Comm_split(comm(), color < 0 ? MPI_UNDEFINED : color, key, &part),
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

/// Requests are kept dense, so that one MPI_Testsome sees them all and nothing else.
class MpiExchange : public Exchange {
  public:
    MpiExchange(MPI_Comm comm, bool crowded, int most_tag, std::vector<Message> messages)
        : comm_(comm), patience_(crowded ? 8 : 10000), messages_(messages.size()) {
        std::size_t most_requests = 0;
        for (std::size_t m = 0; m < messages.size(); ++m) {
            if (messages[m].tag > most_tag) {
                throw InvalidTask(fmt::format("message {} to rank {}: this MPI has tags up to {}",
                                              messages[m].tag, messages[m].peer, most_tag));
            }
            messages_[m].message = std::move(messages[m]);
            prepare(messages_[m]);
            most_requests += static_cast<std::size_t>(messages_[m].chunks);
        }
        requests_.reserve(most_requests);
        message_of_.reserve(most_requests);
        indices_.resize(most_requests);
        statuses_.resize(most_requests);
    }

    bool lends() const override { return false; }

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

    void begin() override {}
    void end() override {}

    void abandon() override {
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (messages_[static_cast<std::size_t>(message_of_[i])].message.sends) {
                MPI_Request_free(&requests_[i]);
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
        for (Bytes done = 0; done < prepared.bytes; done += chunk) {
            post(m, base + done, static_cast<int>(std::min(chunk, prepared.bytes - done)),
                 MPI_BYTE);
        }
    }

    void start_empty(int m) override {
        Prepared& prepared = messages_[static_cast<std::size_t>(m)];
        prepared.open = prepared.chunks;
        for (int i = 0; i < prepared.chunks; ++i) {
            post(m, prepared.message.blocks[0].base, 0, MPI_BYTE);
        }
    }

    int poll(std::span<Completion> completions) override {
        if (requests_.empty())
            return 0;
        const int room = static_cast<int>(std::min(completions.size(), requests_.size()));
        // Only as many requests as completions fit; the oldest come first.
        int done = 0;
        const int code =
            MPI_Testsome(room, requests_.data(), &done, indices_.data(), statuses_.data());
        if (code == MPI_ERR_IN_STATUS) {
            for (int i = 0; i < done; ++i)
                check(statuses_[static_cast<std::size_t>(i)].MPI_ERROR, "MPI_Testsome");
        }
        check(code, "MPI_Testsome");
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
        if (idle > patience_)
            sched_yield();
    }

  private:
    struct Prepared {
        Message message;
        Bytes bytes = 0;
        int chunks = 1;
        Datatype type; ///< unless in one piece
        int open = 0;  ///< chunks on their way
        Bytes came = 0;
    };

    static void prepare(Prepared& prepared) {
        const std::vector<Blocks>& blocks = prepared.message.blocks;
        prepared.bytes = prepared.message.bytes();
        prepared.chunks = 1;
        if (blocks.size() > 1 || !blocks[0].contiguous()) {
            prepared.type = Datatype(blocks);
        } else {
            prepared.chunks =
                static_cast<int>(std::max<Bytes>(1, (prepared.bytes + chunk - 1) / chunk));
        }
    }

    void post(int m, std::byte* base, int count, MPI_Datatype type) {
        const Message& message = messages_[static_cast<std::size_t>(m)].message;
        MPI_Request request = MPI_REQUEST_NULL;
        if (message.sends) {
            check(MPI_Isend(base, count, type, message.peer, message.tag, comm_, &request),
                  "MPI_Isend");
        } else {
            check(MPI_Irecv(base, count, type, message.peer, message.tag, comm_, &request),
                  "MPI_Irecv");
        }
        requests_.push_back(request);
        message_of_.push_back(m);
    }

    /// The bytes that a chunk brought.
    static Bytes arrived(const MPI_Status& status, const Prepared& prepared) {
        const bool derived = prepared.type.get() != MPI_DATATYPE_NULL;
        int count = 0;
        MPI_Get_count(&status, derived ? prepared.type.get() : MPI_BYTE, &count);
        if (!derived)
            return count;
        return count == 0 ? 0 : prepared.bytes;
    }

    /// Closes the gaps that finished requests left, keeping the order.
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

    /// Lets the others have a look next time.
    void rotate(int by) {
        std::rotate(requests_.begin(), requests_.begin() + by, requests_.end());
        std::rotate(message_of_.begin(), message_of_.begin() + by, message_of_.end());
    }

    const MPI_Comm comm_;
    const int patience_; // empty polls before others may run
    std::vector<Prepared> messages_;
    std::vector<MPI_Request> requests_;
    std::vector<int> message_of_; // by request
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
};

std::unique_ptr<Exchange> MpiTransport::open(std::vector<Message> messages) {
    return std::make_unique<MpiExchange>(comm(), duplicate_->crowded(), most_tag_,
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
        check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_duplicate, &made, nullptr),
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
    void* attribute = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(communicator, attribute_key(), &attribute, &found),
          "MPI_Comm_get_attr");
    if (!found) {
        auto kept = std::make_unique<std::shared_ptr<MpiTransport>>(
            std::make_shared<MpiTransport>(std::make_shared<Duplicate>(communicator)));
        check(MPI_Comm_set_attr(communicator, attribute_key(), kept.get()), "MPI_Comm_set_attr");
        attribute = kept.release();
    }
    return Communicator(*static_cast<std::shared_ptr<MpiTransport>*>(attribute));
}

} // namespace sextant
#endif
