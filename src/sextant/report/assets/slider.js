// Two images, one over the other, with a movable dividing line: controlled by a slider, or by a
// pointer on the images. report/registration_sections.cpp writes the figures.
"use strict";
(() => {
  for (const figure of document.querySelectorAll("figure.compare")) {
    const slider = figure.querySelector("input"), both = figure.querySelector(".both");
    const place = () => figure.style.setProperty("--at", `${slider.value}%`);
    const follow = (event) => {
      if (event.type === "pointerdown") both.setPointerCapture(event.pointerId);
      else if (!both.hasPointerCapture(event.pointerId)) return;
      const { left, width } = both.getBoundingClientRect();
      slider.value = Math.round(100 * Math.min(Math.max((event.clientX - left) / width, 0), 1));
      place();
    };
    slider.addEventListener("input", place);
    both.addEventListener("pointerdown", follow);
    both.addEventListener("pointermove", follow);
    both.addEventListener("dragstart", (event) => event.preventDefault());
    place();
  }
})();
