// One key per answer, while the tab to label is open and nobody types.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const at = document.activeElement;
  if (at && (at.tagName === "TEXTAREA" || (at.tagName === "INPUT" && at.type !== "checkbox" && at.type !== "radio"))) return;
  const button = document.querySelector(`#answer-${CSS.escape(event.key.toLowerCase())}`);
  if (!button || !button.offsetParent || button.disabled) return;
  event.preventDefault();
  button.click();
});
