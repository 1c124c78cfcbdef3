// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/trace_file.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/trace_timeline.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::report {

std::string json_text(std::string_view text) {
    using Json = nlohmann::json;
    const std::string quoted =
        Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string safe;
    for (const char c : quoted) {
        if (c == '<')
            safe += "\\u003c";
        else if (c == '>')
            safe += "\\u003e";
        else if (c == '&')
            safe += "\\u0026";
        else
            safe += c;
    }
    return safe;
}

namespace {

/// Reads fields of a JSON object in a file. A missing or invalid field throws InvalidFile:
/// "run.json: event 7: args: round: -1, expected 0 to 4".
class JsonFields {
  public:
    /// `where` is the position of the object in the file. Object and path must outlive this.
    JsonFields(const nlohmann::json& object, const std::string& path, std::string where);

    double number(const char* field) const; ///< finite
    std::int64_t integer(const char* field, std::int64_t least, std::int64_t most) const;
    bool truth(const char* field) const;
    std::string text(const char* field) const;

    /// Throws InvalidFile about the object for another reason.
    [[noreturn]] void fail(const std::string& what) const;

  private:
    const nlohmann::json& object_;
    const std::string& path_;
    const std::string where_;
};

JsonFields::JsonFields(const nlohmann::json& object, const std::string& path, std::string where)
    : object_(object), path_(path), where_(std::move(where)) {}

void JsonFields::fail(const std::string& what) const {
    throw InvalidFile(path_, fmt::format("{}: {}", where_, what));
}

double JsonFields::number(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_number())
        fail(fmt::format("{}: expected a number", field));
    const double value = found->get<double>();
    if (!std::isfinite(value))
        fail(fmt::format("{}: {} is not finite", field, value));
    return value;
}

std::int64_t JsonFields::integer(const char* field, std::int64_t least, std::int64_t most) const {
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_number_integer())
        fail(fmt::format("{}: expected an integer", field));
    const auto value = found->get<std::int64_t>();
    if (value < least || value > most)
        fail(fmt::format("{}: {}, expected {} to {}", field, value, least, most));
    return value;
}

bool JsonFields::truth(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_boolean())
        fail(fmt::format("{}: expected true or false", field));
    return found->get<bool>();
}

std::string JsonFields::text(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end() || !found->is_string())
        fail(fmt::format("{}: expected a string", field));
    return found->get<std::string>();
}

using Json = nlohmann::json;

constexpr int newest_version = 1;
constexpr int most_ranks = 1 << 20;
constexpr double microseconds = 1e6;
constexpr Bytes most_bytes = Bytes{4} << 30;

/// Separates lines by commas.
class Lines {
  public:
    explicit Lines(std::string& text) : text_(text) {}
    void add(const std::string& line) {
        text_ += first_ ? "\n" : ",\n";
        text_ += line;
        first_ = false;
    }

  private:
    std::string& text_;
    bool first_ = true;
};

/// Returns the field "aligned", or "" if clocks were not aligned.
std::string offsets(const std::vector<ClockOffset>& aligned) {
    std::string text;
    for (const ClockOffset& clock : aligned)
        text += fmt::format("{}{{\"first_rank\": {}, \"offset\": {}, \"uncertainty\": {}}}",
                            text.empty() ? "\"aligned\": [" : ", ", clock.first_rank, clock.offset,
                            clock.uncertainty);
    return text.empty() ? "" : text + "], ";
}

std::string header(const Recording& recording) {
    return fmt::format(
        "{{\"otherData\": {{\"sextant_trace\": {}, \"name\": {}, \"origin\": "
        "\"{}\", \"ranks\": {}, \"element_size\": {}, \"clocks\": {}, "
        "{}\"lent\": {}, \"seconds\": {}}},\n\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [",
        newest_version, json_text(recording.name), name(recording.origin), recording.ranks,
        recording.element_size, recording.clocks, offsets(recording.aligned), recording.lent,
        recording.trace.duration);
}

/// Writes a bar. A rank's work is on track 0; overlapping messages are on additional tracks.
std::string line(const Bar& bar, int track) {
    const Event& event = bar.event;
    return fmt::format("{{\"ph\": \"X\", \"name\": \"{}\", \"pid\": {}, \"tid\": {}, \"ts\": {}, "
                       "\"dur\": {}, \"args\": {{\"step\": {}, \"round\": {}, \"peer\": {}, "
                       "\"elements\": {}}}}}",
                       name(event.activity), event.rank, track, event.begin * microseconds,
                       (event.end - event.begin) * microseconds, event.step, event.round,
                       event.peer, event.elements);
}

/// Writes the start or end of a message's arrow.
std::string arrow(char end, std::size_t id, const Bar& bar, Seconds when) {
    return fmt::format("{{\"ph\": \"{}\", \"bp\": \"e\", \"name\": \"message\", \"cat\": "
                       "\"message\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {}}}",
                       end, id, bar.event.rank, bar.row + 1, when * microseconds);
}

void add_names(Lines& lines, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
        lines.add(fmt::format("{{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": {0}, "
                              "\"args\": {{\"name\": \"rank {0}\"}}}}",
                              rank));
    }
}

void add_arrows(Lines& lines, const std::vector<Bar>& bars) {
    Trace messages;
    for (const Bar& bar : bars)
        messages.events.push_back(bar.event);
    std::size_t id = 0;
    for (const Message& message : messages_of(messages)) {
        const Bar &send = bars[message.send], &receive = bars[message.receive];
        lines.add(arrow('s', id, send, send.event.begin));
        lines.add(arrow('f', id, receive, receive.event.end));
        ++id;
    }
}

/// Assembles a recording from the objects of a file, in any order.
class Reader {
  public:
    explicit Reader(const std::string& path) : path_(path) {}

    /// Takes the next object of the list of events.
    void take(const Json& event) {
        ++seen_;
        if (event.is_object() && event.value("ph", Json()) == "X")
            add(event);
    }

    Recording finish(const Json& file) {
        const auto head = file.is_object() ? file.find("otherData") : file.end();
        if (!file.is_object() || head == file.end() || !head->is_object() ||
            !head->contains("sextant_trace")) {
            throw InvalidFile(path_, "not a Sextant trace: otherData.sextant_trace is missing");
        }
        const auto events = file.find("traceEvents"); // its events were read before, one by one
        if (events == file.end() || !events->is_array())
            throw InvalidFile(path_, "traceEvents: expected an array");
        take_head({*head, path_, "otherData"});
        take_clocks(*head);
        for (const Event& event : recording_.trace.events)
            check(event);
        return std::move(recording_);
    }

  private:
    void add(const Json& object) {
        const JsonFields event(object, path_, fmt::format("event {}", seen_));
        const auto args = object.find("args");
        if (args == object.end() || !args->is_object())
            event.fail("args: expected an object");
        const JsonFields more(*args, path_, fmt::format("event {}: args", seen_));
        const double begin = event.number("ts"), length = event.number("dur");
        if (begin < 0 || length < 0)
            event.fail(fmt::format("from {} us for {} us: a clock ran backwards", begin, length));
        constexpr int most = std::numeric_limits<int>::max();
        recording_.trace.events.push_back(
            {.rank = static_cast<int>(event.integer("pid", 0, most_ranks)),
             .step = static_cast<int>(more.integer("step", -1, most)),
             .activity = activity(event),
             .round = static_cast<int>(more.integer("round", 0, most)),
             .peer = static_cast<int>(more.integer("peer", -1, most_ranks)),
             .elements = more.integer("elements", 0, std::numeric_limits<Elements>::max()),
             .begin = begin / microseconds,
             .end = (begin + length) / microseconds});
    }

    static Activity activity(const JsonFields& event) {
        const std::string called = event.text("name");
        for (const Activity activity : activities) {
            if (name(activity) == called)
                return activity;
        }
        event.fail(
            fmt::format("name: '{}', expected send, receive, fold, copy, compute or wait", called));
    }

    void take_head(const JsonFields& head) {
        const std::int64_t version =
            head.integer("sextant_trace", 1, std::numeric_limits<int>::max());
        if (version > newest_version) {
            throw InvalidFile(path_, fmt::format("a trace of version {}, expected version {}",
                                                 version, newest_version));
        }
        recording_.name = head.text("name");
        recording_.origin = origin(head);
        recording_.ranks = static_cast<int>(head.integer("ranks", 1, most_ranks));
        recording_.element_size = head.integer("element_size", 0, Bytes{1} << 40);
        recording_.clocks = static_cast<int>(head.integer("clocks", 1, most_ranks));
        recording_.lent = head.truth("lent");
        recording_.trace.duration = head.number("seconds");
        if (recording_.trace.duration < 0)
            head.fail(fmt::format("seconds: {}, expected 0 or more", recording_.trace.duration));
    }

    void take_clocks(const Json& head) {
        const auto aligned = head.find("aligned");
        if (aligned == head.end())
            return;
        if (!aligned->is_array())
            throw InvalidFile(path_, "otherData: aligned: expected an array");
        for (const Json& one : *aligned) {
            const JsonFields clock(one, path_, "otherData: aligned");
            if (!one.is_object())
                clock.fail("expected objects");
            recording_.aligned.push_back(
                {.first_rank = static_cast<int>(clock.integer("first_rank", 0, most_ranks)),
                 .at = 0,
                 .offset = clock.number("offset"),
                 .uncertainty = clock.number("uncertainty")});
        }
    }

    static Origin origin(const JsonFields& head) {
        const std::string called = head.text("origin");
        for (const Origin origin : {Origin::measured, Origin::predicted, Origin::simulated}) {
            if (name(origin) == called)
                return origin;
        }
        head.fail(fmt::format("origin: '{}', expected measured, predicted or simulated", called));
    }

    void check(const Event& event) const {
        for (const int rank : {event.rank, event.peer}) {
            if (rank >= recording_.ranks) {
                throw InvalidFile(path_, fmt::format("an event of rank {}, but otherData.ranks is "
                                                     "{}",
                                                     rank, recording_.ranks));
            }
        }
    }

    const std::string& path_;
    std::int64_t seen_ = 0;
    Recording recording_;
};

} // namespace

std::string to_json(const Recording& recording) {
    const Bars all = bars(recording.trace, recording.ranks, recording.trace.events.size());
    std::string text = header(recording);
    Lines lines(text);
    add_names(lines, recording.ranks);
    for (const Bar& bar : all.messages)
        lines.add(line(bar, bar.row + 1));
    for (const Bar& bar : all.work)
        lines.add(line(bar, 0));
    add_arrows(lines, all.messages);
    return text + "\n]}\n";
}

Recording parse_trace(std::string_view text, const std::string& path) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw InvalidFile(path, "empty; expected a trace");
    Reader reader(path);
    return reader.finish(
        parse_json(text, path, {}, {"traceEvents", [&](Json&& event) { reader.take(event); }}));
}

Recording read_trace(const std::string& path) {
    return parse_trace(read_text(path, most_bytes), path);
}

} // namespace sextant::report
