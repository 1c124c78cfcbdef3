// SPDX-License-Identifier: BSD-3-Clause
// Pages of the command in a browser: they load without a complaint and without a request, draw, zoom
// and toggle, fit a phone, and draw no more than is visible of many events.
// Usage: pages.mjs CHROMIUM FOLDER-OF-PAGES [FOLDER-FOR-PICTURES]
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { withBrowser } from "./browser.mjs";

const [chromium, folder, pictures] = process.argv.slice(2);

const view = "(({from, to}) => ({from, to}))(document.querySelector('figure.timeline').timeline)";
const frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
const inked = `(() => {
  const canvas = document.querySelector("figure.timeline canvas");
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return colours.size;
})()`;

let passed = 0;
async function check(name, page, work) {
  await work(page);
  assert.deepEqual(page.complaints, [], `${name}: the page complains`);
  assert.equal(page.requests.length, 1, `${name}: the page asks for ${page.requests.slice(1)}`);
  if (pictures) writeFileSync(`${pictures}/${name.replaceAll(" ", "-")}.png`, await page.screenshot(true));
  console.log(`ok: ${name}`);
  ++passed;
}

async function press(page, what) {
  await page.value(`document.querySelector('button[data-do="${what}"]').click()`);
  await page.value(frames);
  return page.value(view);
}

async function toggle(page, what) {
  const before = await page.value("document.querySelector('figure.timeline canvas').toDataURL()");
  await page.value(`document.querySelector('input[data-show="${what}"]').click()`);
  await page.value(frames);
  const after = await page.value("document.querySelector('figure.timeline canvas').toDataURL()");
  assert.notEqual(after, before, `switching '${what}' changes nothing`);
}

async function zooms(page) {
  assert.ok(await page.value(inked) > 3, "the timeline is empty");
  const whole = await page.value(view), half = await press(page, "in");
  assert.ok(Math.abs((half.to - half.from) * 2 - (whole.to - whole.from)) < 2, "zooming in halves the time");
  const later = await press(page, "right");
  assert.ok(later.from > half.from, "what is later comes into view");
  assert.deepEqual(await press(page, "all"), whole);
}

async function drags(page) {
  await press(page, "in");
  const before = await page.value(view);
  await page.value("document.querySelector('figure.timeline').scrollIntoView()");
  const { x, y } = await page.value(`(({left, top}) => ({x: left + 400, y: top + 60}))(
    document.querySelector("figure.timeline canvas").getBoundingClientRect())`);
  await page.mouse("mousePressed", x, y, { button: "left", buttons: 1, clickCount: 1 });
  await page.mouse("mouseMoved", x - 80, y, { button: "left", buttons: 1 });
  await page.mouse("mouseReleased", x - 80, y, { button: "left" });
  await page.value(frames);
  assert.ok((await page.value(view)).from > before.from, "dragging to the left shows what is later");
  await page.mouse("mouseWheel", x, y, { deltaX: 0, deltaY: -100, modifiers: 2 });
  await page.value(frames);
  const after = await page.value(view);
  assert.ok(after.to - after.from < before.to - before.from, "Ctrl and wheel zoom");
  await press(page, "all");
}

async function tells(page) {
  await page.value("document.querySelector('figure.timeline').scrollIntoView()");
  const said = await page.value(`(() => {
    const timeline = document.querySelector("figure.timeline").timeline, run = timeline.runs[0];
    const bar = run.kind.findIndex((kind) => kind === 0);
    return timeline.describe([run, bar]);
  })()`);
  assert.match(said, /^rank \d+: send to rank \d+, [\d,]+ elements?, step \d+, round \d+; .* from .* to /);
}

async function fits(page) {
  const { inner, wide } = await page.value(
    "({inner: innerWidth, wide: document.documentElement.scrollWidth})");
  assert.ok(wide <= inner, `the page is ${wide} wide in a window of ${inner}`);
}

/** The share of the picture before that is seen: what its clipping leaves. */
const seenBefore = `(() => {
  const clip = getComputedStyle(document.querySelector("figure.compare .before")).clipPath;
  return clip === "none" ? 1 : 1 - Number(/([\\d.]+)%/.exec(clip)[1]) / 100;
})()`;

async function slides(page) {
  assert.equal(await page.value(seenBefore), 0.5);
  await page.value(`(() => {
    const slider = document.querySelector("figure.compare input");
    slider.value = 20;
    slider.dispatchEvent(new Event("input"));
  })()`);
  assert.ok(Math.abs(await page.value(seenBefore) - 0.2) < 1e-9, "the slider moves the line");
  await page.value("document.querySelector('figure.compare').scrollIntoView()");
  const { left, top, width } = await page.value(`(({left, top, width}) => ({left, top, width}))(
    document.querySelector("figure.compare .both").getBoundingClientRect())`);
  await page.mouse("mousePressed", left + 0.4 * width, top + 30, { button: "left", buttons: 1, clickCount: 1 });
  await page.mouse("mouseMoved", left + 0.75 * width, top + 30, { button: "left", buttons: 1 });
  await page.mouse("mouseReleased", left + 0.75 * width, top + 30, { button: "left" });
  assert.ok(Math.abs(await page.value(seenBefore) - 0.75) < 0.02, "dragging on the pictures moves it, too");
}

async function drawsCurves(page) {
  const paths = await page.value("[...document.querySelectorAll('path.curve[d^=M]')].map((path) => path.getTotalLength())");
  assert.ok(paths.filter((length) => length > 500).length >= 8, `curves of lengths ${paths}`);
  assert.ok(await page.value("document.querySelectorAll('rect.bar').length") > 1, "nobody worked");
}

async function standsOnPaper(page) {
  await page.send("Emulation.setEmulatedMedia", { media: "print" });
  assert.equal(await page.value(seenBefore), 1, "on paper both pictures are whole");
  const [before, after] = await page.value(`["before", "after"].map((name) =>
    document.querySelector("figure.compare ." + name).getBoundingClientRect().left)`);
  assert.ok(before < after, "on paper they stand beside each other");
}

/** Zooms several times. Returns, for each zoom, the milliseconds until it is shown, the number of drawings of the
    canvas, their rectangles, and the lanes and bars in view. */
const countedZooms = `(async () => {
  const timeline = document.querySelector("figure.timeline").timeline;
  const calls = {};
  for (const name of ["clearRect", "fillRect"]) {
    const call = CanvasRenderingContext2D.prototype[name];
    timeline.pen[name] = function (...where) { ++calls[name]; call.apply(this, where); };
  }
  const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const counts = [];
  for (const factor of [1.5, 2, 2, 3, 0.5, 0.3, 1.7, 2, 0.2]) {
    calls.clearRect = calls.fillRect = 0;
    const begin = performance.now();
    timeline.zoom(factor);
    await shown();
    const milliseconds = performance.now() - begin;
    const [run] = timeline.runs, {from, to, lane, height} = timeline, lanes = Math.ceil(height / lane);
    const bars = run.begin.filter((begin, bar) => begin <= to && begin + run.length[bar] >= from &&
                                                  timeline.places[0][run.rank[bar]] < lanes).length;
    counts.push({milliseconds, drawings: calls.clearRect, rectangles: calls.fillRect, lanes, bars});
  }
  return counts;
})()`;

/** Replaces the timeline by one with the same number of bars, all in one lane; returns its width in pixels. */
const inOneLane = `(() => {
  const figure = document.querySelector("figure.timeline"), {data, constructor: Timeline} = figure.timeline;
  const [run] = data.runs, all = (value) => run.rank.map(value);
  const one = {...run, ranks: 1, lanes: 1, rows: 1, duration: 10 * run.rank.length, arrows: [], path: [],
               rank: all(() => 0), kind: all(() => 0), row: all(() => 0), begin: all((_, bar) => 10 * bar),
               length: all(() => 9)};
  figure.querySelector("script").textContent = JSON.stringify({...data, runs: [one]});
  figure.timeline = new Timeline(figure);
  return figure.timeline.width;
})()`;

/** Time is printed, and not limited, because it depends on the machine. */
function printTimes(counts) {
  const times = counts.map(({milliseconds}) => milliseconds).sort((a, b) => a - b);
  console.log(`a zoom draws ${Math.max(...counts.map(({rectangles}) => rectangles))} rectangles or fewer: median `
            + `${times[Math.floor(times.length / 2)].toFixed(1)} ms, longest ${times.at(-1).toFixed(1)} ms`);
}

/** A zoom draws once, only what is in view, and no more than pixels can show. */
async function drawsFew(page) {
  const counts = await page.value(countedZooms);
  printTimes(counts);
  for (const {drawings, rectangles, lanes, bars} of counts) {
    assert.equal(drawings, 1, "drawings of a zoom");
    assert.ok(bars > 0 && rectangles <= bars + lanes, `${rectangles} rectangles for ${bars} bars in ${lanes} lanes`);
  }
  const width = await page.value(inOneLane);
  await page.value(frames);
  const dense = await page.value(countedZooms);
  printTimes(dense);
  for (const {drawings, rectangles, bars} of dense) {
    assert.equal(drawings, 1, "drawings of a zoom");
    assert.ok(bars > 2 * width && rectangles > 1 && rectangles <= 2 * width,
              `${rectangles} rectangles for ${bars} bars in ${width} pixels`);
  }
}

/** Every picture of the page could be read, and is as wide as something. */
async function showsPictures(page) {
  const wide = await page.value(`Promise.all([...document.querySelectorAll("main img, main svg image")].map(async (shown) => {
    const image = new Image();
    image.src = shown.src ?? shown.href.baseVal;
    await image.decode();
    return Math.min(image.naturalWidth, shown.getBoundingClientRect().width);
  }))`);
  assert.ok(wide.length > 0 && wide.every((width) => width > 4), `pictures of widths ${wide}`);
}

async function outlines(page) {
  await showsPictures(page);
  const paths = await page.value("[...document.querySelectorAll('.outlined path')].map((path) => path.getTotalLength())");
  assert.ok(paths.length > 1 && Math.max(...paths) > 10, `contours of lengths ${paths}`);
}

/** Every chart has marks, all within it, and says what it is. */
async function charts(page) {
  const drawn = await page.value(`[...document.querySelectorAll("main svg")].map((svg) => {
    const frame = svg.getBoundingClientRect();
    const outside = ({left, top, right, bottom}) => left < frame.left - 2 || right > frame.right + 2 ||
                                                    top < frame.top - 2 || bottom > frame.bottom + 2;
    const all = [...svg.querySelectorAll("circle, rect, path, text, line")];
    return {
      title: svg.closest("figure, section")?.querySelector("h2, h3, figcaption, title")?.textContent ?? "",
      wide: frame.width,
      marks: svg.querySelectorAll("circle, rect, path").length,
      told: [...svg.querySelectorAll("title")].filter((title) => title.textContent.trim()).length,
      strange: /NaN|Infinity|undefined/.test(svg.outerHTML),
      outside: all.filter((mark) => outside(mark.getBoundingClientRect())).map((mark) => mark.outerHTML.slice(0, 90)),
    };
  }).filter(({wide}) => wide > 100)`);
  assert.ok(drawn.length > 0, "no chart is drawn");
  for (const { title, marks, told, strange, outside } of drawn) {
    assert.ok(marks > 1 && told > 0, `${title}: ${marks} marks, told of ${told}`);
    assert.ok(!strange, `${title}: a place that is no number`);
    assert.deepEqual(outside, [], `${title}: outside of its chart`);
  }
}

/** What folds away a table opens, and the table has rows. */
async function opensTables(page) {
  const rows = await page.value(`[...document.querySelectorAll("main details")].map((details) => {
    details.querySelector("summary").click();
    return details.open ? [...details.querySelectorAll("tbody tr, table tr")].filter((row) => row.offsetHeight > 0).length : 0;
  })`);
  assert.ok(rows.length > 0 && rows.every((count) => count > 1), `rows of tables: ${rows}`);
}

const at = (name) => pathToFileURL(`${folder}/${name}.html`).href;
const phone = { width: 390, height: 844, phone: true };
await withBrowser(chromium, async (browser) => {
  await check("composite", await browser.open(at("composite")), async (page) => {
    await zooms(page);
    await drags(page);
    await tells(page);
    await toggle(page, "arrows");
    await toggle(page, "path");
    await fits(page);
  });
  await check("composite dark", await browser.open(at("composite"), { dark: true }), async (page) => {
    assert.ok(await page.value(inked) > 3, "the timeline is empty");
    assert.equal(await page.value("getComputedStyle(document.documentElement).backgroundColor"), "rgb(21, 24, 29)");
  });
  await check("composite on a phone", await browser.open(at("composite"), phone),
              fits);
  await check("comparison", await browser.open(at("comparison")), async (page) => {
    await zooms(page);
    await toggle(page, "apart");
    await fits(page);
  });
  await check("series", await browser.open(at("out/series")), async (page) => {
    await slides(page);
    await drawsCurves(page);
    await fits(page);
  });
  await check("series dark", await browser.open(at("out/series"), { dark: true }), drawsCurves);
  await check("series on a phone", await browser.open(at("out/series"), phone), fits);
  await check("series on paper", await browser.open(at("out/series")), standsOnPaper);
  await check("both on a page", await browser.open(at("both")), async (page) => {
    await zooms(page);
    await slides(page);
    await page.value("document.querySelector('nav a:last-child').click()");
    assert.ok(await page.value("document.querySelector('article:last-of-type').getBoundingClientRect().top") < 100,
              "the link leads to the second run");
    await fits(page);
  });
  for (const [name, shows] of [["contours", outlines], ["label", showsPictures], ["volume", showsPictures],
                               ["filtered", showsPictures],
                               ["filter", showsPictures]]) {
    await check(name, await browser.open(at(name)), shows);
    await check(`${name} dark`, await browser.open(at(name), { dark: true }), shows);
    await check(`${name} on a phone`, await browser.open(at(name), phone), fits);
  }
  await check("contours' merging", await browser.open(at("contours")), zooms);
  for (const name of ["bench-composite", "bench-filter", "bench-scan"]) {
    await check(name, await browser.open(at(name)), charts);
    await check(`${name} dark`, await browser.open(at(name), { dark: true }), charts);
    await check(`${name} tables`, await browser.open(at(name)), opensTables);
    await check(`${name} on a phone`, await browser.open(at(name), phone), fits);
  }
  await check("many events", await browser.open(at("many")), drawsFew);
});
console.log(`${passed} passed, 0 failed`);
