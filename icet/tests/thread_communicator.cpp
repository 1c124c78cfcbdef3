// SPDX-License-Identifier: BSD-3-Clause
#include "thread_communicator.hpp"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

namespace sextant::icet::test {

namespace {

std::size_t size_of(IceTEnum type) {
    switch (type) {
    case ICET_BOOLEAN:
    case ICET_BYTE:
        return 1;
    case ICET_SHORT:
        return 2;
    case ICET_DOUBLE:
        return 8;
    default:
        return 4;
    }
}

/// The messages between the ranks of one communicator.
struct Post {
    int size = 0;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::tuple<int, int, int>, std::deque<std::vector<std::byte>>> boxes; // from, to, tag
    std::map<int, std::shared_ptr<Post>> parts; // duplicates of the communicator, by number
};

struct Self {
    std::shared_ptr<Post> post;
    int rank;
    int duplicates = 0;
};

struct Request {
    bool sends;
    void* to;
    std::size_t size;
    std::tuple<int, int, int> box;
};

Self& self_of(IceTCommunicator communicator) {
    return *static_cast<Self*>(communicator->data);
}

IceTCommunicator make(std::shared_ptr<Post> post, int rank);

void put(Self& self, const void* from, std::size_t size, int to, int tag) {
    const auto* bytes = static_cast<const std::byte*>(from);
    const std::lock_guard lock(self.post->mutex);
    self.post->boxes[{self.rank, to, tag}].emplace_back(bytes, bytes + size);
    self.post->changed.notify_all();
}

void take(Self& self, const Request& request) {
    auto& box = self.post->boxes[request.box];
    const std::vector<std::byte> message = std::move(box.front());
    box.pop_front();
    std::memcpy(request.to, message.data(), std::min(message.size(), request.size));
}

bool is_ready(Self& self, const Request& request) {
    return request.sends || !self.post->boxes[request.box].empty();
}

Request& request_of(IceTCommRequest request) {
    return *static_cast<Request*>(request->internals);
}

void finish(IceTCommRequest* request) {
    delete &request_of(*request);
    delete *request;
    *request = ICET_COMM_REQUEST_NULL;
}

IceTCommRequest request(Request request) {
    return new IceTCommRequestStruct{0x746872, new Request(request)};
}

constexpr int collective_tag = 1 << 28;

IceTCommunicator make(std::shared_ptr<Post> post, int rank) {
    auto* made = new IceTCommunicatorStruct{};
    made->data = new Self{std::move(post), rank};
    made->Duplicate = [](IceTCommunicator c) {
        Self& self = self_of(c);
        const std::lock_guard lock(self.post->mutex);
        std::shared_ptr<Post>& part = self.post->parts[self.duplicates++];
        if (!part) {
            part = std::make_shared<Post>();
            part->size = self.post->size;
        }
        return make(part, self.rank);
    };
    made->Destroy = [](IceTCommunicator c) {
        delete &self_of(c);
        delete c;
    };
    made->Subset = [](IceTCommunicator c, int count, const IceTInt32*) -> IceTCommunicator {
        return count == self_of(c).post->size ? c->Duplicate(c) : ICET_COMM_NULL;
    };
    made->Send = [](IceTCommunicator c, const void* from, int count, IceTEnum type, int to,
                    int tag) {
        put(self_of(c), from, static_cast<std::size_t>(count) * size_of(type), to, tag);
    };
    made->Recv = [](IceTCommunicator c, void* to, int count, IceTEnum type, int from, int tag) {
        IceTCommRequest pending = c->Irecv(c, to, count, type, from, tag);
        c->Wait(c, &pending);
    };
    made->Isend = [](IceTCommunicator c, const void* from, int count, IceTEnum type, int to,
                     int tag) {
        c->Send(c, from, count, type, to, tag);
        return request({true, nullptr, 0, {}});
    };
    made->Irecv = [](IceTCommunicator c, void* to, int count, IceTEnum type, int from, int tag) {
        return request({false,
                        to,
                        static_cast<std::size_t>(count) * size_of(type),
                        {from, self_of(c).rank, tag}});
    };
    made->Wait = [](IceTCommunicator c, IceTCommRequest* pending) { c->Waitany(c, 1, pending); };
    made->Waitany = [](IceTCommunicator c, int count, IceTCommRequest* requests) {
        Self& self = self_of(c);
        std::unique_lock lock(self.post->mutex);
        for (;;) {
            for (int i = 0; i < count; ++i) {
                if (!requests[i] || !is_ready(self, request_of(requests[i])))
                    continue;
                if (!request_of(requests[i]).sends)
                    take(self, request_of(requests[i]));
                finish(&requests[i]);
                return i;
            }
            self.post->changed.wait(lock);
        }
    };
    made->Allgather = [](IceTCommunicator c, const void* own, int count, IceTEnum type, void* all) {
        const std::size_t size = static_cast<std::size_t>(count) * size_of(type);
        for (int to = 0; to < self_of(c).post->size; ++to)
            c->Send(c, own, count, type, to, collective_tag);
        for (int from = 0; from < self_of(c).post->size; ++from)
            c->Recv(c, static_cast<std::byte*>(all) + size * static_cast<std::size_t>(from), count,
                    type, from, collective_tag);
    };
    made->Barrier = [](IceTCommunicator c) {
        const char own = 0;
        std::vector<char> all(static_cast<std::size_t>(self_of(c).post->size));
        c->Allgather(c, &own, 1, ICET_BYTE, all.data());
    };
    made->Comm_size = [](IceTCommunicator c) { return self_of(c).post->size; };
    made->Comm_rank = [](IceTCommunicator c) { return self_of(c).rank; };
    return made;
}

} // namespace

void on_threads(int ranks, const std::function<void(IceTCommunicator)>& body) {
    auto post = std::make_shared<Post>();
    post->size = ranks;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            IceTCommunicator communicator = make(post, rank);
            body(communicator);
            communicator->Destroy(communicator);
        });
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace sextant::icet::test
