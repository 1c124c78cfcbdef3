// SPDX-License-Identifier: BSD-3-Clause
// The page of a series that is followed: it changes with the series, draws the average and the drift, names the flagged
// frame, and says that the series has ended. Usage: live.mjs CHROMIUM URL GATE [FOLDER-FOR-PICTURES]
// The series begins with ten frames; each byte that is added to the file GATE lets one more frame pass.
import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { withBrowser } from "./browser.mjs";

const [chromium, url, gate, pictures] = process.argv.slice(2);
const status = "document.getElementById('status').textContent";
const shades = (id) => `(() => {
  const canvas = document.getElementById("${id}");
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(Array.from(data).filter((_, i) => i % 4 < 3)).size;
})()`;

const letPass = (frames) => appendFileSync(gate, new Uint8Array(frames));

async function until(page, expression) {
  const patience = 60000; // milliseconds
  for (const end = Date.now() + patience; Date.now() < end; ) {
    if (await page.value(expression)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${expression} is not true: ${await page.value(status)}`);
}

await withBrowser(chromium, async (browser) => {
  const page = await browser.open(url);
  const picture = async (name) => {
    if (pictures) writeFileSync(`${pictures}/live-${name}.png`, await page.screenshot(true));
  };
  await until(page, "document.getElementById('average').width === 256");
  const registered = `Number(${status}.match(/^(\\d+) of/)?.[1] ?? 0)`;
  await until(page, `${registered} === 10`);
  const first = await page.value("document.getElementById('average').toDataURL()");
  assert.ok(await page.value(shades("average")) > 100, "the average has shades");
  await picture("early");
  letPass(30);
  await until(page, `${registered} === 40`);
  assert.notEqual(await page.value("document.getElementById('average').toDataURL()"), first, "the average has not changed");
  assert.ok(await page.value(shades("drift")) > 2, "the drift is drawn");
  assert.match(await page.value("document.getElementById('flags').textContent"), /^5the mean is/, "the dark frame");
  await picture("later");

  // A browser that goes away, and comes back while the series goes on.
  await page.send("Page.navigate", { url: "about:blank" });
  const again = await browser.open(url, { phone: true, width: 390, height: 844, dark: true });
  letPass(10);
  await until(again, `${registered} === 50`);
  assert.equal(await again.value("document.documentElement.scrollWidth <= innerWidth"), true, "it fits a phone");
  if (pictures) writeFileSync(`${pictures}/live-phone.png`, await again.screenshot(true));
  letPass(200);
  await until(again, `/^the series has ended after 200 frames/.test(${status})`);
  assert.deepEqual(again.complaints.filter((text) => !/ERR_|404/.test(text)), [], "the page complains");
  for (const request of again.requests) assert.ok(request.startsWith(url), `the page asks for ${request}`);
  console.log("ok: the page of a series that is followed");
});
