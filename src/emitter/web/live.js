(() => {
  let isLoading = false, isStale = false;
  async function load() {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (!fresh || old.isEqualNode(fresh)) continue;
      if (old.getAttribute("role") === "status") { old.textContent = fresh.textContent; continue; }
      const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
      old.replaceWith(document.importNode(fresh, true));
      if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    }
  }
  async function refresh() {
    isStale = true;
    if (isLoading) return;
    isLoading = true;
    try {
      while (isStale) { isStale = false; await load(); }
    } catch { /* the next event tries again */ }
    isLoading = false;
  }
  new EventSource(document.currentScript.dataset.events).addEventListener("changed", refresh);
})();
