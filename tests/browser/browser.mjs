// SPDX-License-Identifier: BSD-3-Clause
// A headless Chromium, spoken to through a pipe in its own protocol: nothing to install but it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Starts a browser, has `work` use it, and ends it. */
export async function withBrowser(program, work) {
  const profile = mkdtempSync(join(tmpdir(), "browser-"));
  const browser = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
    "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe", `--user-data-dir=${profile}`],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => browser.on("exit", resolve));
  const connection = new Connection(browser);
  try {
    return await work(connection);
  } finally {
    // Asked to close, it waits for its other processes, which else go on writing to the profile.
    const closed = connection.send("Browser.close").catch(() => {}).then(() => ended);
    await Promise.race([closed, new Promise((late) => setTimeout(late, 5000).unref())]);
    browser.kill("SIGKILL");
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Connection {
  constructor(browser) {
    this.out = browser.stdio[3];
    this.calls = new Map();
    this.listeners = [];
    let text = "";
    browser.stdio[4].setEncoding("utf8");
    browser.stdio[4].on("data", (chunk) => {
      const messages = (text + chunk).split("\0");
      text = messages.pop();
      for (const message of messages) this.receive(JSON.parse(message));
    });
    browser.on("exit", () => {
      for (const call of this.calls.values()) call.reject(new Error("the browser ended"));
    });
  }

  receive(message) {
    const call = this.calls.get(message.id);
    if (!call) return this.listeners.forEach((listener) => listener(message));
    this.calls.delete(message.id);
    if (message.error) call.reject(new Error(`${call.method}: ${message.error.message}`));
    else call.resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last || (this.last = 1);
    return new Promise((resolve, reject) => {
      this.calls.set(id, { method, resolve, reject });
      this.out.write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  /** Opens a page and waits until it has loaded. */
  async open(url, { width = 1200, height = 900, dark = false, phone = false } = {}) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(`${domain}.enable`);
    await page.send("Emulation.setDeviceMetricsOverride",
                    { width, height, deviceScaleFactor: phone ? 2 : 1, mobile: phone });
    await page.send("Emulation.setEmulatedMedia",
                    { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    const loaded = page.next("Page.loadEventFired");
    await page.send("Page.navigate", { url });
    await loaded;
    return page;
  }
}

/** A page, and all that it complained of or asked for. */
class Page {
  constructor(connection, session) {
    this.connection = connection;
    this.session = session;
    this.complaints = [];
    this.requests = [];
    this.waiting = [];
    connection.listeners.push((message) => {
      if (message.sessionId === session) this.hear(message);
    });
  }

  hear({ method, params }) {
    if (method === "Runtime.exceptionThrown")
      this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type))
      this.complaints.push(params.args.map((arg) => arg.value).join(" "));
    if (method === "Log.entryAdded") this.complaints.push(params.entry.text);
    if (method === "Network.requestWillBeSent" && !params.request.url.startsWith("data:"))
      this.requests.push(params.request.url);
    this.waiting = this.waiting.filter((waiter) => waiter.method !== method || waiter.resolve(params));
  }

  send(method, params) { return this.connection.send(method, params, this.session); }
  next(method) { return new Promise((resolve) => this.waiting.push({ method, resolve })); }

  /** The value of an expression in the page; promises are waited for. */
  async value(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value;
  }

  async mouse(type, x, y, more = {}) {
    await this.send("Input.dispatchMouseEvent", { type, x, y, button: "none", ...more });
  }

  async screenshot(whole = false) {
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: whole });
    return Buffer.from(data, "base64");
  }
}
