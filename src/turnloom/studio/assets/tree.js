// The hierarchy of groups: a list of buttons. Names are text, never markup.
const closed = new Set();
let known = new Set();

function button(label, text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

function item(row, children) {
  const made = document.createElement("li");
  const line = document.createElement("div");
  line.className = "line" + (row.intent ? " intent" : "");
  line.style.setProperty("--depth", row.depth);
  if (row.leaf) {
    const spot = document.createElement("span");
    spot.className = "spot";
    spot.style.background = row.colour;
    line.append(spot);
  } else {
    const open = !closed.has(row.id);
    const toggle = button(`${open ? "Close" : "Open"} ${row.name}`, open ? "▾" : "▸", () => {
      open ? closed.add(row.id) : closed.delete(row.id);
      render();
    });
    toggle.className = "toggle";
    toggle.setAttribute("aria-expanded", String(open));
    line.append(toggle);
  }
  const pick = button("", "", () => trigger("select", { id: row.id }));
  pick.className = "pick";
  pick.dataset.group = row.id;
  if (row.id === props.value.selected) pick.setAttribute("aria-current", "true");
  const name = document.createElement("bdi");
  name.textContent = row.name;
  pick.append(name);
  if (row.intent) {
    const badge = document.createElement("span");
    badge.className = "badge";
    badge.textContent = "intent";
    pick.append(" ", badge);
  }
  const count = document.createElement("span");
  count.className = "count";
  count.textContent = row.count.toLocaleString("en");
  pick.append(" ", count);
  line.append(pick);
  made.append(line);
  if (children.length && !closed.has(row.id)) made.append(list(children));
  return made;
}

function list(rows) {
  const made = document.createElement("ul");
  for (let at = 0; at < rows.length; ) {
    let end = at + 1;
    while (end < rows.length && rows[end].depth > rows[at].depth) end++;
    made.append(item(rows[at], rows.slice(at + 1, end)));
    at = end;
  }
  return made;
}

function render() {
  const frame = element.querySelector(".tree");
  if (!frame || !props.value) return;
  const above = frame.scrollTop;
  const focused = frame.contains(document.activeElement) ? document.activeElement.dataset.group : null;
  frame.replaceChildren(list(props.value.rows));
  frame.scrollTop = above;
  if (focused) frame.querySelector(`[data-group="${focused}"]`)?.focus();
  const current = frame.querySelector("[aria-current]");
  if (current) {
    const gap = current.offsetTop - frame.offsetTop;
    if (gap < frame.scrollTop || gap > frame.scrollTop + frame.clientHeight - 30) frame.scrollTop = gap - 60;
  }
}

watch("value", render);
render();
