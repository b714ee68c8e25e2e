// Gives each landmark of a page a name of its own, for screen readers.

function nameLandmarks() {
  document.querySelectorAll(".md-code__nav:not([role])").forEach((nav) => nav.setAttribute("role", "none"));
  document.querySelectorAll("nav.md-path").forEach((nav) => nav.setAttribute("aria-label", "Breadcrumb"));
  document.querySelectorAll(".md-sidebar--secondary nav nav[aria-label]:not([data-named])").forEach((nav, number) => {
    nav.dataset.named = "";
    nav.setAttribute("aria-label", `On this page, ${number + 1}: ${nav.getAttribute("aria-label")}`);
  });
}

document.addEventListener("DOMContentLoaded", () => {
  nameLandmarks();
  new MutationObserver(nameLandmarks).observe(document.body, { childList: true, subtree: true });
});
