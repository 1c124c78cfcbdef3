// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/page_style.hpp"

namespace sextant::report {

std::string_view page_style() {
    return R"(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1d232b; --quiet: #5d6773; --line: #dfe3e8; --soft: #f4f6f8;
  --accent: #2a6fc4; --check: #e9ecef;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #15181d; --ink: #e3e7ec; --quiet: #9aa4b0; --line: #303740; --soft: #1c2027;
    --accent: #6ea8ee; --check: #242931;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
body {
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
  max-width: 62rem; margin: 0 auto; padding: 3rem 1.5rem 4rem; overflow-wrap: anywhere;
}
header { margin-bottom: 2rem; }
h1 { font-size: 2rem; line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 .35rem; }
h2 { font-size: 1.15rem; line-height: 1.3; margin: 0 0 .9rem; }
header p { color: var(--quiet); font-size: 1.1rem; margin: 0; }
section { margin: 3rem 0 0; }
figure { margin: 0 0 2rem; }
figcaption { color: var(--quiet); font-size: .9rem; margin-top: .6rem; }

.picture {
  border: 1px solid var(--line); border-radius: .6rem; padding: 1rem; text-align: center;
  background: repeating-conic-gradient(var(--check) 0 25%, var(--paper) 0 50%) 0 0 / 1.25rem 1.25rem;
}
.picture img { display: block; margin: 0 auto; max-width: 100%; height: auto; max-height: 85vh; }
.picture .small { image-rendering: pixelated; width: min(100%, 20rem); }

dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; margin: 0; }
dt, dd { margin: 0; padding: .45rem 0; border-top: 1px solid var(--line); }
dt { color: var(--quiet); padding-right: 2rem; }

table { width: 100%; border-collapse: collapse; }
th, td { padding: .45rem 0; border-top: 1px solid var(--line); text-align: left; font-weight: 400; }
thead th, thead td { border-top: 0; }
thead th { color: var(--quiet); font-size: .9rem; padding-top: 0; }
tfoot th, tfoot td { font-weight: 600; }
th.number, td.number { text-align: right; white-space: nowrap; padding-left: 1.5rem; }
td.share { width: 45%; padding-left: 1.5rem; }
.bar { display: block; height: .6rem; min-width: 1px; border-radius: .2rem; background: var(--accent);
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }

.drawing { border: 1px solid var(--line); border-radius: .6rem; overflow-x: auto; }
.drawing svg { display: block; width: 100%; min-width: 44rem; height: auto; }

ol { list-style: none; margin: 0; padding: 0; }
li { margin: 0 0 1.25rem; }
li p { margin: 0 0 .4rem; }
pre { margin: 0; padding: .75rem 1rem; overflow-x: auto; border: 1px solid var(--line);
  border-radius: .5rem; background: var(--soft); }
code { font: .9rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  overflow-wrap: normal; }

@media (max-width: 36rem) {
  body { padding: 1.75rem 1rem 3rem; }
  h1 { font-size: 1.6rem; }
  section { margin-top: 2.25rem; }
  .picture { padding: .5rem; }
  dl { grid-template-columns: 1fr; }
  dt { padding: .5rem 0 0; font-size: .9rem; }
  dd { padding: 0 0 .5rem; border-top: 0; }
  td.share { width: 30%; }
}
@media print {
  html { font-size: 10pt; }
  body { max-width: none; padding: 0; }
  figure, li, tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  .drawing { overflow: visible; border: 0; }
  .drawing svg { min-width: 0; }
  .picture { background: none; }
  pre { white-space: pre-wrap; }
}
)";
}

} // namespace sextant::report
