"use strict";
(() => {
  const every = (selector) => [...document.querySelectorAll(selector)];
  const reveal = () => {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return;
    }
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  const outline = document.querySelector(".outline");
  if (outline && matchMedia("(max-width: 70rem)").matches) outline.open = false;
  const bar = document.createElement("p");
  bar.className = "tools";
  for (const [text, open] of [["Unfold all", true], ["Fold all", false]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => every("main details").forEach((one) => !one.closest("[hidden]") && (one.open = open)));
    bar.append(button);
  }
  const top = document.querySelector(".top");
  if (top && document.querySelector("main details")) top.append(bar);
  const form = document.querySelector(".filters");
  if (form) {
    const { outcome, model, words } = form.elements;
    const said = form.querySelector("output");
    const tasks = every(".results tbody tr").map((row) => ({
      row, story: document.getElementById(row.dataset.task), text: row.textContent.toLowerCase(),
    }));
    const filter = () => {
      const wanted = words.value.toLowerCase().split(" ").filter((word) => word);
      let count = 0;
      for (const { row, story, text } of tasks) {
        const fits = (!outcome.value || row.dataset.outcome === outcome.value)
          && (!model.value || row.dataset.model === model.value) && wanted.every((word) => text.includes(word));
        row.hidden = story.hidden = !fits;
        count += fits;
      }
      said.textContent = `${count} of ${tasks.length} ${tasks.length === 1 ? "task" : "tasks"}`;
    };
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(filter));
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = event.target.closest("input, select, textarea");
      if (event.key === "/" && !typing) {
        event.preventDefault();
        words.focus();
      } else if (event.key === "Escape") {
        form.reset();
        filter();
      }
    });
    form.hidden = false;
    filter();
  }
  addEventListener("hashchange", reveal);
  reveal();
})();
