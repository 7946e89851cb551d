// The page of `wg.explain`. Everything was computed before; here it is revealed step by step.
//
// Time runs from 0 to rows + statements: first every row appears with its value and tangent, then every statement of the
// reverse sweep adds to an adjoint. All views are functions of the state below; `render` brings them up to date.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const rows = data.rows, body = document.body, HEIGHT = 34;
  const state = { time: 0, direction: 0, output: 0, chosen: -1, lit: null, playing: 0 };
  const formulas = data.forward.length ? data.forward[0].formulas : [];
  const statements = () => (data.reverse.length ? data.reverse[state.output].statements : []);
  const end = () => rows.length + statements().length + 1; // at the end nothing is current, and the gradient is shown
  const isOutput = new Set(data.outputs.map((o) => o[1]));
  const equals = '<span class="equals">=</span>';

  // ------------------------------------------------------------------------------------------------ what belongs together
  const nodes = [...document.querySelectorAll("#graph .node")];
  const edges = [...document.querySelectorAll("#graph .edge[data-from]")];
  const rowsOfNode = nodes.map(() => []), rowsOfLine = new Map();
  const firstRow = nodes.map(() => Infinity);
  nodes.sort((a, b) => a.dataset.node - b.dataset.node);
  rows.forEach((row, k) => {
    rowsOfNode[row.node].push(k);
    firstRow[row.node] = Math.min(firstRow[row.node], k);
    if (row.line >= 0) (rowsOfLine.get(row.line) || rowsOfLine.set(row.line, []).get(row.line)).push(k);
  });
  let received = [], firstAdjoint = []; // of each row the statements that add to its adjoint; of each node the first
  const prepareAdjoints = () => {
    received = rows.map(() => []);
    firstAdjoint = nodes.map(() => Infinity);
    statements().forEach(([target], s) => {
      received[target].push(s);
      const node = rows[target].node;
      firstAdjoint[node] = Math.min(firstAdjoint[node], s);
    });
  };
  const adjointAt = (k, s) => { // the adjoint of a row when s statements have been executed
    const list = received[k];
    let low = 0, high = list.length;
    while (low < high) { const mid = (low + high) >> 1; if (list[mid] < s) low = mid + 1; else high = mid; }
    return low ? statements()[list[low - 1]][3] : "";
  };
  const tangentOf = (k) => (data.forward.length ? data.forward[state.direction].values[k] : "");

  // ---------------------------------------------------------------------------------------------------------- the source
  const compact = (x) => (x < 1000 ? String(Math.round(x)) : x < 1e6 ? (x / 1e3).toPrecision(3) + " k" : x < 1e9 ? (x / 1e6).toPrecision(3) + " M" : (x / 1e9).toPrecision(3) + " G");
  const lineElements = [];
  const showSource = () => {
    const all = data.sources.flatMap((s) => s.lines);
    const most = [1, ...all.map((l) => l[2])].reduce((a, b) => Math.max(a, b)), mostBytes = [1, ...all.map((l) => l[3])].reduce((a, b) => Math.max(a, b));
    let number = 0;
    $("source").innerHTML = data.sources.map((source) => `<h3>${source.file} · ${source.name}</h3>` + source.lines.map(([line, text, flops, bytes, count]) => {
      const what = count ? `${count} operation${count > 1 ? "s" : ""}, about ${compact(flops)} flops, ${compact(bytes)}B` : "";
      const meters = count ? `<span class="meters" role="img" aria-label="${what}" title="${what}"><span class="flops" style="width:${(100 * flops / most).toFixed(1)}%"></span><span class="bytes" style="width:${(100 * bytes / mostBytes).toFixed(1)}%"></span></span>` : "<span></span>";
      return `<div class="line${count ? " busy" : ""}" data-line="${number++}"${count ? ' tabindex="0" role="button" aria-label="line ' + line + ", " + what + '"' : ""}><span class="number">${line}</span>${meters}<code>${text}</code></div>`;
    }).join("")).join("") || '<p class="pad quiet">The source of this function is not known.</p>';
    lineElements.push(...document.querySelectorAll(".line[data-line]"));
  };
  const lineNumber = (line) => { const e = lineElements[line]; return e ? e.firstChild.textContent : ""; };

  // ------------------------------------------------------------------------------------------------------------ the list
  const list = $("list"), holder = $("rows");
  let path = null; // the rows on the way from the chosen one to the inputs
  const rowHtml = (k) => {
    const row = rows[k], s = state.time - rows.length, classes = ["row"];
    if (state.time <= k) classes.push("later");
    if (k === currentRow()) classes.push("active");
    if (state.lit && state.lit.rows.has(k)) classes.push("lit");
    if (path && path.has(k)) classes.push("path");
    if (k === state.chosen) classes.push("chosen");
    if (row.op === "input") classes.push("input");
    if (isOutput.has(k)) classes.push("output");
    const numbers = row.numbers ? `<small>${row.numbers}</small>` : "";
    return `<div class="${classes.join(" ")}" role="row" data-row="${k}" aria-rowindex="${k + 1}"${k === state.chosen ? ' aria-selected="true"' : ""}>` +
      `<span role="rowheader" class="name">${row.name}</span><span role="cell" class="of" title="${row.op}">${row.of}${numbers}</span>` +
      `<span role="cell" title="${row.value}">${row.value}</span><span role="cell" class="dot">${row.constant ? "" : tangentOf(k)}</span>` +
      `<span role="cell" class="bar">${s > 0 ? adjointAt(k, s) : ""}</span><span role="cell" class="where">${lineNumber(row.line)}</span></div>`;
  };
  const showRows = () => {
    const from = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 8);
    const to = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + 8);
    let text = "";
    for (let k = from; k < to; k++) text += rowHtml(k);
    holder.style.top = from * HEIGHT + "px";
    holder.innerHTML = text;
  };
  const bringIntoView = (k) => {
    const top = k * HEIGHT, bottom = top + HEIGHT;
    if (top < list.scrollTop + HEIGHT) list.scrollTop = top - 2 * HEIGHT;
    else if (bottom > list.scrollTop + list.clientHeight - HEIGHT) list.scrollTop = bottom - list.clientHeight + 2 * HEIGHT;
  };

  // ------------------------------------------------------------------------------------------------------ where time is
  const currentRow = () => {
    if (state.time === 0 || state.time === end()) return -1;
    return state.time <= rows.length ? state.time - 1 : statements()[state.time - rows.length - 1][0];
  };
  const sum = (...parts) => parts.filter((p) => p !== "" && p !== undefined).join(equals);
  const showNow = () => {
    const n = rows.length, t = state.time;
    if (t === 0) { $("now").innerHTML = '<span class="tag">start</span><span class="quiet">Press the right arrow, or play.</span>'; return; }
    if (t <= n) {
      const row = rows[t - 1], k = t - 1;
      const tangent = data.forward.length && !row.constant ? `<span class="dotted">${sum(accented(row.name, "wg-dot"), formulas[k], data.forward[state.direction].numbers[k], tangentOf(k))}</span>` : "";
      $("now").innerHTML = `<span class="tag">forward ${t} of ${n}</span>${sum(row.name, row.of, row.numbers, row.value)}${tangent}`;
      return;
    }
    if (t === end()) {
      const inputs = rows.map((row, k) => [row, k]).filter(([row]) => row.op === "input").slice(0, 6);
      const seed = data.reverse.length ? data.reverse[state.output] : null;
      $("now").innerHTML = `<span class="tag reverse">complete</span>` + (seed ? inputs.map(([row, k]) => `<span class="barred spaced">${sum(`∂${seed.of}/∂${row.of}`, adjointAt(k, t) || "0")}</span>`).join("") : "");
      return;
    }
    const s = t - n, [target, , formula, total] = statements()[s - 1];
    $("now").innerHTML = `<span class="tag reverse">reverse ${s} of ${statements().length}</span><span class="barred">${sum(accented(rows[target].name, "wg-bar"), formula, total)}</span>`;
  };
  const accented = (name, mark) => name.replace("<i>", `<i class="${mark}">`);

  // ----------------------------------------------------------------------------------------------------------- the graph
  const svg = document.querySelector("#graph svg");
  const full = svg ? { width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height } : null;
  let scale = 1;
  const zoom = (to) => { scale = Math.min(2.5, Math.max(0.12, to)); svg.setAttribute("width", full.width * scale); svg.setAttribute("height", full.height * scale); };
  const fit = () => { const room = $("graph").clientWidth - 14; zoom(Math.min(1.35, Math.max(room / full.width, 0.72))); };
  const showGraph = () => {
    const t = state.time, s = t - rows.length, current = currentRow();
    const reversing = s > 0 && t < end();
    body.classList.toggle("reverse", reversing);
    body.classList.toggle("following", path !== null);
    const source = reversing && s <= statements().length ? statements()[s - 1][1] : -1;
    nodes.forEach((node, k) => {
      node.classList.toggle("later", t <= firstRow[k]);
      node.classList.toggle("has-adjoint", reversing && firstAdjoint[k] < s);
      node.classList.toggle("active", current >= 0 && rows[current].node === k);
      node.classList.toggle("lit", !!state.lit && state.lit.nodes.has(k));
      node.classList.toggle("path", path !== null && rowsOfNode[k].some((r) => path.has(r)));
      node.classList.toggle("chosen", state.chosen >= 0 && rows[state.chosen].node === k);
    });
    edges.forEach((edge) => {
      const from = +edge.dataset.from, to = +edge.dataset.to;
      edge.classList.toggle("later", t <= firstRow[to] || t <= firstRow[from]);
      edge.classList.toggle("flow", source >= 0 && rows[source].node === to && rows[current].node === from);
      edge.classList.toggle("path", path !== null && pathEdges.has(from + ">" + to));
    });
  };

  // -------------------------------------------------------------------------------------- following a derivative
  let pathEdges = new Set();
  const follow = (k) => {
    state.chosen = k;
    document.querySelectorAll("#graph .partial").forEach((e) => e.remove());
    pathEdges = new Set();
    path = null;
    $("clear").hidden = k < 0;
    if (k < 0) { $("detail").className = "pad quiet"; $("detail").textContent = "Click a node or a row to follow its derivative back to the inputs."; return; }
    path = new Set([k]);
    for (let j = k; j >= 0; j--) { // operands have smaller numbers, so one pass finds all
      if (!path.has(j)) continue;
      for (const [a] of rows[j].partials || []) { path.add(a); pathEdges.add(rows[a].node + ">" + rows[j].node); }
    }
    labelEdges();
    showDetail(k);
  };
  const labelEdges = () => {
    if (pathEdges.size > 40) return;
    for (const edge of edges) {
      const from = +edge.dataset.from, to = +edge.dataset.to;
      if (!pathEdges.has(from + ">" + to) || rowsOfNode[from].length !== 1 || rowsOfNode[to].length !== 1) continue;
      const own = rows[rowsOfNode[to][0]].partials.filter((p) => p[0] === rowsOfNode[from][0]);
      if (!own.length || own.some((p) => p[1].length > 8)) continue; // long ones are in the panel
      const at = edge.getPointAtLength(edge.getTotalLength() / 2);
      const label = document.createElementNS("http://www.w3.org/2000/svg", "text");
      label.setAttribute("class", "partial");
      label.setAttribute("x", at.x);
      label.setAttribute("y", at.y - 3);
      label.innerHTML = own.map((p) => p[1]).join(" + ");
      edge.parentNode.append(label);
    }
  };
  const derivatives = (k) => { // of row k in the inputs: the sum over all paths of the products of their partials
    const bars = new Map([[k, 1]]);
    for (let j = k; j >= 0; j--) {
      if (!bars.has(j)) continue;
      for (const [a, , partial] of rows[j].partials || []) bars.set(a, (bars.get(a) || 0) + (partial === null ? NaN : partial * bars.get(j)));
    }
    return rows.flatMap((row, a) => (row.op === "input" && bars.has(a) ? [[row.of, bars.get(a)]] : []));
  };
  const rounded = (x) => (x !== 0 && (Math.abs(x) < 5e-4 || Math.abs(x) >= 1e6) ? x.toExponential(3) : String(+x.toFixed(3))).replace("-", "−");
  const showDetail = (k) => {
    const row = rows[k], locals = row.partials || [];
    const ofInputs = derivatives(k).filter(([, d]) => !Number.isNaN(d));
    const last = received[k] && received[k].length ? statements()[received[k].at(-1)][3] : "";
    const table = (title, lines) => (lines.length ? `<table><thead><tr><th colspan="2">${title}</th></tr></thead><tbody>${lines.map(([a, b]) => `<tr><td>${a}</td><td>${b}</td></tr>`).join("")}</tbody></table>` : "");
    $("detail").className = "pad";
    $("detail").innerHTML = `<p class="formula">${sum(row.name, row.of, row.numbers, row.value)}</p>` +
      `<p class="quiet">${row.op}${row.shape === "scalar" ? "" : ", shape " + row.shape}${lineNumber(row.line) ? ", line " + lineNumber(row.line) : ""}</p>` +
      table("Local partial derivatives", locals.map(([a, shown]) => [`∂${row.name}/∂${rows[a].name}`, shown])) +
      table("Along all highlighted paths", row.op === "input" ? [] : ofInputs.slice(0, 12).map(([name, d]) => [`∂${row.name}/∂${name}`, rounded(d)])) +
      table("In the sweeps", [...(row.constant || !data.forward.length ? [] : [[`${accented(row.name, "wg-dot")} along ${data.forward[state.direction].seed}`, tangentOf(k)]]), ...(last === "" ? [] : [[`${accented(row.name, "wg-bar")} from ${data.reverse[state.output].seed}`, last]])]);
  };

  // ------------------------------------------------------------------------------------------------------------ actions
  const render = () => {
    showNow();
    $("time").value = state.time;
    $("time").setAttribute("aria-valuetext", $("now").textContent);
    showGraph();
    const current = currentRow(), reversing = state.time > rows.length && current >= 0;
    const line = current < 0 ? -1 : reversing ? (rows[Math.max(0, statements()[state.time - rows.length - 1][1])] || {}).line : rows[current].line;
    lineElements.forEach((e, k) => {
      e.classList.toggle("active", k === line);
      e.classList.toggle("lit", !!state.lit && state.lit.lines.has(k));
    });
    showRows();
  };
  const go = (t, reveal = true) => {
    state.time = Math.max(0, Math.min(end(), t));
    const current = currentRow();
    if (reveal && current >= 0) {
      bringIntoView(current);
      const line = lineElements[rows[current].line];
      if (line) keepVisible($("source"), line);
      showNode(nodes[rows[current].node]);
    }
    render();
  };
  const keepVisible = (box, element) => {
    const top = element.offsetTop, bottom = top + element.offsetHeight;
    if (top < box.scrollTop) box.scrollTop = top - 20;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight + 20;
  };
  const showNode = (node) => {
    const box = $("graph"), inside = box.getBoundingClientRect(), own = node.getBoundingClientRect();
    if (own.left < inside.left || own.right > inside.right) box.scrollLeft += (own.left + own.right - inside.left - inside.right) / 2;
    if (own.top < inside.top || own.bottom > inside.bottom) box.scrollTop += (own.top + own.bottom - inside.top - inside.bottom) / 2;
  };
  const stop = () => { clearInterval(state.playing); state.playing = 0; body.classList.remove("playing"); $("play").setAttribute("aria-label", "Play"); };
  const play = () => {
    if (state.playing) { stop(); return; }
    if (state.time === end()) state.time = 0;
    body.classList.add("playing");
    $("play").setAttribute("aria-label", "Pause");
    const pause = Math.max(30, Math.min(900, 30000 / end()));
    state.playing = setInterval(() => { if (state.time >= end()) stop(); else go(state.time + 1); }, pause);
  };
  const choose = (k) => { follow(k); render(); };
  const light = (found) => {
    if (!found && !state.lit) return;
    state.lit = found && { rows: new Set(found), nodes: new Set(found.map((k) => rows[k].node)), lines: new Set(found.map((k) => rows[k].line)) };
    render();
  };
  const on = (id, event, action) => $(id).addEventListener(event, action);
  on("first", "click", () => { stop(); go(0); });
  on("back", "click", () => { stop(); go(state.time - 1); });
  on("next", "click", () => { stop(); go(state.time + 1); });
  on("last", "click", () => { stop(); go(end()); });
  on("play", "click", play);
  on("time", "input", () => { stop(); go(+$("time").value); });
  on("clear", "click", () => choose(-1));
  on("in", "click", () => zoom(scale * 1.25));
  on("out", "click", () => zoom(scale / 1.25));
  on("fit", "click", fit);
  on("direction", "change", () => { state.direction = +$("direction").value; if (state.chosen >= 0) showDetail(state.chosen); render(); });
  on("output", "change", () => { state.output = +$("output").value; prepareAdjoints(); $("time").max = end(); layPhases(); if (state.chosen >= 0) showDetail(state.chosen); go(state.time); });
  on("theme", "click", () => {
    const dark = getComputedStyle(document.documentElement).getPropertyValue("--paper").trim() === "#12161d";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const tag = event.target.tagName, key = event.key;
    if (tag === "SELECT") return;
    if (key === "Escape") { choose(-1); return; }
    if (event.target === list && (key === "ArrowDown" || key === "ArrowUp")) {
      const k = Math.max(0, Math.min(rows.length - 1, state.chosen + (key === "ArrowDown" ? 1 : -1)));
      bringIntoView(k);
      choose(k);
    } else if ((key === " " || key === "Enter") && event.target.classList.contains("node")) choose(rowsOfNode[event.target.dataset.node].at(-1));
    else if ((key === " " || key === "Enter") && event.target.classList.contains("line")) pickLine(event.target);
    else if (key === " " && tag !== "BUTTON") play();
    else if (key === "ArrowRight" && tag !== "INPUT") { stop(); go(state.time + 1); }
    else if (key === "ArrowLeft" && tag !== "INPUT") { stop(); go(state.time - 1); }
    else if (key === "Home") { stop(); go(0); }
    else if (key === "End") { stop(); go(end()); }
    else return;
    event.preventDefault();
  });
  const pickLine = (element) => {
    const own = rowsOfLine.get(+element.dataset.line);
    if (own) { bringIntoView(own[0]); light(own); }
  };
  on("source", "mouseover", (event) => { const e = event.target.closest(".line.busy"); light(e ? rowsOfLine.get(+e.dataset.line) || null : null); });
  on("source", "mouseleave", () => light(null));
  on("source", "click", (event) => { const e = event.target.closest(".line.busy"); if (e) pickLine(e); });
  on("source", "focusin", (event) => { const e = event.target.closest(".line.busy"); if (e) light(rowsOfLine.get(+e.dataset.line) || null); });
  let pointed = -1;
  on("list", "mousemove", (event) => {
    const e = event.target.closest(".row"), k = e ? +e.dataset.row : -1;
    if (k !== pointed) { pointed = k; light(k < 0 ? null : [k]); }
  });
  on("list", "mouseleave", () => { pointed = -1; light(null); });
  on("list", "click", (event) => { const e = event.target.closest(".row"); if (e) choose(+e.dataset.row === state.chosen ? -1 : +e.dataset.row); });
  on("list", "scroll", showRows);
  nodes.forEach((node, k) => {
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    node.addEventListener("mouseenter", () => light(rowsOfNode[k]));
    node.addEventListener("mouseleave", () => light(null));
    node.addEventListener("click", () => { const last = rowsOfNode[k].at(-1); bringIntoView(last); choose(last === state.chosen ? -1 : last); });
  });
  addEventListener("resize", () => { showRows(); });

  // -------------------------------------------------------------------------------------------------------------- start
  const layPhases = () => {
    $("phase-forward").style.width = (100 * rows.length / Math.max(1, end())) + "%";
    $("phase-reverse").style.width = (100 * (statements().length + 1) / Math.max(1, end())) + "%";
  };
  const inputs = rows.filter((r) => r.op === "input").length, operations = rows.length - inputs;
  $("call").innerHTML = data.call;
  $("summary").innerHTML = `${operations} operation${operations === 1 ? "" : "s"}, ${inputs} input${inputs === 1 ? "" : "s"}` +
    data.outputs.slice(0, 3).map(([name, , value]) => ` · ${name} = ${value}`).join("");
  $("count").textContent = `${rows.length} variables`;
  $("level").textContent = data.level === "none" ? "" : `folded by ${data.level}`;
  $("direction").innerHTML = data.forward.map((f, k) => `<option value="${k}">${f.text}</option>`).join("");
  $("output").innerHTML = data.reverse.map((r, k) => `<option value="${k}">${r.text}</option>`).join("");
  list.setAttribute("aria-rowcount", rows.length);
  $("space").style.height = rows.length * HEIGHT + "px";
  list.classList.toggle("short", rows.length * HEIGHT < 560);
  prepareAdjoints();
  $("time").max = end();
  layPhases();
  showSource();
  if (svg) fit();
  const wanted = new URLSearchParams(location.hash.slice(1)); // #time=5&row=3&theme=dark: a view that can be linked to
  if (wanted.has("theme")) document.documentElement.dataset.theme = wanted.get("theme");
  if (wanted.has("row")) follow(Math.max(0, Math.min(rows.length - 1, +wanted.get("row"))));
  go(wanted.has("time") ? +wanted.get("time") : end());
  if (state.chosen >= 0) { bringIntoView(state.chosen); showNode(nodes[rows[state.chosen].node]); showRows(); }
})();
