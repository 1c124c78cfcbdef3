// Shows a series while it is registered. Events:
//   average  {"width", "height", "grey"}: the shades of the average, as bytes in Base64
//   frames   a list of [number, right, down, clockwise, flag], sent in parts
//   state    {"frames", "taken", "averaged", "behind", "ended"}: numbers of frames; the last is true at the end
"use strict";
(() => {
  const of = (id) => document.getElementById(id);
  const colours = ["#2a6fc4", "#d9822b"], mostFlags = 50;
  let frames = [], flags = 0, ended = false;

  const showAverage = ({ width, height, grey }) => {
    const canvas = of("average"), bytes = atob(grey);
    canvas.width = width;
    canvas.height = height;
    canvas.style.maxWidth = "100%";
    const context = canvas.getContext("2d"), image = context.createImageData(width, height);
    for (let i = 0; i < bytes.length; ++i) {
      image.data.fill(bytes.charCodeAt(i), 4 * i, 4 * i + 3);
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  };

  // Draws columns of the frames as lines, at most two points per pixel.
  const draw = (id, columns) => {
    const canvas = of(id), ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext("2d"), step = Math.max(1, Math.ceil(frames.length / width / 2));
    context.scale(ratio, ratio);
    const good = frames.filter((frame, i) => i % step === 0 && !frame[4]);
    const values = good.flatMap((frame) => columns.map((column) => frame[column]));
    const least = Math.min(0, ...values), most = Math.max(1e-3, ...values), left = 48, margin = 12;
    const y = (value) => margin + ((most - value) / (most - least)) * (height - 2 * margin);
    const x = (frame) => left + (frame / Math.max(1, frames.length - 1)) * (width - left - margin);
    context.font = "12px system-ui";
    context.fillStyle = context.strokeStyle = getComputedStyle(document.body).color;
    for (const value of [least, most]) context.fillText(value.toFixed(2), 0, y(value) + 4);
    context.globalAlpha = 0.25;
    context.strokeRect(left, y(0), width - left - margin, 0);
    context.globalAlpha = 1;
    columns.forEach((column, i) => {
      context.strokeStyle = colours[i];
      context.beginPath();
      for (const frame of good) context.lineTo(x(frame[0]), y(frame[column]));
      context.stroke();
    });
  };
  const drawAll = () => {
    draw("drift", [1, 2]);
    draw("rotation", [3]);
  };

  const addFrames = (fresh) => {
    frames = frames.concat(fresh);
    for (const [number, , , , flag] of fresh) {
      if (!flag || ++flags > mostFlags) continue;
      const row = of("flags").insertRow();
      row.insertCell().textContent = number;
      row.insertCell().textContent = flag;
    }
    drawAll();
  };

  const showState = (state) => {
    ended = state.ended;
    const behind = state.behind > 1 ? `, ${state.behind} frames behind` : "";
    of("status").textContent = ended ? `the series has ended after ${state.frames} frames; the results follow`
                                     : `${state.taken} of ${state.frames} frames registered${behind}`;
    of("caption").textContent = `${state.averaged} frames averaged`;
  };

  const events = new EventSource("events");
  events.addEventListener("open", () => {
    frames = [];
    flags = 0;
    of("flags").replaceChildren();
  });
  events.addEventListener("average", (event) => showAverage(JSON.parse(event.data)));
  events.addEventListener("frames", (event) => addFrames(JSON.parse(event.data)));
  events.addEventListener("state", (event) => showState(JSON.parse(event.data)));
  events.addEventListener("error", () => {
    if (ended) events.close();
    else of("status").textContent = "no connection";
  });
  window.addEventListener("resize", drawAll);
})();
