/* What is on the page: the response, runs, nights, the table's sorting and filter, copying. */

/* -- the response: what was measured, over two of the factors -- */

const STAR = `\u2605 ${is_experiment ? `cheapest as good as the ${FIRST}` : 'recommended'}`;
const STANDING_WORDS = [STAR, `\u25b2 ${FIRST}`, `= as good as the ${FIRST}`, '? may be as good, or few runs', '\u25c6 baseline', '! not trusted'];
const MAX_SERIES = 7;

function levels(factor, rows) {
  return [...new Set(rows.map(row => row[factor]))].sort((a, b) => a < b ? -1 : 1);
}

/* For every pair of levels the best of the rows that are left, by the figure; and the rows with a mark that a faster one hides there. */
function best_of(rows, figure, across, down) {
  const cells = new Map(), marked = new Map();
  for (const row of rows) {
    const key = row[across] + '/' + row[down], other = cells.get(key);
    if (known(row[figure.member]) && (!other || (row[figure.member] - other[figure.member]) * figure.better > 0))
      cells.set(key, row);
    if (is_kept(row))
      marked.set(key, [...(marked.get(key) || []), row]);
  }
  return { cells, marked: key => (marked.get(key) || []).filter(row => row !== cells.get(key)) };
}

/* How the best of a cell stands beside the best of all, and which marked settings are in the cell, too. */
function of_the_best(figure, row, best) {
  const share = figure.better > 0 ? row[figure.member] / best[figure.member] : best[figure.member] / row[figure.member];
  return figure.better > 0 ? `${(100 * share).toFixed(0)} %` : `${digits3(1 / share)} x`;
}

function describe_cell(figure, row, others, best) {
  return [describe(row), `${of_the_best(figure, row, best)} of the best`,
    ...others.map(other => `${SYMBOLS[other[STANDING]]} ${STANDINGS[other[STANDING]]} here: ${setting(other)}, ${figure.text(other[figure.member])}`)].join('\n');
}

function extremes(cells, figure) {
  const rows = [...cells.values()].sort((a, b) => (b[figure.member] - a[figure.member]) * figure.better);
  return { best: rows[0], worst: rows[rows.length - 1] };
}

function sentence(figure, cells) {
  if (cells.size === 0)
    return 'Nothing was measured with this choice.';
  const { best, worst } = extremes(cells, figure);
  const words = row => figure.text(row[figure.member]) + ' at ' + setting(row);
  return `${figure.title}: best ${words(best)}; worst ${words(worst)}. A cell shows the best of all settings in it, and its share of the best.`;
}

/* From the worst to the best, on the logarithmic scale of the map. */
function colour_bar(shown, best, worst) {
  const N = 48, chart = drawing(340, 44), middle = Math.sqrt(best[shown.member] * worst[shown.member]);
  for (let i = 0; i < N; i++)
    chart.append(svg('rect', { x: 45 + 250 * i / N, y: 4, width: 250 / N + 0.5, height: 12, fill: `rgb(${ramp(i / (N - 1))})` }));
  [worst[shown.member], middle, best[shown.member]].forEach((value, i) => chart.append(label(45 + 125 * i, 34,
    shown.text(value), { class: 'soft', 'text-anchor': 'middle' })));
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-label', `Colours: dark ${shown.text(worst[shown.member])}, light ${shown.text(best[shown.member])}`);
  return chart;
}

function heat_map(state) {
  const { figure: shown, cells, marked, across, down, columns, rows } = state;
  const WIDTH = 72, HEIGHT = 44, LEFT = 100, TOP = 52;
  const chart = drawing(LEFT + WIDTH * columns.length + 10, TOP + HEIGHT * rows.length + 8);
  const { best, worst } = cells.size ? extremes(cells, shown) : {};
  const spread = best ? Math.log(best[shown.member] / worst[shown.member]) || 1 : 1;
  chart.append(label(LEFT, 16, TITLES[across], { class: 'title' }), label(4, TOP - 8, TITLES[down], { class: 'title' }));
  columns.forEach((value, i) => chart.append(label(LEFT + WIDTH * (i + 0.5), TOP - 8, level(across, value), { 'text-anchor': 'middle' })));
  const rings = [];
  rows.forEach((value, k) => {
    const y = TOP + HEIGHT * (rows.length - 1 - k);
    chart.append(label(LEFT - 8, y + HEIGHT / 2 + 4, level(down, value), { 'text-anchor': 'end' }));
    columns.forEach((column, i) => {
      const x = LEFT + WIDTH * i, row = cells.get(column + '/' + value);
      const box = { x: x + 1, y: y + 1, width: WIDTH - 2, height: HEIGHT - 2, rx: 2 };
      if (!row) {
        chart.append(svg('rect', { class: 'empty', ...box }));
        return;
      }
      const colour = ramp(Math.log(row[shown.member] / worst[shown.member]) / spread);
      const others = marked(column + '/' + value), symbols = [row, ...others].map(each => SYMBOLS[each[STANDING]]).join('');
      const made = mark(chart, x, y, describe_cell(shown, row, others, best), svg('rect', { class: 'shape', fill: `rgb(${colour})`, ...box }),
        label(x + WIDTH / 2, y + 19, shown.text(row[shown.member])), label(x + WIDTH / 2, y + 36, `${symbols} ${of_the_best(shown, row, best)}`.trim()));
      made.classList.add('cell');
      if (luminance(colour) < 0.18)
        made.classList.add('deep');
      if ([row, ...others].some(is_chosen)) {
        made.classList.add('chosen');
        rings.push(svg('rect', { class: 'ring', ...box }));
      }
    });
  });
  chart.append(...rings);
  return [chart, ...(best ? [colour_bar(shown, best, worst)] : []), legend([], [...STANDING_WORDS, 'dashed: not measured'])];
}

/* At most MAX_SERIES levels get a line: evenly spread, and that of the recommended setting. */
function chosen_levels(state) {
  const { rows, down } = state;
  if (rows.length <= MAX_SERIES)
    return rows;
  const taken = new Set(Array.from({ length: MAX_SERIES - 1 }, (_, i) => rows[Math.round(i * (rows.length - 1) / (MAX_SERIES - 2))]));
  state.all.filter(is_chosen).forEach(row => taken.add(row[down]));
  return rows.filter(value => taken.has(value));
}

function line_chart(state) {
  const { figure: shown, cells, marked, across, down, columns } = state;
  const rows = chosen_levels(state);
  const width = Math.max(420, 110 + 66 * columns.length), box = { left: 80, right: width - 20, top: 34, bottom: 330 };
  const chart = drawing(width, 380);
  const points = [...cells.values()].filter(row => rows.includes(row[down])), { best } = extremes(cells, shown);
  const top = row => shown.high && known(row[shown.high]) ? Math.max(row[shown.high], row[shown.member]) : row[shown.member];
  const y = axes(chart, box, Math.max(...points.map(top), 0), shown.text, shown.title);
  const x = i => box.left + 20 + (box.right - box.left - 40) * (columns.length > 1 ? i / (columns.length - 1) : 0.5);
  columns.forEach((value, i) => chart.append(label(x(i), box.bottom + 20, level(across, value), { class: 'soft', 'text-anchor': 'middle' })));
  chart.append(label((box.left + box.right) / 2, box.bottom + 42, TITLES[across], { class: 'title', 'text-anchor': 'middle' }));
  rows.forEach((value, s) => {
    const line = columns.flatMap((column, i) => cells.has(column + '/' + value) ? [[i, cells.get(column + '/' + value)]] : []);
    /* Series stand a little apart, so that their intervals do. */
    const place = i => x(i) + (s - (rows.length - 1) / 2) * 5;
    chart.append(svg('polyline', { class: 'series', points: line.map(([i, row]) => place(i) + ',' + y(row[shown.member])).join(' '),
      stroke: `var(--s${s})`, 'stroke-dasharray': DASHES[s] }));
    for (const [i, row] of line) {
      const shapes = [symbol(s, place(i), y(row[shown.member]))];
      if (shown.low && known(row[shown.low]) && known(row[shown.high]))
        shapes.unshift(whisker(place(i), y(Math.max(0, row[shown.low])), y(row[shown.high]), `var(--s${s})`));
      const others = marked(columns[i] + '/' + value), made = mark(chart, place(i), y(row[shown.member]), describe_cell(shown, row, others, best), ...shapes);
      if ([row, ...others].some(is_chosen)) {
        made.classList.add('chosen');
        made.append(label(place(i), y(row[shown.member]) - 12, '\u2605', { 'text-anchor': 'middle' }));
      }
    }
  });
  const left_out = state.rows.length > rows.length ? [`${state.rows.length - rows.length} more levels: see the heat map`] : [];
  return [chart, legend(rows.map(value => TITLES[down] + ' ' + level(down, value)), [STAR, ...left_out])];
}

/* Throughput against latency: what lies on the upper left edge is not dominated. */
function scatter(state) {
  const rows = state.all.filter(row => row[MEAN] > 0 && row[LATENCY] > 0);
  const chart = drawing(760, 420), box = { left: 80, right: 740, top: 34, bottom: 360 };
  if (rows.length === 0)
    return [chart, legend([])];
  const logs = rows.map(row => Math.log10(row[LATENCY]));
  const low = Math.floor(Math.min(...logs)), high = Math.max(Math.ceil(Math.max(...logs)), low + 1);
  const x = value => box.left + (box.right - box.left) * (Math.log10(value) - low) / (high - low);
  const y = axes(chart, box, Math.max(...rows.map(row => row[MEAN])), rate, 'Throughput');
  for (let power = low; power <= high; power++)
    chart.append(svg('line', { class: 'grid', x1: x(10 ** power), x2: x(10 ** power), y1: box.top, y2: box.bottom }),
      label(x(10 ** power), box.bottom + 20, duration(10 ** power).replace(/\.0+ /, ' '), { class: 'soft', 'text-anchor': 'middle' }));
  chart.append(label((box.left + box.right) / 2, box.bottom + 44, 'Mean latency', { class: 'title', 'text-anchor': 'middle' }));
  const front = front_of(rows);
  for (const row of [...rows].sort((a, b) => front.has(a) - front.has(b))) {
    const place = [x(row[LATENCY]), y(row[MEAN])];
    const made = mark(chart, ...place, describe(row), dot(...place, front.has(row) ? 'front' : ''));
    if (is_kept(row)) {
      made.classList.toggle('chosen', is_chosen(row));
      made.append(label(place[0], place[1] - 12, SYMBOLS[row[STANDING]], { 'text-anchor': 'middle' }));
    }
  }
  return [chart, legend(['a setting', data.pareto.length > 0 ? 'on the front, as far as the scatter tells' : 'no other has more throughput and less latency'],
    [STAR, `\u25b2 ${FIRST}`, '\u25c6 baseline'], i => dot(8, 8, i > 0 ? 'front' : ''))];
}

/* The front of the document, which knows what may be due to scatter; else what no other mean beats. */
function front_of(rows) {
  const told = new Set(data.pareto.map(identity));
  let highest = -1;
  return new Set(told.size > 0 ? rows.filter(row => told.has(identity(row)))
    : [...rows].sort((a, b) => a[LATENCY] - b[LATENCY] || b[MEAN] - a[MEAN]).filter(row => row[MEAN] > highest && (highest = row[MEAN])));
}

const VIEWS = [{ title: 'Heat map', draw: heat_map }, { title: 'Lines', draw: line_chart }, { title: 'Throughput against latency', draw: scatter }];

function response(place) {
  const view = options(element('select'), VIEWS.map(each => each.title), 0);
  const figures = FIGURES.filter(each => data.points.some(row => known(row[each.member])));
  const shown = options(element('select'), figures.map(each => each.title), 0);
  const titles = VARYING.map(f => TITLES[f]);
  const across = options(element('select'), titles, 0), down = options(element('select'), titles, Math.min(1, titles.length - 1));
  const filters = VARYING.map(f => {
    /* Rates of two patterns are not of one kind. */
    const list = [...(f >= PATTERN ? [] : [null]), ...levels(f, data.points)];
    const select = options(element('select'), list.map(value => value === null ? 'best of all' : level(f, value)), 0);
    return { factor: f, list, select, box: control(TITLES[f], select) };
  });
  const frame = element('div', { class: 'chart' });
  const axis_boxes = [control('Across', across), control('Down', down)], figure_box = control('Figure', shown);
  place.replaceChildren(element('div', { class: 'controls', role: 'group', 'aria-label': 'What the chart shows' },
    control('Chart', view), figure_box, ...axis_boxes, ...filters.map(each => each.box)), frame);

  const draw = () => {
    const is_scatter = VIEWS[view.value].draw === scatter;
    const state = { figure: figures[shown.value], across: VARYING[across.value], down: VARYING[down.value] };
    axis_boxes.forEach(each => { each.hidden = is_scatter; });
    figure_box.hidden = is_scatter;
    state.all = data.points;
    for (const each of filters) {
      const on_axis = !is_scatter && (each.factor === state.across || each.factor === state.down);
      each.box.hidden = on_axis;
      if (!on_axis && each.list[each.select.value] !== null)
        state.all = state.all.filter(row => row[each.factor] === each.list[each.select.value]);
    }
    Object.assign(state, best_of(state.all, state.figure, state.across, state.down));
    state.columns = levels(state.across, data.points);
    state.rows = state.across === state.down ? [state.columns[0]] : levels(state.down, data.points);
    if (state.across === state.down) {
      state.rows = [0];
      const { marked } = state;
      state.cells = new Map([...state.cells.values()].map(row => [row[state.across] + '/0', row]));
      state.marked = key => marked(`${key.slice(0, -2)}/${key.slice(0, -2)}`);
    }
    const [chart, ...keys] = VIEWS[view.value].draw(state);
    figure(frame, chart, is_scatter ? 'Throughput against mean latency of every setting.' : sentence(state.figure, state.cells), ...keys);
  };
  place.addEventListener('change', draw);
  draw();
}

/* -- one value after another: runs, answers -- */

function sequence(place, title, items, axis) {
  const width = Math.max(480, Math.min(1100, 120 + 26 * items.length)), box = { left: 80, right: width - 20, top: 34, bottom: 260 };
  const chart = drawing(width, 312), with_value = items.filter(item => known(item.value));
  const y = axes(chart, box, Math.max(...with_value.map(item => Math.max(item.value, item.high || 0)), 0), rate, 'Throughput');
  const x = i => box.left + 20 + (box.right - box.left - 40) * (items.length > 1 ? i / (items.length - 1) : 0.5);
  const step = Math.ceil(items.length * axis.width / (box.right - box.left));
  if (axis.is_course)
    chart.append(svg('polyline', { class: 'series', stroke: 'var(--s0)', points: items.flatMap((item, i) => known(item.value) ? [x(i) + ',' + y(item.value)] : []).join(' ') }));
  items.forEach((item, i) => {
    if (i % step === 0)
      chart.append(label(x(i), box.bottom + 20, item.name, { class: 'soft', 'text-anchor': 'middle' }));
    if (!known(item.value))
      return;
    const shapes = [symbol(0, x(i), y(item.value), item.hollow)];
    if (known(item.low) && known(item.high))
      shapes.unshift(whisker(x(i), y(Math.max(0, item.low)), y(item.high), 'var(--s0)'));
    mark(chart, x(i), y(item.value), item.text, ...shapes);
  });
  chart.append(label((box.left + box.right) / 2, box.bottom + 42, axis.title, { class: 'title', 'text-anchor': 'middle' }));
  figure(place, chart, title);
}

function runs(place) {
  sequence(place, 'Throughput of each run, in the order in which they were made; a hollow mark: its warm-up had not become stable.',
    list('runs').map((run, i) => ({ name: String(i + 1), value: is_number(member(run, 'throughput')) ? run.throughput : null, hollow: member(run, 'stable') === false,
      text: `run ${i + 1}\n${rate(member(run, 'throughput'))} over ${duration(member(run, 'seconds') * 1e9)}\n`
        + `warm-up ${duration(member(run, 'warmup_seconds') * 1e9)}, ${member(run, 'stable') === false ? 'not stable' : 'stable'}` })),
    { title: 'Run', width: 30, is_course: true });
}

/* Every run as a dot, and the mean of the setting that led, with its interval, as a step line. */
function search(place) {
  const { steps, settings } = data.search, chart = drawing(1000, 372), box = { left: 80, right: 980, top: 34, bottom: 310 };
  const last = steps[steps.length - 1][0] || 1, x = at => box.left + 10 + (box.right - box.left - 20) * at / last;
  const y = axes(chart, box, Math.max(...steps.map(([, value, , , , mean, , high]) => Math.max(value, mean, high || 0))), rate, 'Throughput');
  for (const tick of ticks(last).filter(each => each <= last))
    chart.append(label(x(tick), box.bottom + 20, tick ? duration(tick * 1e9) : '0', { class: 'soft', 'text-anchor': 'middle' }));
  chart.append(label((box.left + box.right) / 2, box.bottom + 44, 'Time of searching', { class: 'title', 'text-anchor': 'middle' }));
  let line = '';
  steps.forEach(([at, , , , , mean, low, high], i) => {
    const end = i + 1 < steps.length ? steps[i + 1][0] : at;
    if (known(low) && known(high))
      chart.append(svg('rect', { class: 'band', x: x(at), y: y(high), width: Math.max(0, x(end) - x(at)), height: Math.max(0, y(Math.max(0, low)) - y(high)) }));
    line += `${line ? 'V' : `M${x(at)},`}${y(mean)}H${x(end)}`;
  });
  for (const [at, value, setting_number, leader, n, mean] of steps)
    mark(chart, x(at), y(value), `${duration(at * 1e9)}: ${rate(value)}\n${settings[setting_number]}\nleading then: ${settings[leader]}\nwith ${rate(mean)} over ${n} runs`,
      dot(x(at), y(value)));
  chart.append(svg('path', { class: 'series', d: line, stroke: 'var(--s0)' }));
  const [, , , leader, , mean] = steps[steps.length - 1];
  figure(place, chart, `${steps.length} runs; at the end ${settings[leader]} led with ${rate(mean)}. Dots: runs; line: mean of the leading setting, with its interval.`);
}

function nights(place) {
  const is_course = data.nights.every(night => night.where === data.nights[0].where && night.pattern === data.nights[0].pattern);
  sequence(place, 'Throughput of the setting of each result, with its interval.',
    data.nights.map(({ when, where, pattern, setting: row, mean, low, high }) => ({ name: is_course ? when.slice(0, 10) : `${where.slice(0, 16)}`, value: mean, low, high,
      text: `${when || where}\n${pattern} on ${where}\n${row ? setting(row) : 'no recommendation'}\n${rate(mean)}${known(low) ? ` (${rate(low)} to ${rate(high)})` : ''}` })),
    { title: is_course ? 'Measured' : '', width: is_course ? 90 : 130, is_course });
}

/* -- the table -- */

const SHOWN = 10;

function sort_rows(table, heading, entries) {
  const member = Number(heading.dataset.member);
  const down = heading.getAttribute('aria-sort') === 'ascending' || (!heading.hasAttribute('aria-sort') && [MEAN, LOW, IOPS].includes(member));
  const sign = heading.getAttribute('aria-sort') === 'descending' || !down ? 1 : -1;
  for (const other of table.tHead.rows[0].cells)
    other.removeAttribute('aria-sort');
  heading.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');
  /* What is not known comes last either way. */
  entries.sort((a, b) => known(a.row[member]) && known(b.row[member]) ? sign * (a.row[member] - b.row[member]) || a.order - b.order
    : known(b.row[member]) - known(a.row[member]) || a.order - b.order);
  fold(entries);
  table.tBodies[0].append(...entries.map(entry => entry.line));
}

/* Ten rows stay when the others are folded, those with a mark among them. */
function fold(entries) {
  let room = SHOWN - entries.filter(entry => is_kept(entry.row)).length;
  for (const entry of entries)
    entry.line.classList.toggle('more', !is_kept(entry.row) && room-- <= 0);
}

function filter_rows(entries, words, standing, status) {
  let shown = 0;
  for (const entry of entries) {
    entry.line.hidden = !(words.every(word => entry.text.includes(word)) && (standing < 0 || entry.row[STANDING] === standing));
    shown += !entry.line.hidden;
  }
  status.textContent = `${shown} of ${entries.length} settings`;
}

function table_of(table) {
  const entries = [...table.tBodies[0].rows].map((line, order) => ({ line, order, row: data.points[order],
    text: [...line.cells].map(cell => cell.textContent.trim()).join(' ').toLowerCase() }));
  for (const heading of table.tHead.rows[0].cells) {
    const button = element('button', { type: 'button' }, heading.textContent);
    button.addEventListener('click', () => sort_rows(table, heading, entries));
    heading.replaceChildren(button);
  }
  const input = element('input', { type: 'search', id: 'filter', placeholder: 'io_uring 64k' }), status = element('span', { role: 'status' });
  const present = STANDINGS.map((name, i) => ({ name, i })).filter(({ name, i }) => name && data.points.some(row => row[STANDING] === i));
  const standing = element('select', {}, new Option('all', -1), ...present.map(({ name, i }) => new Option(name, i)));
  const update = () => filter_rows(entries, input.value.toLowerCase().split(/\s+/).filter(Boolean), Number(standing.value), status);
  input.addEventListener('input', update);
  standing.addEventListener('change', update);
  if (entries.length > SHOWN)
    table.parentElement.before(element('details', { class: 'fold' }, element('summary', {}, `All ${entries.length} settings, and a filter`),
      element('div', { class: 'controls', role: 'group', 'aria-label': 'Filter of the table' }, control('Rows that hold', input), control('Standing', standing), status)));
  fold(entries);
  update();
}

/* -- copying, printing -- */

async function copy(code, button) {
  const selection = getSelection();
  let done = true;
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    /* Where a page from a file has no clipboard, the selection is what can be copied. */
    selection.selectAllChildren(code);
    done = document.execCommand('copy');
  }
  button.textContent = done ? 'Copied' : 'Selected: press Ctrl-C';
  setTimeout(() => { button.textContent = 'Copy'; }, 2000);
}

function copy_button(box) {
  const code = box.querySelector('code');
  const title = box.querySelector('figcaption') || box.closest('details').querySelector('summary code');
  const button = element('button', { type: 'button', class: 'copy', 'aria-label': 'Copy: ' + title.textContent, 'aria-live': 'polite' }, 'Copy');
  button.addEventListener('click', () => copy(code, button));
  box.prepend(button);
}

function start(id, draw) {
  const place = document.getElementById(id);
  if (place)
    draw(place);
}

start('response', response);
start('run-chart', runs);
start('search-chart', search);
start('night-chart', nights);
start('tradeoff-chart', place => {
  const [chart, ...keys] = scatter({ all: data.points });
  figure(place, chart, 'Throughput against mean latency of every setting.', ...keys);
});
start('table', table_of);
document.querySelectorAll('.code').forEach(copy_button);
