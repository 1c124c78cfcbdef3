// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/text.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/trace_timeline.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::report {

std::string json_text(std::string_view text) {
    const std::string quoted = Json(text).text(-1);
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

constexpr int newest_version = 1;
constexpr int most_ranks = 1 << 20;
constexpr double microseconds = 1e6;
constexpr Seconds longest = 1e9;                      ///< some 30 years
constexpr Elements most_elements = Elements{1} << 36; ///< the sum over all events fits into 64 bits
constexpr Bytes most_bytes = Bytes{4} << 30;

/// Appends lines that are separated by commas.
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

/// Returns the field "aligned"; "" if clocks were not aligned.
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

/// Writes a bar. The work of a rank is on track 0; its messages are on further tracks, so that bars
/// do not overlap.
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

/// Returns an integer field. Throws unless it is in the range.
template <class Number>
Number number_in(const JsonField& object, const char* field, Number least,
                 std::int64_t most = std::numeric_limits<Number>::max()) {
    return static_cast<Number>(object.at(field).integer(least, most));
}

/// Returns a time, which must be between -`longest` and `longest` seconds.
double time_in(const JsonField& object, const char* field, double units_per_second = 1) {
    const double most = longest * units_per_second;
    return object.at(field).number(-most, most);
}

/// Returns the value whose name is in a field.
template <class Value>
Value one_of(const JsonField& field, std::span<const Value> values) {
    std::vector<std::string_view> names;
    for (const Value value : values)
        names.push_back(name(value));
    return values[field.one_of<std::size_t>(names)];
}

Event event_of(const JsonField& event) {
    const JsonField more = event.at("args");
    const double begin = time_in(event, "ts", microseconds);
    const double length = time_in(event, "dur", microseconds);
    if (begin < 0 || length < 0)
        event.fail(
            fmt::format("begins at {} us and lasts {} us: a clock ran backwards", begin, length));
    return {.rank = number_in(event, "pid", 0, most_ranks),
            .step = number_in(more, "step", -1),
            .activity = one_of<Activity>(event.at("name"), activities),
            .round = number_in(more, "round", 0),
            .peer = number_in(more, "peer", -1, most_ranks),
            .elements = number_in<Elements>(more, "elements", 0, most_elements),
            .begin = begin / microseconds,
            .end = (begin + length) / microseconds};
}

/// Parses the fields that describe the whole recording.
Recording recording_of(const JsonField& head) {
    constexpr std::array origins{Origin::measured, Origin::predicted, Origin::simulated};
    head.at("sextant_trace").require_version(newest_version);
    Recording recording;
    recording.name = head.at("name").any_text();
    recording.origin = one_of<Origin>(head.at("origin"), origins);
    recording.ranks = number_in(head, "ranks", 1, most_ranks);
    recording.element_size = number_in<Bytes>(head, "element_size", 0, Bytes{1} << 40);
    recording.clocks = number_in(head, "clocks", 1, most_ranks);
    recording.lent = head.at("lent").boolean();
    recording.trace.duration = head.at("seconds").number(0, longest);
    for (const JsonField& clock : head.items_or_none("aligned"))
        recording.aligned.push_back({.first_rank = number_in(clock, "first_rank", 0, most_ranks),
                                     .at = 0,
                                     .offset = time_in(clock, "offset"),
                                     .uncertainty = time_in(clock, "uncertainty")});
    return recording;
}

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
        throw InvalidFile(path, "is empty, expected a trace");
    std::vector<Event> events; // in any order
    const JsonField file = JsonField::parse(text, path, "traceEvents", [&](const JsonField& event) {
        if (event.is_object() && event.text_or_empty("ph") == "X")
            events.push_back(event_of(event));
    });
    const auto head = file.is_object() ? file.find("otherData") : std::nullopt;
    if (!head || !head->is_object() || !head->find("sextant_trace"))
        throw InvalidFile(path, "is not a Sextant trace: otherData.sextant_trace is missing");
    file.at("traceEvents").size(); // throws if it is not an array
    Recording recording = recording_of(*head);
    for (const Event& event : events) {
        if (const int rank = std::max(event.rank, event.peer); rank >= recording.ranks)
            throw InvalidFile(path,
                              fmt::format("has an event of rank {}, but otherData.ranks is {}",
                                          rank, recording.ranks));
    }
    recording.trace.events = std::move(events);
    return recording;
}

Recording read_trace(const std::string& path) {
    return parse_trace(read_text(path, most_bytes), path);
}

} // namespace sextant::report
