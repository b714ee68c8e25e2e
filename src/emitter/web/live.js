(() => {
  let isLoading = false, isStale = false;
  async function load() {
    const response = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (!fresh || old.isEqualNode(fresh)) continue;
      if (old.getAttribute("role") === "status") { old.textContent = fresh.textContent; continue; }
      const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
      old.replaceWith(document.importNode(fresh, true));
      if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    }
    // Nobody can answer any more. What was typed stays, so that it can be copied.
    if (page.querySelector("[data-closed]"))
      for (const control of document.querySelectorAll("form :is(button, input, select, textarea)")) {
        if (control.localName === "textarea") control.readOnly = true; else control.disabled = true;
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
