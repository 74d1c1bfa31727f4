// Arrows of the flow graph are thin: each gets a wide, invisible one on top that can be clicked.
for (const arrow of element.querySelectorAll("path[data-edge]")) {
  const wide = arrow.cloneNode(true);
  wide.setAttribute("stroke", "transparent");
  wide.setAttribute("stroke-width", "14");
  wide.removeAttribute("marker-end");
  wide.style.cursor = "pointer";
  arrow.after(wide);
  wide.addEventListener("pointerenter", () => arrow.setAttribute("stroke", "#0369a1"));
  wide.addEventListener("pointerleave", () => arrow.setAttribute("stroke", "#7a869a"));
  wide.addEventListener("click", () => trigger("select", { id: arrow.dataset.edge }));
}
