// The map: points are blended into an image by hand, which is fast without a graphics card, and names drawn over it.
let points = null; // 16-bit x, y pairs, from 0 to 65535 over the square from -1 to 1.
let groups = null; // The group of each point.
let version = -1;
let view = { x: 0, y: 0, scale: 1 };
let frame = 0;
let drag = null;
let resting = 0;
const colours = new Map();
const texts = new Map();
const GREY = [150, 158, 170];

function colourOf(group) {
  if (!colours.has(group)) {
    const hex = props.value.colours[group];
    colours.set(group, hex ? [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) : GREY);
  }
  return colours.get(group);
}

function stamp(radius) {
  const size = Math.ceil(radius) * 2 + 1, middle = (size - 1) / 2, found = [];
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const cover = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(x - middle, y - middle)));
      if (cover) found.push([x - middle, y - middle, cover]);
    }
  return found;
}

function parts() {
  const canvas = element.querySelector("canvas");
  return canvas ? { canvas, context: canvas.getContext("2d", { willReadFrequently: true }) } : null;
}

function transform(canvas) {
  const unit = (Math.min(canvas.width, canvas.height) / 2) * 0.94 * view.scale;
  return { unit, left: canvas.width / 2 - view.x * unit, top: canvas.height / 2 - view.y * unit };
}

function draw() {
  frame = 0;
  const found = parts();
  if (!found || !points || !groups) return;
  const begun = performance.now();
  const { canvas, context } = found;
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
  if (!width || !height) return;
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const image = context.createImageData(width, height);
  const count = points.length / 2;
  const crowd = Math.max(1, Math.min(4.2, 100 / Math.sqrt(count))) * Math.pow(view.scale, 0.35);
  const dot = stamp(Math.min(7, Math.max(1.1, crowd) * ratio));
  const big = stamp(Math.min(9, Math.max(2.2, crowd * 1.5) * ratio));
  const chosen = new Set(props.value.chosen);
  const hits = new Set(props.value.hits);
  const faded = chosen.size > 0 || hits.size > 0;
  const t = transform(canvas);
  const scale = (2 * t.unit) / 65535, left = t.left - t.unit, top = t.top - t.unit;
  const lively = [];
  for (let at = 0; at < count; at++) {
    const marked = hits.size ? hits.has(at) : chosen.has(groups[at]);
    if (marked) { lively.push(at); continue; }
    blend(image, dot, left + points[2 * at] * scale, top + points[2 * at + 1] * scale,
      faded ? GREY : colourOf(groups[at]), faded ? 0.28 : groups[at] < 0 ? 0.35 : 0.8);
  }
  for (const at of lively)
    blend(image, big, left + points[2 * at] * scale, top + points[2 * at + 1] * scale, colourOf(groups[at]), 0.95);
  context.putImageData(image, 0, 0);
  label(context, t, ratio);
  canvas.dataset.drawn = String((Number(canvas.dataset.drawn) || 0) + 1);
  canvas.dataset.took = (performance.now() - begun).toFixed(1);
}

function blend(image, dot, px, py, colour, strength) {
  const { data, width, height } = image, x0 = Math.round(px), y0 = Math.round(py);
  if (x0 < -9 || y0 < -9 || x0 > width + 9 || y0 > height + 9) return;
  for (const [dx, dy, cover] of dot) {
    const x = x0 + dx, y = y0 + dy;
    if (x < 0 || y < 0 || x >= width || y >= height) continue;
    const at = (y * width + x) * 4, over = cover * strength, under = (data[at + 3] / 255) * (1 - over), sum = over + under;
    data[at] = (colour[0] * over + data[at] * under) / sum;
    data[at + 1] = (colour[1] * over + data[at + 1] * under) / sum;
    data[at + 2] = (colour[2] * over + data[at + 2] * under) / sum;
    data[at + 3] = sum * 255;
  }
}

function label(context, t, ratio) {
  const dark = getComputedStyle(element).colorScheme === "dark" || document.body.classList.contains("dark");
  const taken = [];
  context.font = `600 ${12 * ratio}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  const chosen = new Set(props.value.chosen);
  const names = [...props.value.labels].sort((a, b) => chosen.has(b.id) - chosen.has(a.id));
  for (const { id, name, x, y } of names) {
    if (chosen.size && !chosen.has(id) && view.scale < 2) continue;
    const shown = name.length > 26 ? name.slice(0, 25) + "…" : name;
    const half = context.measureText(shown).width / 2 + 4 * ratio, px = t.left + x * t.unit, py = t.top + y * t.unit;
    if (px < -half || py < 0 || px > context.canvas.width + half || py > context.canvas.height) continue;
    const middle = Math.max(half, Math.min(context.canvas.width - half, px));
    if (taken.some(([a, b, c]) => Math.abs(a - middle) < half + c && Math.abs(b - py) < 16 * ratio)) continue;
    taken.push([middle, py, half]);
    context.lineWidth = 4 * ratio;
    context.strokeStyle = dark ? "rgba(15,23,42,.85)" : "rgba(255,255,255,.9)";
    context.strokeText(shown, middle, py);
    context.fillStyle = dark ? "#f1f5f9" : "#0f172a";
    context.fillText(shown, middle, py);
  }
}

function soon() {
  if (!frame) frame = requestAnimationFrame(draw);
}

function position(event, canvas) {
  const box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width, t = transform(canvas);
  return [((event.clientX - box.left) * ratio - t.left) / t.unit, ((event.clientY - box.top) * ratio - t.top) / t.unit];
}

function zoom(factor, x, y) {
  const scale = Math.max(0.6, Math.min(60, view.scale * factor)), kept = view.scale / scale;
  view = { x: x + (view.x - x) * kept, y: y + (view.y - y) * kept, scale };
  soon();
}

function nearest(event, canvas) {
  const [x, y] = position(event, canvas), wanted = [((x + 1) * 65535) / 2, ((y + 1) * 65535) / 2];
  let best = -1, least = Infinity;
  for (let at = 0; at < points.length / 2; at++) {
    const far = (points[2 * at] - wanted[0]) ** 2 + (points[2 * at + 1] - wanted[1]) ** 2;
    if (far < least) [best, least] = [at, far];
  }
  const ratio = canvas.width / canvas.clientWidth;
  return Math.sqrt(least) * ((2 * transform(canvas).unit) / 65535) < 9 * ratio ? best : -1;
}

async function hover(event, canvas) {
  const tip = element.querySelector(".tip"), at = nearest(event, canvas);
  if (at < 0) return void (tip.hidden = true);
  if (!texts.has(at)) texts.set(at, server.message_at(at));
  const [text, group] = await texts.get(at);
  tip.replaceChildren(Object.assign(document.createElement("b"), { textContent: group }), " ", text);
  const box = canvas.getBoundingClientRect();
  tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 250)}px`;
  tip.style.top = `${event.clientY - box.top + 14}px`;
  tip.hidden = false;
}

function listen() {
  const found = parts();
  if (!found || found.canvas.dataset.ready) return;
  const { canvas } = found;
  canvas.dataset.ready = "yes";
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), ...position(event, canvas));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag) {
      const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      const unit = (transform(canvas).unit / canvas.width) * canvas.clientWidth;
      view = { ...view, x: view.x - dx / unit, y: view.y - dy / unit };
      drag = { x: event.clientX, y: event.clientY, moved: true };
      return soon();
    }
    clearTimeout(resting);
    resting = setTimeout(() => points && hover(event, canvas), 60);
  });
  canvas.addEventListener("pointerup", (event) => {
    const at = drag && !drag.moved && points ? nearest(event, canvas) : -1;
    drag = null;
    if (at >= 0 && groups[at] >= 0) trigger("select", { id: groups[at] });
  });
  canvas.addEventListener("pointerleave", () => {
    clearTimeout(resting);
    element.querySelector(".tip").hidden = true;
  });
  canvas.addEventListener("keydown", (event) => {
    const step = 0.15 / view.scale;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) view = { ...view, x: view.x + moves[event.key][0], y: view.y + moves[event.key][1] };
    else if (event.key === "+" || event.key === "=") view = { ...view, scale: Math.min(60, view.scale * 1.3) };
    else if (event.key === "-") view = { ...view, scale: Math.max(0.6, view.scale / 1.3) };
    else if (event.key === "0") view = { x: 0, y: 0, scale: 1 };
    else return;
    event.preventDefault();
    soon();
  });
  new ResizeObserver(soon).observe(canvas);
}

async function load() {
  const asked = props.value.version;
  if (!points) points = new Uint16Array(await (await fetch("studio/points")).arrayBuffer());
  if (version !== asked) {
    const read = await (await fetch(`studio/groups?version=${asked}`)).arrayBuffer();
    if (props.value.version !== asked) return load();
    [groups, version] = [new Int32Array(read), asked];
    texts.clear();
    colours.clear();
  }
  soon();
}

watch("value", () => { listen(); load(); });
listen();
load();
