// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/serve/live_server.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sextant::serve {
namespace {

/// A client of the stream of a server at `http://127.0.0.1:PORT/TOKEN/`.
class Client {
  public:
    explicit Client(const std::string& url) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
        const std::size_t host = url.find("//") + 2, path = url.find('/', host);
        const std::string name = url.substr(host, path - host);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port =
            htons(static_cast<std::uint16_t>(std::stoi(name.substr(name.find(':') + 1))));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        const std::string request =
            fmt::format("GET {}events HTTP/1.1\r\nHost: {}\r\n\r\n", url.substr(path), name);
        EXPECT_EQ(send(socket_, request.data(), request.size(), 0), std::ssize(request));
    }
    ~Client() { close(socket_); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Reads until the text has come, or to the end of the stream; what has come so far.
    const std::string& read_until(const std::string& text) {
        std::array<char, 4096> piece{};
        while (text.empty() || received_.find(text) == std::string::npos) {
            const ssize_t got = recv(socket_, piece.data(), piece.size(), 0);
            if (got <= 0)
                break;
            received_.append(piece.data(), static_cast<std::size_t>(got));
        }
        return received_;
    }

  private:
    int socket_;
    std::string received_;
};

/// A client that has received the text. The server drops a client that sends no request for two
/// seconds, which may happen on a busy machine; then another client is tried.
std::unique_ptr<Client> client_with(const std::string& text, const LiveServer& server) {
    for (int attempt = 0; attempt < 5; ++attempt) {
        auto client = std::make_unique<Client>(server.url());
        if (client->read_until(text).find(text) != std::string::npos)
            return client;
    }
    return nullptr;
}

TEST(LiveServer, sends_the_last_news_before_it_ends) {
    constexpr int rounds = 50; // whether a stream is interrupted depends on its thread's progress
    for (int round = 0; round < rounds; ++round) {
        auto server = std::make_unique<LiveServer>(Address{"127.0.0.1", 0}, "page");
        server->set("state", "first");
        const auto one = client_with("first", *server), other = client_with("first", *server);
        ASSERT_TRUE(one && other) << "the server does not send the first news";
        server->set("state", "last");
        server.reset();
        ASSERT_THAT(one->read_until(""), testing::EndsWith("data: last\n\n")) << round;
        ASSERT_THAT(other->read_until(""), testing::EndsWith("data: last\n\n")) << round;
    }
}

} // namespace
} // namespace sextant::serve
