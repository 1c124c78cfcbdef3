// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/serve/live_server.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sextant::serve {

namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

/// The current content of an event.
struct Event {
    std::shared_ptr<const std::string> value; ///< null for a list
    std::vector<std::string> items;
    std::int64_t version = 0;
};

/// The events that a client has already received.
struct Received {
    std::int64_t version = 0;
    std::map<std::string, std::size_t, std::less<>> items; ///< number of items received, by list
};

/// A connection with a time limit for the whole request, because clients that send their request
/// byte by byte would otherwise occupy all threads. The set of virtual functions of httplib::Stream
/// differs between versions; this class defines all of them.
class Connection final : public httplib::Stream {
  public:
    explicit Connection(socket_t socket) : socket_(socket) {}
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() override {
        ::shutdown(socket_, SHUT_RDWR);
        ::close(socket_);
    }

    bool is_readable() const { return at_ < end_ || is_ready(POLLIN, patience_left()); }
    bool wait_readable() const { return is_readable(); }
    bool is_writable() const { return is_ready(POLLOUT, write_limit); }
    bool wait_writable() const { return is_writable(); }
    socket_t socket() const { return socket_; }
    time_t duration() const { return 0; }
    void get_remote_ip_and_port(std::string&, int&) const {}
    void get_local_ip_and_port(std::string&, int&) const {}

    ssize_t read(char* to, std::size_t size) {
        if (at_ == end_) {
            if (!is_readable())
                return -1;
            const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
            if (got <= 0)
                return got;
            at_ = 0;
            end_ = static_cast<std::size_t>(got);
        }
        const std::size_t taken = std::min(size, end_ - at_);
        std::memcpy(to, buffer_.data() + at_, taken);
        at_ += taken;
        return static_cast<ssize_t>(taken);
    }
    ssize_t write(const char* from, std::size_t size) {
        return is_writable() ? ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
    }

  private:
    using Milliseconds = std::chrono::milliseconds;
    static constexpr Milliseconds request_limit{5000}, write_limit{2000};

    Milliseconds patience_left() const {
        const auto passed = std::chrono::duration_cast<Milliseconds>(steady_clock::now() - begin_);
        return std::max(Milliseconds(0), request_limit - passed);
    }
    bool is_ready(short event, Milliseconds limit) const {
        pollfd state{socket_, event, 0};
        const int count = ::poll(&state, 1, static_cast<int>(limit.count()));
        return count > 0 && (state.revents & event) != 0;
    }

    const socket_t socket_;
    const steady_clock::time_point begin_ = steady_clock::now();
    std::array<char, 4096> buffer_{};
    std::size_t at_ = 0, end_ = 0; // range of unread bytes in the buffer
};

/// A server that answers one request per connection.
class Server final : public httplib::Server {
    bool process_and_close_socket(socket_t socket) override {
        Connection connection(socket);
        bool closed = false;
        return answered(*this, connection, closed);
    }

    /// Calls process_request(), which has more arguments in later versions of the library.
    template <class Any>
    static bool answered(Any& server, Connection& connection, bool& closed) {
        if constexpr (requires { server.process_request(connection, true, closed, nullptr); })
            return server.process_request(connection, true, closed, nullptr);
        else
            return server.process_request(connection, "", 0, "", 0, true, closed, nullptr);
    }
};

int bind(httplib::Server& server, const Address& address) {
    errno = 0;
    if (address.port == 0)
        return server.bind_to_any_port(address.host);
    return server.bind_to_port(address.host, address.port) ? address.port : -1;
}

/// Ignores SIGPIPE, which the library's writes may raise, and restores the previous handler.
class IgnoredPipeSignal {
  public:
    IgnoredPipeSignal() { before_ = std::signal(SIGPIPE, SIG_IGN); }
    ~IgnoredPipeSignal() { std::signal(SIGPIPE, before_); }
    IgnoredPipeSignal(const IgnoredPipeSignal&) = delete;
    IgnoredPipeSignal& operator=(const IgnoredPipeSignal&) = delete;

  private:
    void (*before_)(int);
};

} // namespace

struct LiveServer::State {
    IgnoredPipeSignal ignored;
    Address address;
    std::string token = random_token(), page;
    Server server;
    std::thread thread;

    mutable std::mutex guards;
    std::condition_variable changed;
    std::map<std::string, Event, std::less<>> events;
    std::int64_t version = 0;
    bool stops = false;
    std::atomic<int> clients = 0;
    std::atomic<std::int64_t> dropped = 0;

    httplib::Server::HandlerResponse check(const httplib::Request& request,
                                           httplib::Response& response) const;
    void answer(const httplib::Request& request, httplib::Response& response);
    void stream(httplib::Response& response);
    bool send_news(httplib::DataSink& sink, Received& received);
    std::string news_for(Received& received);
    bool send(httplib::DataSink& sink, std::string_view text);
};

namespace {

using Answered = httplib::Server::HandlerResponse;

Answered refuse(httplib::Response& response, int status, const std::string& why) {
    response.status = status;
    response.set_content(why + "\n", "text/plain; charset=utf-8");
    return Answered::Handled;
}

/// Compares in constant time, so that the time does not reveal the length of a common prefix.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
    unsigned char difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        difference |= static_cast<unsigned char>(a[i] ^ b[i]);
    return difference == 0;
}

} // namespace

httplib::Server::HandlerResponse LiveServer::State::check(const httplib::Request& request,
                                                          httplib::Response& response) const {
    response.set_header("Cache-Control", "no-store");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    response.set_header("Content-Security-Policy",
                        "default-src 'none'; style-src 'unsafe-inline'; script-src "
                        "'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'");
    if (request.get_header_value_count("Host") != 1 ||
        !names_server(request.get_header_value("Host"), address))
        return refuse(response, 421, "the Host header does not name this server");
    if (request.method != "GET" && request.method != "HEAD") {
        response.set_header("Allow", "GET, HEAD");
        return refuse(response, 405, "expected the method GET or HEAD");
    }
    const std::string& path = request.path;
    const bool known = path.size() > token.size() + 1 &&
                       equal_in_constant_time(path.substr(1, token.size()), token);
    const std::string rest = known ? path.substr(token.size() + 1) : "";
    if (rest != "/" && rest != "/events")
        return refuse(response, 404, "there is no such page");
    return Answered::Unhandled;
}

void LiveServer::State::answer(const httplib::Request& request, httplib::Response& response) {
    if (!request.path.ends_with("/events"))
        return response.set_content(page, "text/html; charset=utf-8");
    if (request.method == "GET")
        stream(response);
}

void LiveServer::State::stream(httplib::Response& response) {
    if (++clients > most_clients) {
        --clients;
        refuse(response, 503,
               fmt::format("{} clients are already connected, the largest number that is supported",
                           most_clients));
        return;
    }
    auto received = std::make_shared<Received>();
    response.set_content_provider(
        "text/event-stream",
        [this, received](std::size_t, httplib::DataSink& sink) {
            return send_news(sink, *received);
        },
        [this](bool) {
            const std::lock_guard lock(guards);
            --clients;
            changed.notify_all();
        });
}

/// Waits for news and sends them. After a second without news, sends a comment, which detects
/// clients that have disconnected. Returns false to disconnect.
bool LiveServer::State::send_news(httplib::DataSink& sink, Received& received) {
    std::string text;
    {
        std::unique_lock lock(guards);
        changed.wait_for(lock, seconds(1), [&] { return stops || version > received.version; });
        text = news_for(received);
        if (text.empty() && stops)
            return false;
    }
    if (send(sink, text.empty() ? ":\n\n" : text))
        return true;
    return false;
}

std::string LiveServer::State::news_for(Received& received) {
    std::string text;
    for (const auto& [name, event] : events) {
        if (event.version <= received.version)
            continue;
        text += "event: " + name + "\ndata: ";
        if (event.value) {
            text += *event.value;
        } else {
            std::size_t& first = received.items[name];
            text += fmt::format("[{}]",
                                fmt::join(event.items.begin() + static_cast<std::ptrdiff_t>(first),
                                          event.items.end(), ","));
            first = event.items.size();
        }
        text += "\n\n";
    }
    received.version = version;
    return text;
}

bool LiveServer::State::send(httplib::DataSink& sink, std::string_view text) {
    constexpr std::size_t piece = 1 << 16;
    constexpr auto patience = seconds(5);
    while (!text.empty()) {
        const auto begin = steady_clock::now();
        const std::string_view some = text.substr(0, piece);
        // Sending to a disconnected client fails immediately; to a slow client, after the time
        // limit.
        const bool sent = sink.write(some.data(), some.size());
        const auto taken = steady_clock::now() - begin;
        if (!sent || taken > patience) {
            dropped += taken > seconds(1);
            return false;
        }
        text.remove_prefix(some.size());
    }
    return true;
}

LiveServer::LiveServer(const Address& address, std::string page)
    : state_(std::make_shared<State>()) {
    State& state = *state_;
    state.address = address;
    state.page = std::move(page);
    httplib::Server& server = state.server;
    // The port must not be shared with another server; the library allows this by default.
    server.set_socket_options([](socket_t socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.new_task_queue = [] {
        constexpr int others = 8; // threads for further requests while all clients are connected
        return new httplib::ThreadPool(most_clients + others);
    };
    server.set_payload_max_length(1);
    server.set_pre_routing_handler(
        [&state](const auto& request, auto& response) { return state.check(request, response); });
    server.Get(".*",
               [&state](const auto& request, auto& response) { state.answer(request, response); });
    const int port = bind(server, address);
    if (port < 0)
        throw InvalidTask(fmt::format("{}: no server can listen there: {}", address.text(),
                                      errno != 0 ? std::generic_category().message(errno)
                                                 : "the port may be in use"));
    state.address.port = port;
    state.thread = std::thread([&server] { server.listen_after_bind(); });
}

LiveServer::~LiveServer() {
    {
        // stop() interrupts streams between two sends, so the last news are sent first.
        constexpr auto patience = seconds(10);
        std::unique_lock lock(state_->guards);
        state_->stops = true;
        state_->changed.notify_all();
        state_->changed.wait_for(lock, patience, [&] { return state_->clients == 0; });
    }
    while (state_->thread.joinable() && !state_->server.is_running())
        std::this_thread::yield(); // stop() has no effect before the server runs
    state_->server.stop();
    if (state_->thread.joinable())
        state_->thread.join();
}

std::string LiveServer::url() const {
    return fmt::format("http://{}/{}/", state_->address.text(), state_->token);
}

void LiveServer::set(std::string_view event, std::string value) {
    const std::lock_guard lock(state_->guards);
    Event& one = state_->events[std::string(event)];
    one.value = std::make_shared<const std::string>(std::move(value));
    one.version = ++state_->version;
    state_->changed.notify_all();
}

void LiveServer::add(std::string_view event, std::string item) {
    const std::lock_guard lock(state_->guards);
    Event& one = state_->events[std::string(event)];
    one.items.push_back(std::move(item));
    one.version = ++state_->version;
    state_->changed.notify_all();
}

int LiveServer::clients() const {
    return state_->clients;
}

std::int64_t LiveServer::dropped() const {
    return state_->dropped;
}

} // namespace sextant::serve
