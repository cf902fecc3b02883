// Draws the plots of the page: first those in view, then the others. uPlot draws the axes, zooms and resizes. The marks
// and the text at the pointer are drawn here, because uPlot requires that all series share their x values. Every plot has
// its size and its legend from the beginning, so that drawing a plot moves nothing on the page.
"use strict";
(() => {
  // Width and height in pixels of a plot for print. Paper shows it smaller than this, so that its letters become small.
  const PAPER = [400, 185];
  // Names along the x axis are written vertically, and cut to this number of letters.
  const NAME_LETTERS = 24;
  const nameRoom = (names) => names ? Math.ceil(16 + 7 * Math.min(NAME_LETTERS, Math.max(...names.map((n) => n.length)))) : 30;
  const heightOf = (wide, names) => Math.round(Math.min(340, Math.max(220, 0.56 * wide))) + nameRoom(names) - 30;
  const TAU = 2 * Math.PI;
  // The marks as polygons (x y x y …) in a box of side 2 around 0; null is a circle.
  const SHAPES = [null, "-.85 -.85 .85 -.85 .85 .85 -.85 .85", "0 -1.1 1 .8 -1 .8", "0 -1.2 1 0 0 1.2 -1 0", "0 1.1 1 -.8 -1 -.8",
    "-.35 -1 .35 -1 .35 -.35 1 -.35 1 .35 .35 .35 .35 1 -.35 1 -.35 .35 -1 .35 -1 -.35 -.35 -.35"]
    .map((text) => text && text.split(" ").map(Number));
  // The keys of a series in the page's data, which plots.py writes: l label, c colour (null: that of the text), d dash, lo and hi
  // ends of the error bars, h the status of points that did not pass, t the index of a point's text in `told`, bare: no marks.
  const shapeOf = (s) => SHAPES[(s.c + s.d + Math.floor(s.d / DASHES.length)) % SHAPES.length];
  const root = document.documentElement;
  // Draws at least 2 × 2 dots per CSS pixel, for print and zoom. This is set before uPlot reads devicePixelRatio.
  const dots = Object.getOwnPropertyDescriptor(window, "devicePixelRatio").get;
  Object.defineProperty(window, "devicePixelRatio", { configurable: true, get: () => Math.max(2, dots.call(window)) });
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const number = (v) => v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(1).replace(".0e", "e").replace("e+", "e") : `${+v.toPrecision(3)}`;
  const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
  const words = {
    s: (v) => {
      const [f, unit] = UNITS.find(([f]) => Math.abs(v) >= f * 0.9995) || UNITS[3];
      return `${number(v / f)} ${unit}`;
    },
    "%": (v) => `${number(100 * v)} %`,
    "": number,
  };

  // Returns the ticks of a logarithmic axis: powers of ten, and multiples such as 2 and 5 if there are few decades.
  const logTicks = (low, high) => {
    const decades = Math.log10(high / low);
    const subs = decades < 0.7 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : decades < 2.2 ? [1, 2, 5] : [1];
    const step = Math.max(1, Math.ceil(decades / 7));
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high) + 1; e += 1) {
      if (e % step === 0) for (const s of subs) ticks.push(+`${s}e${e}`);
    }
    return ticks.filter((t) => t >= low * 0.999 && t <= high * 1.001);
  };

  // Prepares a plot and its legend in the element `box`. The function `begin` of the result draws the plot.
  const figure = (box, plot) => {
    const series = plot.series;
    // uPlot ignores a range below 1e-16, so tiny values on a logarithmic x axis are drawn in another unit.
    const unit = plot.xlog && series.some((s) => s.x.some((v) => v > 0 && v < 1e-12)) ? 1e-20 : 1;
    if (unit !== 1) for (const s of series) s.x = s.x.map((v) => v === null ? v : v / unit);
    const hidden = new Set();
    let near = null; // label of the series under the pointer; all other series are drawn pale
    let u = null; // the uPlot chart; null until it is drawn
    const highlight = (label) => { if (u && near !== label) { near = label; u.redraw(false); } };
    const fit = () => u && u.setData([extent("x", plot.xlog)]);
    const shown = () => series.filter((s) => !hidden.has(s.l));

    // Returns the range of an axis: from the smallest to the largest value that is shown, with a margin.
    const extent = (axis, log) => {
      let low = Infinity, high = -Infinity;
      const include = (v) => { if (v !== null && (!log || v > 0)) { low = Math.min(low, v); high = Math.max(high, v); } };
      for (const s of shown()) {
        s[axis].forEach(include);
        if (axis === "y" && s.lo) { s.lo.forEach(include); s.hi.forEach(include); }
      }
      if (axis === "y") plot.at.forEach(([v]) => include(v));
      if (!(low <= high)) return log ? [1, 10] : [0, 1];
      if (axis === "x" && plot.names) return [-0.5, plot.names.length - 0.5];
      if (log) {
        // Smallest ratio of the ends, so that noise does not fill the plot and an axis has at least two of `logTicks`.
        const least = axis === "x" && plot.ticks ? 1 : 2.3;
        const margin = Math.max((high / low) ** 0.05, Math.sqrt(least / Math.min(high / low, least)), 1.02);
        return [low / margin, high * margin];
      }
      if (axis === "y" && low > 0 && low < 0.6 * high) low = 0;
      const margin = 0.05 * (high - low) || 0.1 * Math.abs(high) || 1;
      return [low === 0 ? 0 : low - margin, high + margin];
    };

    // Writes the text of a reference line: at its left or right end, above or below it, where it covers the fewest points.
    const placeLabel = (u, c, label, y, r) => {
      const width = c.measureText(label).width, right = u.bbox.left + u.bbox.width - width - 4 * r;
      const isInside = (x, base) => base - 12 * r >= u.bbox.top && base <= u.bbox.top + u.bbox.height;
      const spots = [u.bbox.left + 4 * r, right].flatMap((x) => [[x, y - 5 * r], [x, y + 13 * r]]).filter((spot) => isInside(...spot));
      const covered = ([x, base]) => shown().reduce((count, s) => count + s.x.filter((v, i) => {
        if (s.y[i] === null) return false;
        const dx = u.valToPos(v, "x", true) - x, dy = u.valToPos(s.y[i], "y", true) - base;
        return dx > -8 * r && dx < width + 8 * r && dy > -18 * r && dy < 6 * r;
      }).length, 0);
      const [best] = spots.map((spot) => [covered(spot), spot]).sort((a, b) => a[0] - b[0]);
      if (best) c.fillText(label, ...best[1]);
    };

    const marks = (u) => {
      const c = u.ctx, r = devicePixelRatio;
      const at = (s, i) => [u.valToPos(s.x[i], "x", true), u.valToPos(s.y[i], "y", true)];
      const paper = css("--bg"), ink = css("--fg");
      c.save();
      c.beginPath();
      c.rect(u.bbox.left - 6 * r, u.bbox.top - 6 * r, u.bbox.width + 12 * r, u.bbox.height + 12 * r);
      c.clip();
      c.textAlign = "left";
      c.textBaseline = "alphabetic";
      c.font = `${11 * r}px ${getComputedStyle(box).fontFamily}`;
      for (const [value, label] of plot.at) {
        const y = u.valToPos(value, "y", true);
        c.strokeStyle = c.fillStyle = ink;
        c.lineWidth = r;
        c.setLineDash([5 * r, 4 * r]);
        c.beginPath(); c.moveTo(u.bbox.left, y); c.lineTo(u.bbox.left + u.bbox.width, y); c.stroke();
        placeLabel(u, c, label, y, r);
      }
      for (const s of shown()) {
        const colour = s.c === null ? ink : css(`--c${s.c}`);
        c.strokeStyle = c.fillStyle = colour;
        c.globalAlpha = near !== null && near !== s.l ? 0.18 : s.faint ? 0.45 : 1;
        const points = s.x.map((_, i) => i).filter((i) => s.y[i] !== null);
        if (s.lo && s.band) {
          c.save();
          c.globalAlpha *= 0.2;
          c.beginPath();
          const edge = (i, v) => c.lineTo(u.valToPos(s.x[i], "x", true), u.valToPos(v === null ? s.y[i] : v, "y", true));
          points.forEach((i) => edge(i, s.hi[i]));
          [...points].reverse().forEach((i) => edge(i, s.lo[i]));
          c.fill();
          c.restore();
        }
        if (s.line) {
          c.lineWidth = (s.bare ? 1.3 : 1.6) * r;
          c.setLineDash((s.c === null ? DASHES[1] : DASHES[s.d % DASHES.length]).map((d) => d * r));
          c.beginPath();
          points.forEach((i) => c.lineTo(...at(s, i)));
          c.stroke();
        }
        c.setLineDash([]);
        if (s.lo && !s.band) {
          c.lineWidth = r;
          c.beginPath();
          for (const i of points) {
            if (s.lo[i] === null || s.hi[i] === null) continue;
            const x = u.valToPos(s.x[i], "x", true);
            c.moveTo(x, u.valToPos(s.lo[i], "y", true));
            c.lineTo(x, u.valToPos(s.hi[i], "y", true));
          }
          c.stroke();
        }
        if (s.bare) continue;
        const size = (s.faint ? 1.8 : points.length > 60 ? 2.4 : 3.6) * r;
        const shape = shapeOf(s);
        c.lineWidth = 1.3 * r;
        for (const i of points) {
          const [x, y] = at(s, i);
          c.beginPath();
          if (shape) for (let k = 0; k < shape.length; k += 2) c.lineTo(x + size * shape[k], y + size * shape[k + 1]);
          else c.arc(x, y, size, 0, TAU);
          c.closePath();
          c.fillStyle = s.h && s.h[i] ? paper : colour;
          c.fill();
          c.stroke();
        }
      }
      c.restore();
    };

    const axis = (log, more) => ({
      stroke: () => css("--fg"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 18, gap: 4,
      grid: { stroke: () => css("--grid"), width: 1 }, ticks: { stroke: () => css("--grid"), size: 5 },
      ...(log ? { splits: (u, i, low, high) => logTicks(low, high), filter: (u, ticks) => ticks } : {}), ...more,
    });
    // Returns measured sizes as ticks: as many as fit without touching one another.
    const measured = (u, i, low, high) => {
      let last = -Infinity;
      return plot.ticks.filter((v) => {
        const place = u.valToPos(v, "x"), room = 4 + 3.7 * (String(v).length + 1);
        if (v < low || v > high || place - last < 2 * room) return false;
        last = place;
        return true;
      });
    };
    const xAxis = plot.names
      ? { splits: () => plot.names.map((_, i) => i), filter: (u, t) => t, rotate: 90, size: nameRoom(plot.names),
        values: (u, ticks) => ticks.map((i) => plot.names.length > 46 && i % Math.ceil(plot.names.length / 46) ? "" : plot.names[i].slice(0, NAME_LETTERS)) }
      : plot.ticks ? { splits: measured, filter: (u, t) => t, values: (u, t) => t.map(String) } : { values: (u, t) => t.map((v) => v === null ? "" : number(v * unit)),
        ...(series.every((s) => s.x.every(Number.isInteger)) ? { incrs: [1, 2, 5].flatMap((k) => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((e) => k * 10 ** e)).sort((a, b) => a - b) } : {}) };
    const begin = () => {
      const wide = box.clientWidth;
      u = new uPlot({
        width: wide, height: heightOf(wide, plot.names), legend: { show: false }, padding: [8, 10, 0, 0],
        scales: { // distr: 1 is linear, 3 is logarithmic
          x: { time: false, distr: plot.xlog ? 3 : 1, range: (u, low, high) => [low, high] },
          y: { distr: plot.ylog ? 3 : 1, range: () => extent("y", plot.ylog) },
        },
        series: [{}],
        axes: [axis(plot.xlog && !plot.ticks, { label: plot.x, size: 30, space: 50, ...xAxis }),
          axis(plot.ylog, { label: plot.y, size: 62, values: (u, ticks) => ticks.map((v) => v === null ? "" : words[plot.unit](v)) })],
        cursor: { points: { show: false }, x: false, y: false, drag: { x: true, y: true, uni: 12 } },
        hooks: { draw: [marks] },
      }, [extent("x", plot.xlog)], box);

      const tip = document.createElement("div");
      tip.className = "tip";
      tip.hidden = true;
      u.over.append(tip);
      u.over.addEventListener("mousemove", (event) => {
        const { left, top } = u.over.getBoundingClientRect(), px = event.clientX - left, py = event.clientY - top;
        let best = null, least = 900; // squared distance: points within 30 pixels count; faint ones seem farther away
        for (const s of shown()) {
          if (s.bare) continue;
          s.x.forEach((x, i) => {
            if (s.y[i] === null) return;
            const d = (u.valToPos(x, "x") - px) ** 2 + (u.valToPos(s.y[i], "y") - py) ** 2 + (s.faint ? 9 : 0);
            if (d < least) { least = d; best = [s, i]; }
          });
        }
        tip.hidden = best === null;
        highlight(best && best[0].l);
        if (best === null) return;
        const [s, i] = best, format = words[plot.unit], hover = s.t && plot.told[s.t[i]];
        const range = s.lo && s.lo[i] !== null && s.hi[i] > s.lo[i] ? ` (${format(s.lo[i])} to ${format(s.hi[i])})` : "";
        tip.textContent = [s.l, plot.names ? plot.names[s.x[i]] : `${plot.x} = ${number(s.x[i] * unit).includes("e") ? +(s.x[i] * unit).toPrecision(6) : +s.x[i].toPrecision(Number.isInteger(s.x[i]) ? 6 : 3)}`,
          `${format(s.y[i])}${range}`, hover, s.h ? UNPASSED[s.h[i]] : ""].filter(Boolean).join("\n");
        tip.style.setProperty("--m", s.c === null ? "var(--fg)" : `var(--c${s.c})`);
        const x = u.valToPos(s.x[i], "x"), y = u.valToPos(s.y[i], "y");
        tip.style.left = `${x < u.over.clientWidth / 2 ? x + 10 : x - 10 - tip.offsetWidth}px`;
        tip.style.top = `${Math.max(0, Math.min(y + 8, u.over.clientHeight - tip.offsetHeight))}px`;
      });
      u.over.addEventListener("mouseleave", () => { tip.hidden = true; highlight(null); });
      u.over.addEventListener("dblclick", fit);
    };

    // The legend: a click on a name hides or shows its series, a double click shows this series alone.
    const legend = box.parentElement.querySelector(".legend");
    const labels = [...new Set(series.map((s) => s.l))];
    const buttons = labels.map((label) => {
      const s = series.find((one) => one.l === label && !one.faint) || series.find((one) => one.l === label);
      const shape = shapeOf(s);
      const button = document.createElement("button");
      button.type = "button";
      button.title = "click: hide or show; double click: this one alone";
      const colour = s.c === null ? "var(--fg)" : `var(--c${s.c})`;
      const line = s.line ? `<path d="M0 5H26" stroke="${colour}" stroke-width="1.6" stroke-dasharray="${s.c === null ? DASHES[1] : DASHES[s.d % DASHES.length]}"/>` : "";
      const mark = s.bare ? "" : shape ? `<polygon transform="translate(13 5) scale(3.6)" points="${shape}" fill="${colour}"/>` : `<circle cx="13" cy="5" r="3.6" fill="${colour}"/>`;
      button.innerHTML = `<svg width="26" height="10" viewBox="0 0 26 10" aria-hidden="true">${line}${mark}</svg>`;
      button.append(label);
      const set = () => {
        buttons.forEach((b, i) => b.setAttribute("aria-pressed", !hidden.has(labels[i])));
        if (hidden.has(near)) near = null;
        fit();
      };
      button.addEventListener("click", () => { if (!hidden.delete(label)) hidden.add(label); set(); });
      button.addEventListener("dblclick", () => {
        const alone = labels.every((l) => l === label || hidden.has(l));
        hidden.clear();
        if (!alone) labels.forEach((l) => l !== label && hidden.add(l));
        set();
      });
      button.addEventListener("mouseenter", () => highlight(hidden.has(label) ? null : label));
      button.addEventListener("mouseleave", () => highlight(null));
      button.setAttribute("aria-pressed", true);
      return button;
    });
    legend.replaceChildren(...(labels.length > 1 || labels[0] ? buttons : []));
    return { names: plot.names, chart: () => u, begin: () => { if (!u && box.clientWidth) begin(); } };
  };

  const boxes = [...document.querySelectorAll(".canvas")];
  const figures = new Map(boxes.map((box) => [box, figure(box, JSON.parse(box.parentElement.querySelector("script").textContent))]));
  const size = () => {
    const wide = boxes.map((box) => box.clientWidth);
    boxes.forEach((box, i) => { if (wide[i]) box.style.height = `${heightOf(wide[i], figures.get(box).names)}px`; });
  };
  size();
  const drawIn = (box) => figures.get(box).begin();
  const seen = new IntersectionObserver((several) => several.forEach((e) => e.isIntersecting && drawIn(e.target)), { rootMargin: "500px" });
  boxes.forEach((box) => seen.observe(box));
  // The other plots are drawn when the browser is idle, so that screenshots of the whole page contain them.
  const idle = window.requestIdleCallback || ((then) => setTimeout(then, 30));
  const rest = (i) => { if (i < boxes.length) { drawIn(boxes[i]); idle(() => rest(i + 1)); } };
  addEventListener("load", () => idle(() => rest(0)));
  const drawn = () => boxes.map((box) => [box, figures.get(box)]).filter(([, f]) => f.chart());
  const redraw = () => drawn().forEach(([, f]) => f.chart().redraw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const resize = () => {
    size();
    drawn().forEach(([box, f]) => {
      const to = box.clientWidth;
      if (to && Math.abs(f.chart().width - to) > 4) f.chart().setSize({ width: to, height: heightOf(to, f.names) });
    });
  };
  addEventListener("resize", resize);
  addEventListener("beforeprint", () => {
    root.classList.add("paper");
    redraw();
    boxes.forEach(drawIn);
    drawn().forEach(([box, f]) => {
      box.style.height = "";
      f.chart().setSize({ width: PAPER[0], height: PAPER[1] + (f.names ? 40 : 0) });
    });
  });
  addEventListener("afterprint", () => { root.classList.remove("paper"); redraw(); resize(); });
})();
