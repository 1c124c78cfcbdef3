// SPDX-License-Identifier: BSD-3-Clause
//
// Draws the timelines of a page, the activities of ranks over time, on a canvas with zoom. Each
// figure of class "timeline" holds its data as JSON; report/run_comparison.cpp writes both.
"use strict";
(() => {
  const kinds = ["send", "receive", "fold", "copy", "compute", "wait"];
  const gutter = 96, axis = 24, tallest = 560, mostArrows = 2000;
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

  const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

  function unitOf(seconds) {
    return units.find(([size]) => seconds >= 0.9995 * size) || units[units.length - 1];
  }

  function timeToText(seconds) {
    const [size, name] = unitOf(Math.abs(seconds));
    return seconds === 0 ? "0 s" : `${Number((seconds / size).toPrecision(3))} ${name}`;
  }

  function counted(number, thing) {
    return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
  }

  /** Returns the index of the first element of a sorted array that is not below `value`. */
  function lowerBound(sorted, value) {
    let first = 0, last = sorted.length;
    while (first < last) {
      const middle = (first + last) >> 1;
      if (sorted[middle] < value) first = middle + 1;
      else last = middle;
    }
    return first;
  }

  /** Returns the name of a lane: "rank 3" or "ranks 12-15". */
  function laneName(run, lane) {
    const first = lane * run.shared, last = Math.min(first + run.shared, run.ranks) - 1;
    return first === last ? `rank ${first}` : `ranks ${first}-${last}`;
  }

  /** Returns lists of bars by lane (`rank`) and kind, sorted by begin to find visible bars fast. */
  function byRankAndKind(run) {
    const lists = Array.from({length: run.lanes}, () => kinds.map(() => ({bars: [], longest: 0})));
    run.rank.forEach((rank, bar) => {
      const list = lists[rank][run.kind[bar]];
      list.bars.push(bar);
      list.longest = Math.max(list.longest, run.length[bar]);
    });
    for (const rank of lists)
      for (const list of rank) list.begin = Float64Array.from(list.bars, (bar) => run.begin[bar]);
    return lists;
  }

  class Timeline {
    constructor(figure) {
      this.figure = figure;
      this.box = figure.querySelector(".lanes");
      this.canvas = figure.querySelector("canvas");
      this.says = figure.querySelector("output");
      this.usual = this.says.textContent;
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.runs = this.data.runs.map((run) => ({...run, lists: byRankAndKind(run)}));
      this.whole = Math.max(1, ...this.runs.map((run) => run.duration));
      this.from = 0;
      this.to = this.whole;
      this.pointers = new Map();
      this.listen();
      this.arrange();
    }

    shows(what) {
      const toggle = this.figure.querySelector(`input[data-show="${what}"]`);
      return toggle !== null && toggle.checked;
    }

    /** Sets the order of lanes: all runs of a rank together or, on request, all ranks of a run. */
    arrange() {
      const lanes = [];
      const ranks = Math.max(...this.runs.map((run) => run.lanes));
      if (this.shows("apart")) {
        this.runs.forEach((run, i) => {
          for (let rank = 0; rank < run.lanes; ++rank) lanes.push({run: i, rank, first: rank === 0});
        });
      } else {
        for (let rank = 0; rank < ranks; ++rank)
          this.runs.forEach((run, i) => {
            if (rank < run.lanes) lanes.push({run: i, rank, first: i === 0});
          });
      }
      this.lanes = lanes;
      this.lane = clamp(tallest / lanes.length, 9, 44);
      this.places = this.runs.map((run) => new Int32Array(run.lanes));
      lanes.forEach((lane, place) => { this.places[lane.run][lane.rank] = place; });
      this.resize();
    }

    resize() {
      const whole = Math.ceil(this.lanes.length * this.lane) + axis;
      const height = Math.min(whole, tallest + axis);
      const ratio = window.devicePixelRatio || 1;
      this.box.style.height = `${height + this.box.offsetHeight - this.box.clientHeight}px`;
      this.box.querySelector(".space").style.height = `${whole - height}px`;
      this.width = this.box.clientWidth;
      this.height = height;
      this.canvas.width = Math.round(this.width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${height}px`;
      this.pen = this.canvas.getContext("2d");
      this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.draw();
    }

    x(time) { return gutter + (time - this.from) * (this.width - gutter) / (this.to - this.from); }
    time(x) { return this.from + (x - gutter) * (this.to - this.from) / (this.width - gutter); }
    y(place) { return axis + place * this.lane - this.box.scrollTop; }

    /** Returns the y position of the line between the messages and the work of a lane. */
    wire(run, rank) { return this.y(this.places[run][rank]) + 0.52 * this.lane; }

    redraw() {
      if (this.asked) return;
      this.asked = true;
      requestAnimationFrame(() => {
        this.asked = false;
        this.draw();
      });
    }

    draw() {
      const style = getComputedStyle(this.figure);
      this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
      this.pen.clearRect(0, 0, this.width, this.height);
      const first = Math.max(0, Math.floor(this.box.scrollTop / this.lane));
      const last = Math.min(this.lanes.length, Math.ceil((this.box.scrollTop + this.height) / this.lane));
      this.drawLanes(first, last);
      this.drawAxis();
      this.pen.save();
      this.pen.beginPath();
      this.pen.rect(gutter, axis, this.width - gutter, this.height - axis);
      this.pen.clip();
      for (let kind = kinds.length - 1; kind >= 0; --kind) this.drawKind(kind, first, last);
      this.crowded = this.shows("arrows") && !this.drawArrows(first, last);
      if (this.shows("path")) this.drawPaths();
      this.pen.restore();
      this.say();
    }

    drawLanes(first, last) {
      const pen = this.pen;
      pen.font = "11px system-ui, sans-serif";
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      let free = axis;
      for (let place = first; place < last; ++place) {
        const lane = this.lanes[place], y = this.y(place);
        if (lane.rank % 2 === 0) {
          pen.fillStyle = this.colour("soft");
          pen.fillRect(gutter, Math.max(y, axis), this.width - gutter, y + this.lane - Math.max(y, axis));
        }
        const middle = y + this.lane / 2;
        if (middle < free + 6) continue;
        const several = this.runs.length > 1;
        const whole = lane.first || this.lane < 12 || this.shows("apart");
        const own = laneName(this.runs[lane.run], lane.rank);
        const name = several ? `${whole ? `${own} · ` : "· "}${lane.run + 1}` : own;
        pen.fillStyle = this.colour(lane.first ? "ink" : "quiet");
        pen.fillText(name, gutter - 8, middle);
        free = middle + 6;
      }
    }

    drawAxis() {
      const pen = this.pen, seconds = (this.to - this.from) * this.data.tick;
      const about = seconds * 90 / Math.max(this.width - gutter, 90);
      const power = 10 ** Math.floor(Math.log10(about));
      const step = [1, 2, 5, 10].find((factor) => factor * power >= about) * power;
      const [size, unit] = unitOf(this.to * this.data.tick);
      const digits = clamp(-Math.floor(Math.log10(step / size) + 1e-9), 0, 9);
      pen.textAlign = "center";
      pen.fillStyle = this.colour("quiet");
      pen.strokeStyle = this.colour("line");
      pen.lineWidth = 1;
      pen.beginPath();
      for (let i = Math.ceil(this.from * this.data.tick / step); ; ++i) {
        const x = this.x(i * step / this.data.tick);
        if (x > this.width) break;
        pen.moveTo(x, axis);
        pen.lineTo(x, this.height);
        if (x < this.width - 24) pen.fillText((i * step / size).toFixed(digits), x, axis / 2);
      }
      pen.stroke();
      pen.textAlign = "right";
      pen.fillText(`time, ${unit}`, gutter - 8, axis / 2);
    }

    /** Returns the top and the height of a bar within its lane. */
    extent(run, bar) {
      if (run.kind[bar] > 1) return [0.56 * this.lane, 0.36 * this.lane];
      const row = 0.46 * this.lane / run.rows;
      return [0.5 * this.lane - (run.row[bar] + 1) * row, Math.max(0.88 * row, 0.6)];
    }

    drawKind(kind, first, last) {
      this.pen.fillStyle = this.colour(kinds[kind]);
      for (let place = first; place < last; ++place) {
        const {run: i, rank} = this.lanes[place], run = this.runs[i], list = run.lists[rank][kind];
        const top = this.y(place);
        // Bars that end within the last bar drawn in the same row are skipped.
        let drawn = -1, row = -1;
        for (let k = lowerBound(list.begin, this.from - list.longest); k < list.bars.length; ++k) {
          const bar = list.bars[k], begin = list.begin[k], end = begin + run.length[bar];
          if (begin > this.to) break;
          const right = this.x(end);
          if (end < this.from || (right < drawn && run.row[bar] === row)) continue;
          const x = Math.max(this.x(begin), gutter), [y, height] = this.extent(run, bar);
          const width = Math.max(Math.min(right, this.width) - x, 0.7);
          this.pen.fillRect(x, top + y, width, height);
          drawn = width < 1 ? x + 0.7 : right;
          row = run.row[bar];
        }
      }
    }

    /** Draws the arrows in view. Returns false, and draws none, if there are too many to distinguish. */
    drawArrows(first, last) {
      const seen = [];
      const shown = (place) => place >= first && place < last;
      for (const [i, run] of this.runs.entries()) {
        const a = run.arrows;
        for (let k = 0; k < a.length; k += 4) {
          if (a[k + 3] < this.from || a[k + 1] > this.to) continue;
          if (!shown(this.places[i][a[k]]) && !shown(this.places[i][a[k + 2]])) continue;
          if (seen.push([i, k]) > mostArrows) return false;
        }
      }
      const pen = this.pen;
      pen.strokeStyle = this.colour("arrow");
      pen.lineWidth = 1;
      pen.beginPath();
      for (const [i, k] of seen) {
        const a = this.runs[i].arrows;
        this.drawArrow(this.x(a[k + 1]), this.wire(i, a[k]), this.x(a[k + 3]), this.wire(i, a[k + 2]));
      }
      pen.stroke();
      return true;
    }

    drawArrow(x1, y1, x2, y2) {
      const angle = Math.atan2(y2 - y1, x2 - x1), head = Math.min(6, Math.hypot(x2 - x1, y2 - y1) / 3);
      this.pen.moveTo(x1, y1);
      this.pen.lineTo(x2, y2);
      for (const side of [-0.45, 0.45]) {
        this.pen.moveTo(x2, y2);
        this.pen.lineTo(x2 - head * Math.cos(angle + side), y2 - head * Math.sin(angle + side));
      }
    }

    drawPaths() {
      const pen = this.pen;
      pen.strokeStyle = this.colour("path");
      pen.lineWidth = 2;
      pen.lineJoin = "round";
      pen.beginPath();
      this.runs.forEach((run, i) => {
        for (let k = 0; k < run.path.length; k += 2) {
          const x = this.x(run.path[k + 1]), y = this.wire(i, run.path[k]);
          if (k === 0) pen.moveTo(x, y);
          else pen.lineTo(x, y);
        }
      });
      pen.stroke();
    }

    /** Returns the bar within two pixels of a point as [run, bar], or null; bars can be thin. */
    at(x, y) {
      const place = Math.floor((y - axis + this.box.scrollTop) / this.lane);
      const lane = this.lanes[place];
      if (!lane || x < gutter || y < axis) return null;
      const run = this.runs[lane.run], near = this.time(x + 2) - this.time(x), time = this.time(x);
      for (const list of run.lists[lane.rank]) {
        for (let k = lowerBound(list.begin, time - near - list.longest); k < list.bars.length; ++k) {
          const bar = list.bars[k], [top, height] = this.extent(run, bar);
          if (list.begin[k] > time + near) break;
          const inside = y - this.y(place) - top;
          if (list.begin[k] + run.length[bar] >= time - near && inside >= -1 && inside <= height + 1)
            return [run, bar];
        }
      }
      return null;
    }

    describe([run, bar]) {
      const kind = kinds[run.kind[bar]], tick = this.data.tick;
      const whom = {send: ` to rank ${run.peer[bar]}`, receive: ` from rank ${run.peer[bar]}`}[kind] || "";
      const what = run.events[bar] > 1 ? `${counted(run.events[bar], kind)}` : `${kind}${whom}`;
      const size = kind === "wait" ? "" : `, ${counted(run.elements[bar], "element")}`;
      const which = kind === "wait" || run.events[bar] > 1 ? "" : `, step ${run.step[bar]}, round ${run.round[bar]}`;
      const begin = run.begin[bar] * tick, length = run.length[bar] * tick;
      return `${laneName(run, run.rank[bar])}: ${what}${size}${which}; ${timeToText(length)} from ${timeToText(begin)} `
           + `to ${timeToText(begin + length)} (${run.name})`;
    }

    say() {
      const hint = this.crowded ? "Too many messages in view for arrows: zoom in. " : "";
      this.says.textContent = this.pointed ? this.describe(this.pointed) : hint + this.usual;
    }

    /** Reduces the visible time span by `factor`, keeping the time `around` in place. */
    zoom(factor, around = (this.from + this.to) / 2) {
      const span = clamp((this.to - this.from) / factor, Math.min(this.whole, 20), this.whole);
      this.show(around - (around - this.from) * span / (this.to - this.from), span);
    }

    pan(by) { this.show(this.from + by, this.to - this.from); }

    show(from, span) {
      this.from = clamp(from, 0, this.whole - span);
      this.to = this.from + span;
      this.redraw();
    }

    does(what) {
      const step = (this.to - this.from) / 4;
      const actions = {in: () => this.zoom(2), out: () => this.zoom(0.5), all: () => this.show(0, this.whole),
                       left: () => this.pan(-step), right: () => this.pan(step)};
      actions[what]();
    }

    listen() {
      for (const button of this.figure.querySelectorAll("button[data-do]"))
        button.addEventListener("click", () => this.does(button.dataset.do));
      for (const toggle of this.figure.querySelectorAll("input[data-show]"))
        toggle.addEventListener("change", () => this.arrange());
      const keys = {"+": "in", "=": "in", "-": "out", "0": "all", ArrowLeft: "left", ArrowRight: "right"};
      this.box.addEventListener("keydown", (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        this.does(keys[event.key]);
      });
      this.box.addEventListener("scroll", () => this.redraw());
      this.box.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
      this.canvas.addEventListener("dblclick", (event) => this.zoom(2, this.time(event.offsetX)));
      for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel", "pointerleave"])
        this.canvas.addEventListener(name, (event) => this.point(event));
      new ResizeObserver(() => {
        if (this.box.clientWidth !== this.width) this.resize();
      }).observe(this.box);
      for (const query of ["(prefers-color-scheme: dark)", "print"])
        matchMedia(query).addEventListener("change", () => this.draw());
    }

    wheel(event) {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey && !sideways) return;
      event.preventDefault();
      if (event.ctrlKey || event.metaKey)
        this.zoom(Math.exp(-0.004 * clamp(event.deltaY, -200, 200)), this.time(event.offsetX));
      else
        this.pan((sideways ? event.deltaX : event.deltaY) * (this.to - this.from) / this.width);
    }

    /** Handles pointers: one pressed drags, two pinch, and one that hovers shows the bar below it. */
    point(event) {
      const here = {x: event.offsetX, y: event.offsetY};
      if (event.type === "pointerdown") {
        this.pointers.set(event.pointerId, here);
        this.canvas.setPointerCapture(event.pointerId);
      } else if (event.type !== "pointermove") {
        this.pointers.delete(event.pointerId);
      } else if (this.pointers.has(event.pointerId)) {
        this.drag(event.pointerId, here, event.pointerType === "mouse");
      }
      const pointed = event.type === "pointerleave" ? null : this.at(here.x, here.y);
      if (pointed === null && !this.pointed) return;
      this.pointed = pointed;
      this.say();
    }

    drag(pointer, here, mouse) {
      const before = this.pointers.get(pointer);
      const other = [...this.pointers].find(([id]) => id !== pointer);
      this.pointers.set(pointer, here);
      if (other) {
        const far = (point) => Math.max(Math.abs(point.x - other[1].x), 8);
        this.zoom(far(here) / far(before), this.time((here.x + other[1].x) / 2));
      } else {
        this.pan(this.time(before.x) - this.time(here.x));
        if (mouse) this.box.scrollTop += before.y - here.y;
      }
    }
  }

  for (const figure of document.querySelectorAll("figure.timeline")) figure.timeline = new Timeline(figure);
})();
