// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/simulate/simulation.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace sextant::simulate {

/// Thrown if the other process closed its end: it has ended, or will.
class ChannelClosed : public Error {
  public:
    ChannelClosed() : Error("the other end of a simulation's channel was closed") {}
};

/// One end of a socket between two processes of one host, for plain values. Closes the socket on
/// destruction. Throws ChannelClosed if the other end is closed, Error with the reason if a system
/// call fails.
class Channel {
  public:
    explicit Channel(int descriptor) : descriptor_(descriptor) {}
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel() { close(); }

    int descriptor() const { return descriptor_; }
    void close();

    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        write(&value, sizeof value);
    }
    template <class T>
    void put(const std::vector<T>& values) {
        put_all(values);
    }
    void put(const std::string& text) { put_all(text); }

    template <class T>
    T get() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        read(&value, sizeof value);
        return value;
    }
    template <class T>
    std::vector<T> get_vector() {
        return get_all<std::vector<T>>();
    }
    std::string get_text() { return get_all<std::string>(); }

  private:
    template <class Values>
    void put_all(const Values& values) {
        put(values.size());
        write(values.data(), values.size() * sizeof values[0]);
    }
    template <class Values>
    Values get_all() {
        Values values(get<std::size_t>(), typename Values::value_type{});
        static_assert(std::is_trivially_copyable_v<typename Values::value_type>);
        read(values.data(), values.size() * sizeof values[0]);
        return values;
    }
    void write(const void* bytes, std::size_t count);
    void read(void* bytes, std::size_t count);

    int descriptor_;
};

/// Sends a question to the simulating process.
void put_question(Channel& to, const Question& question);

/// A received question, with the schedule that it refers to.
struct ArrivedQuestion {
    std::unique_ptr<const Schedule> schedule;
    Question question;
};

/// Receives a question. Throws Error if the other process has another version of Sextant.
ArrivedQuestion get_question(Channel& from);

/// Sends the result of a simulation, or the exception that ended it.
void put_answer(Channel& to, const std::function<Simulation()>& simulation);

/// Receives an answer: returns or throws what the simulation did. Exceptions other than
/// InvalidTask, InvalidFile and std::logic_error become Error.
Simulation get_answer(Channel& from);

/// The name of the program that simulates with SimGrid. It is a separate program because SimGrid's
/// library defines functions with MPI's names, which would replace MPI's in any process that loads
/// it; and because SimGrid allows one world per process and exits on invalid input.
inline constexpr const char* simulator_name = "sextant-simgrid";

/// The path of that program, searched for in machine::installation(); "" if it is not found.
std::string simulator_path();

/// Starts the program, sends it a question and returns its answer. The program is killed when the
/// calling thread ends.
///
/// Throws    as `simulate`; Error with the last line that the program wrote if it ends without an
///           answer.
Simulation ask(const std::string& program, const Question& question);

} // namespace sextant::simulate
