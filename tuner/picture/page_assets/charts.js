/* Charts of the page: SVG made by hand. A chart is a list of marks that hover, focus and arrow keys reach. */
const SYMBOLS = ['', '\u2605', '\u2605', '\u25b2', '=', '?', '', '\u25c6', '!', '\u2605', '\u2605',
  '?', '', '', '', '', '', '', ''];
/* The colour scale cividis, dark to light: it reads the same with any colour vision. */
const SCALE = [[0, 34, 78], [67, 78, 108], [125, 124, 120], [188, 175, 111], [254, 232, 56]];

/* -- elements -- */

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function svg(name, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes || {}))
    made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function label(x, y, text, attributes) {
  return svg('text', { x, y, ...attributes }, text);
}

function options(select, names, chosen) {
  names.forEach((name, i) => select.append(new Option(name, i, false, i === chosen)));
  return select;
}

function control(title, input) {
  return element('label', {}, title, input);
}

/* -- figures -- */

function digits3(value) {
  return value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/* As the program prints it: three digits, whole numbers of the first unit as such. */
function scaled(value, units) {
  if (!(value >= 0 && value < Infinity))
    return 'n/a';
  if (value < 1000 && Number.isInteger(value))
    return (value + ' ' + units[0]).trim();
  let unit = 0;
  while (unit + 1 < units.length && value >= 999.5) {
    value /= 1000;
    unit++;
  }
  return (unit === 0 && value < 0.9995 ? value.toFixed(3) : digits3(value)) + ' ' + units[unit];
}

const rate = value => known(value) ? scaled(value, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'PB/s', 'EB/s']) : '-';
const count = value => known(value) ? scaled(value, ['', 'k', 'M', 'G', 'T', 'P', 'E']).trim() : '-';

function duration(ns) {
  if (!known(ns) || !(ns >= 0))
    return '-';
  const seconds = Math.round(ns / 1e9), minutes = Math.round(seconds / 60);
  if (ns < 59.95e9)
    return scaled(Math.round(ns), ['ns', 'us', 'ms', 's']);
  return seconds < 3600 ? `${Math.floor(seconds / 60)}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

function size(bytes) {
  let unit = 0;
  while (unit < 4 && bytes > 0 && bytes % 1024 === 0) {
    bytes /= 1024;
    unit++;
  }
  return bytes + ['', 'k', 'm', 'g', 't'][unit];
}

function level(factor, value) {
  if (factor === API)
    return data.apis[value];
  if (factor === SYNC)
    return data.syncs[value];
  if (factor === WRITE_SIZE && value === 0)
    return 'same';
  return [SIZE, WRITE_SIZE, FILE_SIZE, ALIGNMENT].includes(factor) && is_number(value) ? size(value) : String(value);
}

const FIGURES = [
  { title: 'Throughput', member: MEAN, text: rate, low: LOW, high: HIGH, better: 1 },
  { title: 'IOPS', member: IOPS, text: count, better: 1 },
  { title: 'Mean latency', member: LATENCY, text: duration, better: -1 },
  { title: 'p99 latency', member: P99, text: duration, better: -1 },
];

/* "64k x 8, direct, io_uring", as everywhere in fstune; the page shows no other form of a setting. */
function setting(row) {
  const parts = [size(row[0]) + (row[WRITE_SIZE] ? '/' + size(row[WRITE_SIZE]) : '') + ' x ' + row[1], row[2] ? 'direct' : 'buffered', data.apis[row[API]]];
  if (row[4] > 1)
    parts.push(row[4] + ' threads');
  if (data.syncs[row[SYNC]] !== 'end')
    parts.push('sync ' + data.syncs[row[SYNC]]);
  parts.push(...VARYING.filter(f => f >= PATTERN && known(row[f])).map(f => f === PATTERN ? row[f] : TITLES[f].toLowerCase() + ' ' + level(f, row[f])));
  return parts.join(', ');
}

function describe(row) {
  const lines = [setting(row),
    rate(row[MEAN]) + (known(row[LOW]) && known(row[HIGH]) ? ' (' + rate(row[LOW]) + ' to ' + rate(row[HIGH]) + ')' : ' (no interval)')
      + ', ' + row[REPLAYS] + (row[REPLAYS] === 1 ? ' replay' : ' replays')];
  if (known(row[IOPS]))
    lines.push(count(row[IOPS]) + ' requests/s, depth reached ' + digits3(row[DEPTH] || 0));
  if (known(row[LATENCY]))
    lines.push('latency: mean ' + duration(row[LATENCY]) + (known(row[P99]) ? ', p99 ' + duration(row[P99]) : ''));
  if (STANDINGS[row[STANDING]])
    lines.push(STANDINGS[row[STANDING]]);
  return lines.join('\n');
}

/* -- marks: one stop of the tab key for a chart, arrow keys inside -- */

function mark(drawing, x, y, text, ...shapes) {
  const made = svg('g', { class: 'mark', role: 'img', 'aria-label': text.replaceAll('\n', '; '), tabindex: -1 }, ...shapes);
  made.place = { x, y, text };
  drawing.append(made);
  return made;
}

/* The nearest mark in a direction; a step aside costs more than one ahead. */
function neighbour(marks, from, dx, dy) {
  let nearest = from, least = Infinity;
  for (const other of marks) {
    const x = other.place.x - from.place.x, y = other.place.y - from.place.y;
    const ahead = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (ahead > 0.5 && ahead + 3 * aside < least) {
      least = ahead + 3 * aside;
      nearest = other;
    }
  }
  return nearest;
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function attach(frame, drawing) {
  const marks = [...drawing.querySelectorAll('.mark')];
  const tip = element('div', { class: 'tip', hidden: '' });
  const show = target => {
    const place = target.getBoundingClientRect(), around = frame.getBoundingClientRect();
    tip.textContent = target.place.text;
    tip.hidden = false;
    const x = place.left - around.left + place.width / 2 - tip.offsetWidth / 2;
    tip.style.left = Math.max(0, Math.min(x, around.width - tip.offsetWidth)) + 'px';
    tip.style.top = place.bottom - around.top + 8 + 'px';
  };
  const hide = () => { tip.hidden = true; };
  const at = event => event.target.closest('.mark');
  frame.append(tip);
  drawing.addEventListener('pointerover', event => at(event) ? show(at(event)) : hide());
  drawing.addEventListener('pointerleave', hide);
  drawing.addEventListener('focusin', event => at(event) && show(at(event)));
  drawing.addEventListener('focusout', hide);
  drawing.addEventListener('keydown', event => {
    if (event.key === 'Escape')
      hide();
    if (!(event.key in ARROWS) || !at(event))
      return;
    event.preventDefault();
    const next = neighbour(marks, at(event), ...ARROWS[event.key]);
    at(event).setAttribute('tabindex', -1);
    next.setAttribute('tabindex', 0);
    next.focus();
  });
  const first = marks.find(each => each.classList.contains('chosen')) || marks[0];
  if (first)
    first.setAttribute('tabindex', 0);
}

function figure(frame, drawing, caption, ...more) {
  drawing.setAttribute('role', 'group');
  drawing.setAttribute('aria-label', caption);
  const plot = element('div', { class: 'plot' }, drawing);
  frame.replaceChildren(element('figure', {}, plot, ...more, element('figcaption', { class: 'note' }, caption)));
  attach(frame, drawing);
}

function drawing(width, height) {
  return svg('svg', { width, height, viewBox: `0 0 ${width} ${height}` });
}

/* -- scales -- */

function ramp(share) {
  const at = Math.max(0, Math.min(0.9999, share)) * (SCALE.length - 1), i = Math.floor(at);
  return SCALE[i].map((low, c) => Math.round(low + (SCALE[i + 1][c] - low) * (at - i)));
}

function luminance(colour) {
  const [r, g, b] = colour.map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/* Some five round numbers from 0 up to the first that reaches the highest. */
function ticks(highest) {
  const power = 10 ** Math.floor(Math.log10(highest / 4 || 1));
  const step = [1, 2, 2.5, 5, 10].map(m => m * power).find(s => highest / s <= 5) || 10 * power;
  const list = [0];
  while (list[list.length - 1] < highest)
    list.push(step * list.length);
  return list;
}

/* The frame of a chart with rates from 0 on; returns how a value becomes a place. */
function axes(chart, box, highest, text, title) {
  const list = ticks(highest), top = list[list.length - 1] || 1;
  const y = value => box.bottom - (box.bottom - box.top) * value / top;
  for (const tick of list) {
    chart.append(svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }),
      label(box.left - 8, y(tick) + 4, tick === 0 ? '0' : text(tick), { class: 'soft', 'text-anchor': 'end' }));
  }
  chart.append(label(4, 16, title, { class: 'title' }));
  return y;
}

const SHAPES = [
  'M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z', 'M-5,-5h10v10h-10z', 'M0,-6l6,11h-12z', 'M0,-7l6,7l-6,7l-6,-7z', 'M-6,-5h12l-6,11z',
  'M-2,-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z', 'M0,-7l6,4v6l-6,4l-6,-4v-6z',
];
const DASHES = ['', '7 3', '2 3', '9 3 2 3', '4 4', '12 3', '1 4'];

function symbol(i, x, y, hollow) {
  return svg('path', { class: 'shape', d: SHAPES[i], transform: `translate(${x},${y})`,
    fill: hollow ? 'var(--paper)' : `var(--s${i})`, stroke: `var(--s${i})`, 'stroke-width': 1.5 });
}

/* One of many: small, and so thin that a crowd of them looks darker than one. */
function dot(x, y, kind) {
  return svg('circle', { class: `shape dot ${kind || ''}`, cx: x, cy: y, r: kind ? 4.5 : 3.5 });
}

function whisker(x, low, high, colour) {
  return svg('path', { class: 'whisker', d: `M${x},${low}V${high}M${x - 4},${low}h8M${x - 4},${high}h8`, stroke: colour, fill: 'none' });
}

/* Names of the series with their symbols, and further words. */
function legend(names, more, shape = i => symbol(i, 8, 8)) {
  const list = element('ul', { class: 'legend' });
  names.forEach((name, i) => {
    const box = drawing(16, 16);
    box.setAttribute('aria-hidden', 'true');
    box.append(shape(i));
    list.append(element('li', {}, box, name));
  });
  for (const text of more || [])
    list.append(element('li', {}, text));
  return list;
}
