// SPDX-License-Identifier: BSD-3-Clause
// Messages through the functions of an IceTCommunicator, which a program may provide itself. They
// cannot be polled, only waited for, so a rank waits when it has nothing else to do.
#include "table_transport.hpp"

#include "sextant/comm/node_sharing.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>

#include "context.hpp"

namespace sextant::icet {

namespace {

/// The IceTCommunicator of a transport, which it owns.
class Table {
  public:
    explicit Table(IceTCommunicator table) : table_(table) {}
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    ~Table() { table_->Destroy(table_); }

    IceTCommunicator operator->() const { return table_; }
    IceTCommunicator get() const { return table_; }

  private:
    IceTCommunicator table_;
};

/// The maximum number of bytes per call, because counts in calls are of type int.
constexpr Bytes most_at_once = Bytes{1} << 30;

class TableExchange : public Exchange {
  public:
    TableExchange(std::shared_ptr<Table> table, std::vector<Message> messages)
        : table_(std::move(table)), messages_(messages.size()) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            messages_[i].message = std::move(messages[i]);
            resize(messages_[i]);
        }
    }
    ~TableExchange() override {
        if (!open_.empty()) // the functions may still write to these buffers
            keep(std::move(messages_));
    }

    bool lends(int) const override { return false; }
    void place(int m, const std::vector<Blocks>& blocks) override {
        at(m).message.blocks = blocks;
        resize(at(m));
    }
    void address(int m, int peer, int tag) override {
        at(m).message.peer = peer;
        at(m).message.tag = tag;
    }
    void begin() override { done_.clear(); }
    void end() override {}
    void abandon() override {}
    void leave() override {}

    void start(int m) override { start_short(m, at(m).message.bytes()); }
    void start_short(int m, Bytes bytes) override {
        Prepared& prepared = at(m);
        if (prepared.message.sends) {
            std::memcpy(prepared.buffer.data(), &bytes, sizeof(bytes));
            gather(prepared, bytes);
            send(m, bytes);
        } else {
            receive(m);
        }
    }
    void start_empty(int m) override {
        const Bytes none = 0;
        std::memcpy(at(m).buffer.data(), &none, sizeof(none));
        send(m, 0);
    }
    ReceiveBuffer room(int) const override { return {}; }
    void start_delivered(int) override {}

    int poll(std::span<Completion> completions) override {
        int count = 0;
        while (!done_.empty() && count < static_cast<int>(completions.size())) {
            completions[static_cast<std::size_t>(count++)] = done_.front();
            done_.pop_front();
        }
        return count;
    }
    void give_back(int) override {}
    void copy_loan(int) override {}

    void rest(int idle) override {
        constexpr int patience = 2; // the caller may have found work after one idle call
        if (idle < patience || open_.empty())
            return;
        requests_.clear();
        for (const Open& open : open_)
            requests_.push_back(open.request);
        const int found = table_->get()->Waitany(table_->get(), static_cast<int>(requests_.size()),
                                                 requests_.data());
        if (found < 0 || found >= static_cast<int>(requests_.size()))
            throw CommunicationFailed(fmt::format(
                "Waitany of the communicator returned {} of {} requests", found, requests_.size()));
        const int m = open_[static_cast<std::size_t>(found)].message;
        open_.erase(open_.begin() + found);
        Prepared& prepared = at(m);
        if (--prepared.open > 0)
            return;
        Bytes bytes = 0;
        std::memcpy(&bytes, prepared.buffer.data(), sizeof(bytes));
        if (!prepared.message.sends)
            scatter(prepared, bytes);
        done_.push_back({m, bytes, {}});
    }

  private:
    struct Prepared {
        Message message;
        std::vector<std::byte> buffer; ///< the number of bytes, then the bytes
        int open = 0;                  ///< requests in progress
    };
    struct Open {
        int message;
        IceTCommRequest request;
    };

    Prepared& at(int m) { return messages_[static_cast<std::size_t>(m)]; }
    static void resize(Prepared& prepared) {
        prepared.buffer.resize(sizeof(Bytes) + static_cast<std::size_t>(prepared.message.bytes()));
    }
    /// Keeps the messages until the process ends. Ranks may be threads.
    static void keep(std::vector<Prepared> messages) {
        static std::mutex mutex;
        static std::vector<std::vector<Prepared>> all;
        const std::lock_guard lock(mutex);
        all.push_back(std::move(messages));
    }

    static void gather(Prepared& prepared, Bytes bytes) {
        const Blocks to{prepared.buffer.data() + sizeof(Bytes), prepared.message.bytes(), 0, 1};
        if (bytes == prepared.message.bytes())
            copy(std::span(&to, 1), prepared.message.blocks);
        else
            std::memcpy(to.base, prepared.message.blocks.at(0).base,
                        static_cast<std::size_t>(bytes));
    }
    static void scatter(Prepared& prepared, Bytes bytes) {
        const Blocks from{prepared.buffer.data() + sizeof(Bytes), prepared.message.bytes(), 0, 1};
        if (bytes == prepared.message.bytes())
            copy(prepared.message.blocks, std::span(&from, 1));
        else if (bytes > 0)
            std::memcpy(prepared.message.blocks.at(0).base, from.base,
                        static_cast<std::size_t>(bytes));
    }

    /// Calls `start` with each part of a message that fits in one call.
    template <class Start>
    void each_part(int m, Bytes bytes, Start&& start) {
        Prepared& prepared = at(m);
        for (Bytes first = 0; first < bytes; first += most_at_once) {
            const auto count = static_cast<int>(std::min(most_at_once, bytes - first));
            open_.push_back({m, start(prepared.buffer.data() + first, count)});
            ++prepared.open;
        }
    }
    void send(int m, Bytes bytes) {
        const Message& message = at(m).message;
        each_part(m, bytes + static_cast<Bytes>(sizeof(Bytes)), [&](std::byte* from, int count) {
            return table_->get()->Isend(table_->get(), from, count, ICET_BYTE, message.peer,
                                        message.tag);
        });
    }
    void receive(int m) {
        const Message& message = at(m).message;
        each_part(m, message.bytes() + static_cast<Bytes>(sizeof(Bytes)),
                  [&](std::byte* to, int count) {
                      return table_->get()->Irecv(table_->get(), to, count, ICET_BYTE, message.peer,
                                                  message.tag);
                  });
    }

    std::shared_ptr<Table> table_;
    std::vector<Prepared> messages_;
    std::vector<Open> open_;
    std::vector<IceTCommRequest> requests_;
    std::deque<Completion> done_;
};

class TableTransport : public Transport {
  public:
    explicit TableTransport(IceTCommunicator table)
        : table_(std::make_shared<Table>(table)),
          rank_(table->Comm_rank(table)),
          size_(table->Comm_size(table)) {}

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    bool shares_memory() const override { return false; }
    std::unique_ptr<Exchange> open(std::vector<Message> messages) override {
        return std::make_unique<TableExchange>(table_, std::move(messages));
    }
    void barrier() override { table_->get()->Barrier(table_->get()); }
    void all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
        if (static_cast<Bytes>(own.size()) > most_at_once)
            throw CommunicationFailed("cannot gather parts of more than 1 GiB");
        table_->get()->Allgather(table_->get(), own.data(), static_cast<int>(own.size()), ICET_BYTE,
                                 all.data());
    }
    std::shared_ptr<Transport> split(int color, int key) override {
        const std::array<int, 2> own = {color, key};
        std::vector<std::array<int, 2>> all(static_cast<std::size_t>(size_));
        all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
        std::vector<IceTInt32> members;
        for (int rank = 0; rank < size_; ++rank) {
            if (all[static_cast<std::size_t>(rank)][0] == color)
                members.push_back(rank);
        }
        std::ranges::stable_sort(
            members, {}, [&](IceTInt32 rank) { return all[static_cast<std::size_t>(rank)][1]; });
        IceTCommunicator part = table_->get()->Subset(
            table_->get(), color < 0 ? 0 : static_cast<int>(members.size()), members.data());
        if (color < 0)
            return nullptr;
        if (!part)
            throw CommunicationFailed(
                fmt::format("Subset of the IceTCommunicator of rank {} failed for {} of {} ranks",
                            rank_, members.size(), size_));
        return std::make_shared<TableTransport>(part);
    }

  private:
    std::shared_ptr<Table> table_;
    int rank_, size_;
};

struct Natives {
    std::mutex mutex;
    std::map<void (*)(IceTCommunicator), NativeCommunicator> all;
};
Natives& natives() {
    static Natives all;
    return all;
}

} // namespace

void register_native(void (*destroy)(IceTCommunicator), NativeCommunicator native) {
    const std::lock_guard lock(natives().mutex);
    natives().all[destroy] = native;
}

namespace {

NativeCommunicator find_native(IceTCommunicator table) {
    const std::lock_guard lock(natives().mutex);
    const auto found = natives().all.find(table->Destroy);
    return found == natives().all.end() ? nullptr : found->second;
}

} // namespace

bool is_native(IceTCommunicator table) {
    return find_native(table) != nullptr;
}

Communicator communicator_of(IceTCommunicator table) {
    const NativeCommunicator native = find_native(table);
    if (native) {
        const char* const shared = std::getenv("SEXTANT_SHARED_MEMORY");
        const Communicator communicator = native(table);
        const int off = shared && std::string_view(shared) == "off" ? 1 : 0;
        const std::vector<int> all = communicator.all_gather(off);
        return std::ranges::find(all, 1) != all.end() ? communicator
                                                      : share_nodes(communicator).communicator;
    }
    return Communicator(std::make_shared<TableTransport>(table->Duplicate(table)));
}

} // namespace sextant::icet
