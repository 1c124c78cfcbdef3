// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/findings.hpp"

#include "sextant/comm/provenance.hpp"
#include "sextant/core/json.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/report/text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

SizeOfCases size_of_cases(const std::string& operation) {
    const auto whole = [](double size) { return report::grouped(std::llround(size)); };
    if (operation == "bench collective")
        return {"bytes", report::bytes_to_text};
    return {operation == "bench scan" ? "ranks" : "pixels", whole};
}

std::string page_of(const BenchSetting& setting, const Findings& findings) {
    report::Page page;
    page.title = "Sextant: " + setting.operation;
    page.subtitle = fmt::format("{} ranks over {}, {} rounds", setting.ranks, setting.transport,
                                setting.rounds);
    page.facts = {
        {"Machine", fmt::format("{}, {}", host(), report::counted(cores_of_host(), "core"))},
        {"Made", fmt::format("{}, {}", date(), version())}};
    page.sections = summary_sections(findings.ways, size_of_cases(setting.operation));
    page.sections.insert(page.sections.end(), findings.sections.begin(), findings.sections.end());
    return report::render(page);
}

std::string json_of(const BenchSetting& setting, const Findings& findings) {
    const nlohmann::ordered_json json = {{"operation", setting.operation},
                                         {"version", version()},
                                         {"host", host()},
                                         {"date", date()},
                                         {"cores", cores_of_host()},
                                         {"ranks", setting.ranks},
                                         {"transport", setting.transport},
                                         {"rounds", setting.rounds},
                                         {"cases", findings.cases}};
    return sextant::to_text(json) + "\n";
}

} // namespace

std::vector<std::string> bench_outputs(const Values& values) {
    return files_given(values, {"json", "gantt", "report"});
}

void write_findings(const Values& values, const BenchSetting& setting, const Findings& findings) {
    if (values.has("json"))
        write_text(values.text("json"), json_of(setting, findings));
    if (values.has("gantt"))
        write_text(values.text("gantt"), findings.picture);
    if (values.has("report"))
        write_text(values.text("report"), page_of(setting, findings));
}

} // namespace sextant::operation
