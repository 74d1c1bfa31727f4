"use strict";
// The page of a Turnloom service. All that comes from the service is put in as text, never as HTML.

const KEY = "turnloom-key";
const byId = (id) => document.getElementById(id);
const state = { model: null, intents: false, replies: false };

function element(name, text, properties = {}) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  return Object.assign(made, properties);
}

async function call(path, body) {
  const headers = { "Content-Type": "application/json" };
  const key = sessionStorage.getItem(KEY);
  if (key) headers.Authorization = `Bearer ${key}`;
  const answer = await fetch(path, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const error = new Error(content.error ? content.error.message : `The service returned status ${answer.status}.`);
    error.status = answer.status;
    throw error;
  }
  return content;
}

function fill(place, ...parts) {
  byId(place).replaceChildren(...parts);
}

function wrong(place, error) {
  fill(place, element("p", error.message, { className: "decision wrong" }));
}

function table(columns, rows) {
  const made = element("table");
  const head = element("tr");
  columns.forEach(([title, kind]) => head.append(element("th", title, { className: kind, scope: "col" })));
  made.append(element("thead"), element("tbody"));
  made.tHead.append(head);
  rows.forEach((row) => {
    const line = element("tr");
    row.forEach((cell, place) => {
      const holder = element("td", cell instanceof Node ? null : cell, { className: columns[place][1], dir: "auto" });
      if (cell instanceof Node) holder.append(cell);
      line.append(holder);
    });
    made.tBodies[0].append(line);
  });
  return made;
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const meter = (share) => element("meter", percent(share), { min: 0, max: 1, value: share, title: percent(share) });

function turns() {
  const lines = byId("conversation").value.split("\n").map((line) => line.trim()).filter(Boolean);
  return lines.map((line) => line.replace(/^[\p{L}\d _-]{1,20}:\s+/u, ""));
}

function showIntent(answer) {
  const said = {
    accept: `Accepted: ${answer.intents.join(", ")}`,
    ask: `Unsure: ask between ${answer.candidates.map((candidate) => candidate.intent).join(" and ")}`,
    out_of_scope: "Out of scope: no intent fits",
  };
  const likely = answer.candidates.map((candidate) => [candidate.intent, meter(candidate.probability), percent(candidate.probability)]);
  const near = answer.nearest.map((example) => [example.text, example.intents.join(", "), example.similarity.toFixed(2)]);
  fill(
    "intent",
    element("p", said[answer.decision], { className: `decision ${answer.decision}` }),
    element("p", `More familiar than ${percent(answer.rank)} of in-scope messages (similarity ${answer.familiarity.toFixed(2)}).`, { className: "help" }),
    element("h3", "Most likely intents, if in scope"),
    table([["Intent", ""], ["", ""], ["Probability", "number"]], likely),
    element("h3", "Nearest examples"),
    table([["Example", ""], ["Intent", ""], ["Similarity", "number"]], near),
  );
}

function showReplies(found) {
  if (!found.length) {
    fill("replies", element("p", "No reply is sure enough, or none was found. A lower min_score in service.yaml shows more.", { className: "help" }));
    return;
  }
  const list = element("ol");
  found.forEach((reply) => {
    const entry = element("li");
    const where = reply.sources.slice(0, 3).map((source) => `${source.source} ${source.dialogue_id}, turn ${source.turn + 1}`);
    const often = reply.count === 1 ? "Given once" : `Given ${reply.count} times`;
    entry.append(
      element("p", reply.text),
      element("p", `Score ${reply.score.toPrecision(3)}. ${often}: ${where.join("; ")}${reply.count > 3 ? " …" : ""}`, { className: "help" }),
    );
    list.append(entry);
  });
  fill("replies", list);
}

async function understand() {
  const context = turns();
  if (!context.length) {
    fill("intent", element("p", "Type a message first.", { className: "decision wrong" }));
    byId("conversation").focus();
    return;
  }
  const asked = [];
  if (state.intents) {
    asked.push(call("v1/intents", { messages: [context], examples: 5 }).then((found) => showIntent(found.answers[0])).catch((error) => wrong("intent", error)));
  }
  if (state.replies) {
    asked.push(call("v1/replies", { context, k: 5 }).then((found) => showReplies(found.replies)).catch((error) => wrong("replies", error)));
  }
  await Promise.all(asked);
}

function poolLine(pool) {
  if (!pool) return "Names and examples, without unlabelled messages. turnloom intents fit --pool adds them.";
  const used = pool.trusted ? "" : " The pool is not used: the intents are recognised better without it.";
  return `Names, examples and a pool of ${pool.messages} unlabelled messages, of which ${pool.believed} clearly have an intent.${used}`;
}

async function showLearned() {
  byId("learned-section").hidden = !state.intents;
  if (!state.intents) return;
  try {
    const { pool, intents } = await call("v1/intents");
    const rows = intents.map((each) => [each.intent, String(each.examples), String(each.believed)]);
    fill(
      "learned",
      element("p", poolLine(pool), { className: "help" }),
      table([["Intent", ""], ["Examples", "number"], ["Messages of the pool", "number"]], rows),
    );
  } catch (error) {
    wrong("learned", error);
  }
}

async function compare() {
  const input = [byId("first").value, byId("second").value];
  try {
    const [first, second] = (await call("v1/embeddings", { model: state.model, input })).data.map((row) => row.embedding);
    const dot = (left, right) => left.reduce((sum, value, place) => sum + value * right[place], 0);
    const cosine = dot(first, second) / Math.sqrt(dot(first, first) * dot(second, second));
    fill("similarity", element("p", `Cosine similarity: ${cosine.toFixed(3)}`, { className: "decision accept" }), meter(Math.max(0, cosine)));
  } catch (error) {
    wrong("similarity", error);
  }
}

function onSubmit(form, action) {
  byId(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = byId(form).querySelector("button");
    button.disabled = true;
    await action();
    button.disabled = false;
  });
}

async function start() {
  try {
    const info = await call("info");
    Object.assign(state, { model: info.model.name, intents: info.intents, replies: info.replies });
    byId("key-form").hidden = !info.needs_key;
    byId("served").textContent = `Model ${info.model.name}, ${info.model.dimension} dimensions${info.reranker ? `, re-ranked by ${info.reranker.name}` : ""}.`;
    if (!info.intents) fill("intent", element("p", "No intents are served.", { className: "help" }));
    await showLearned();
    if (!info.replies) fill("replies", element("p", "No replies are served.", { className: "help" }));
  } catch (error) {
    byId("served").textContent = error.message;
    if (error.status === 401 || error.status === 403) {
      byId("key-form").hidden = false;
      byId("key").focus();
    }
  }
}

onSubmit("key-form", async () => {
  sessionStorage.setItem(KEY, byId("key").value.trim());
  byId("key").value = "";
  await start();
});
onSubmit("conversation-form", understand);
onSubmit("similarity-form", compare);
byId("conversation").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("conversation-form").requestSubmit();
});
start();
