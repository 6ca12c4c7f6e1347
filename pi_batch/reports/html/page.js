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
    button.addEventListener("click", () => every("main details").forEach((one) => (one.open = open)));
    bar.append(button);
  }
  const top = document.querySelector(".top");
  if (top && document.querySelector("main details")) top.append(bar);
  addEventListener("hashchange", reveal);
  reveal();
})();
