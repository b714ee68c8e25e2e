// Mends what the theme leaves out for keyboards and screen readers.

function nameLandmarks() {
  document.querySelectorAll(".md-code__nav:not([role])").forEach((nav) => nav.setAttribute("role", "none"));
  document.querySelectorAll("nav.md-path").forEach((nav) => nav.setAttribute("aria-label", "Breadcrumb"));
  document.querySelectorAll(".md-sidebar--secondary nav nav[aria-label]:not([data-named])").forEach((nav, number) => {
    nav.dataset.named = "";
    nav.setAttribute("aria-label", `On this page, ${number + 1}: ${nav.getAttribute("aria-label")}`);
  });
}

function mendTables() {
  document.querySelectorAll("th:empty").forEach((header) => header.replaceWith(document.createElement("td")));
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((wrap) => (wrap.tabIndex = 0));
}

function mend() {
  nameLandmarks();
  mendTables();
}

document.addEventListener("DOMContentLoaded", () => {
  mend();
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
});
