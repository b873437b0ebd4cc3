/* The sections of the page: words, tables, commands. What the document has nothing for is left out. */

const sections = document.getElementById('sections').content;

/* -- words -- */

function entry(title, ...content) {
  return content.length > 0 ? [element('dt', {}, title), element('dd', {}, ...content)] : [];
}

const bold = text => element('b', {}, text);
const percent = share => Number((100 * share).toPrecision(6)) + ' %';
const interval_of = (low, high, text) => known(low) && known(high) ? `${text(low)} to ${text(high)}` : '';

function advised() {
  const row = data.recommendation, parts = ['request size ' + size(row[SIZE])];
  if (row[WRITE_SIZE])
    parts[0] += ` of reads and ${size(row[WRITE_SIZE])} of writes`;
  parts.push('queue depth ' + row[QUEUE], row[DIRECT] ? 'direct I/O' : 'buffered I/O', data.apis[row[API]]);
  if (row[THREADS] > 1)
    parts.push(row[THREADS] + ' threads');
  if (data.syncs[row[SYNC]] !== 'end')
    parts.push('sync ' + data.syncs[row[SYNC]]);
  const lead = (verb, text) => element('p', { class: 'lead' }, verb, element('strong', {}, text), '.'), keep = string('keep');
  if (keep)
    return [lead('Keep ', keep), lead('Or use ', parts.join(', '))];
  return [lead(data.baseline && identity(data.baseline) === identity(row) ? 'Keep ' : 'Use ', parts.join(', '))];
}

function refusals() {
  const made = [];
  if (data.why_not)
    made.push(element('p', { class: 'lead' }, 'No recommendation: ', element('strong', {}, data.why_not)));
  if (at('trustworthy') === false)
    made.push(element('p', { class: 'lead' }, element('strong', {}, 'The figures are not trustworthy'), '; the warnings say why.'));
  return made;
}

/* What was compared, where that is another figure than throughput. */
function objective() {
  const name = string('objective', 'name'), mean = number('objective', 'mean'), share = number('objective', 'ratio_to_baseline', 'mean');
  if (!name || name === 'throughput' || !known(mean))
    return [];
  return [name.slice(0, 40) + ': ', bold((string('objective', 'unit') === 'ns' ? duration : count)(mean)),
    (known(share) ? `, ${share.toFixed(2)} times that of the baseline` : '') + (string('objective', 'better') === 'lower' ? '; less is better' : '')];
}

function throughput() {
  const mean = number('throughput', 'mean'), share = number('throughput', 'confidence'), replays = number('throughput', 'replays'), iops = number('iops', 'mean');
  const interval = interval_of(number('throughput', 'ci_low'), number('throughput', 'ci_high'), rate);
  if (!known(mean))
    return [];
  return [bold(rate(mean)), (interval ? `, ${known(share) ? `${percent(share)} ` : ''}interval ${interval}` : '')
    + (known(replays) ? `, ${replays.toFixed(0)} replays` : '') + (known(iops) ? `; ${count(iops)} requests/s` : '')];
}

/* A write is done before the flush at the end, and a buffered one before it has met the device. */
function latency_scope() {
  const row = data.recommendation, sync = row && data.syncs[row[SYNC]], share = key => number('pattern', key) ?? 0, flush = 'without the flush that the throughput has in it: ';
  if (!row || sync === 'each' || !(share('seq_write') + share('rand_write') > 0) || (row[DIRECT] && sync !== 'end'))
    return '';
  if (row[DIRECT])
    return flush;
  if (share('seq_read') + share('rand_read') > 0)
    return 'of reads, and of writes into the page cache ' + (sync === 'end' ? flush : 'alone: ');
  return sync === 'end' ? 'into the page cache, ' + flush : 'into the page cache alone: ';
}

function latency() {
  const parts = [['mean', 'mean'], ['p50', 'median'], ['p99', 'p99'], ['p999', 'p99.9'], ['max', 'longest']]
    .flatMap(([key, title]) => known(number('latency_ns', key)) ? [`${title} ${duration(number('latency_ns', key))}`] : []);
  return known(number('latency_ns', 'mean')) ? [latency_scope() + parts.join(', ')] : [];
}

function gain(key, than) {
  const mean = number(key, 'speedup', 'mean'), low = number(key, 'speedup', 'ci_low'), high = number(key, 'speedup', 'ci_high'), measured = number(key, 'mean');
  if (!known(mean))
    return [];
  return [bold(mean.toFixed(2) + ' times'), ` the throughput of ${than}` + (known(measured) ? ` (${rate(measured)})` : '')
    + (known(low) && known(high) ? `, interval ${low.toFixed(2)} to ${high.toFixed(2)}` + (low <= 1 && high >= 1 ? ': a difference is not proved' : '') : '')];
}

/* 0.5 x, 1.3 x, 240 x; nothing where both are the same. */
const times = (ratio, of) => !(ratio > 0 && ratio < Infinity) || Math.abs(ratio - 1) < 0.05 ? [] : [`${ratio < 9.95 ? ratio.toFixed(1) : ratio.toFixed(0)} x ${of}`];

/* The best setting beside a cheaper one that is recommended, and what it costs. */
function fastest() {
  const best = data.best, here = data.recommendation, gained = number('best', 'mean') / number('throughput', 'mean') - 1;
  const in_flight = row => row[SIZE] * row[QUEUE] * row[THREADS];
  if (!best || !here || identity(best) === identity(here))
    return [];
  const costs = [...times(number('best', 'latency_ns', 'mean') / number('latency_ns', 'mean'), 'the latency'), ...times(in_flight(best) / in_flight(here), 'the bytes in flight')];
  return [bold(setting(best)), `: ${rate(number('best', 'mean'))}` + (string('best_over_recommended', 'words') ? `, ${string('best_over_recommended', 'words')}` : AIM === MEAN && !IS_SCORED ? (gained >= 0.005 ? `, ${(100 * gained).toFixed(0)} % more` : ', no more than that') : '')
    + (costs.length > 0 ? `, at ${costs.join(' and ')}` : '')];
}

/* What a setting will give in a virtual machine, by its atomic tests. */
function inside(key) {
  const mean = number('guest', key, 'throughput_bps', 'mean'), low = number('guest', key, 'throughput_bps', 'ci_low'), high = number('guest', key, 'throughput_bps', 'ci_high');
  return known(mean) ? [bold(rate(mean)), ' predicted' + (known(low) && known(high) ? `, ${rate(low)} to ${rate(high)}` : '')] : [];
}

const BASES = { proved: 'proved', expected: 'expected, not proved' };

/* Never rounded to what is better than it is. */
function share_of(lost) {
  if (string('objective', 'better') === 'lower')
    return ['at most ', bold(Math.ceil(100 * lost - 1e-9) + ' %'), ' above the lowest possible here'];
  return ['at least ', bold(Math.floor(100 * (1 - lost) + 1e-9) + ' %'), IS_SCORED ? ' of the best possible score of this profile here' : ' of the best possible here'];
}

/* Rounded down: 0.998 is not "sure". */
function sureness() {
  const share = number('probability_within_tolerance'), n = number('search', 'space_points'), conclusive = at('conclusive') === true;
  const lost = number('shortfall_bound', 'share'), confidence = number('shortfall_bound', 'confidence');
  const verdict = bold(conclusive ? 'conclusive' : 'not conclusive'), words = BASES[string('basis')];
  const basis = words ? ` That it loses no more than the tolerance to the ${FIRST} is ${words}.` : '';
  if (known(lost) && known(confidence))
    return [`${percent(confidence)} sure of `, ...share_of(lost), ': ', verdict, '.' + basis];
  return [verdict, (known(share) && known(n) ? `: ${(Math.floor(1000 * share) / 10).toFixed(1)} % that none of the ${n.toFixed(0)} settings is better by more than the tolerance` : '')
    + (conclusive ? '' : '. It is the best answer so far; a larger budget or tolerance would tell more') + basis];
}

/* What an experiment found under each set of conditions, in the order of the table. */
function found() {
  const line = (row, words) => element('p', { class: 'lead' }, words, element('strong', {}, setting(row)),
    `: ${rate(row[MEAN])}${known(row[LOW]) ? ` (${short_interval(row)})` : ''}, ${row[REPLAYS]} replays.`);
  return data.points.flatMap(row => row[STANDING] === 9 ? [line(row, 'Fastest, and nothing cheaper is as good: ')] : row[STANDING] === 3 ? [line(row, 'Fastest: ')]
    : row[STANDING] === 10 ? [line(row, 'As good and cheapest: ')] : []);
}

function design() {
  const runs = number('analysis', 'anova', 'runs'), fixed = Object.entries(is_object(answer.fixed) ? answer.fixed : {});
  return [...entry('Design', `${[string('name'), string('design', 'name')].filter(Boolean).join(': ')}, ${data.points.length} settings`
    + (known(runs) ? `, ${runs.toFixed(0)} runs` : '') + (known(number('seconds')) ? `, ${duration(number('seconds') * 1e9)}` : '')),
  ...(fixed.length > 0 ? entry('Fixed', fixed.map(([key, value]) => `${plain(key)} ${value}`).join(', ')) : []),
  ...(list('analysis', 'notes').length > 0 ? entry('To know', ...list('analysis', 'notes').map(text => element('p', { class: 'tight' }, String(text)))) : [])];
}

function others() {
  const n = (...standings) => data.points.filter(row => standings.includes(STANDINGS[row[STANDING]])).length;
  return [`${data.points.length} settings measured; as good as the ${FIRST}, but not as cheap: ${n(`as good as the ${FIRST}`)}; may be as good: ${n('may be as good')}`
    + (n('few runs') ? `; few runs: ${n('few runs')}` : '') + `; slower: ${n('slower', 'worse', 'probably slower', 'probably worse', 'baseline')}`
    + (n('not trusted') ? `; not trusted: ${n('not trusted')}` : '')];
}

function warnings() {
  const lines = list('warnings').map(warning => element('li', {}, String(member(warning, 'text') ?? '') + ' ', element('code', {}, String(member(warning, 'code') ?? '')),
    ...(member(warning, 'disqualifying') === true ? [' ', bold('such settings are not recommended')] : [])));
  if (at('interrupted') === true)
    lines.unshift(element('li', {}, bold('interrupted'), ': the command was stopped before it was done'));
  return lines.length === 0 ? [] : [element('div', { class: 'warnings', role: 'note', 'aria-label': 'Warnings' }, element('h3', {}, 'Worth knowing'), element('ul', {}, ...lines))];
}

const is_experiment = string('schema').startsWith('fstune/experiment/');

function fill_summary(section) {
  if (is_experiment) {
    section.append(...found(), element('dl', {}, ...design()), ...warnings());
    return true;
  }
  const is_default = at('baseline', 'is_default') === true, sustained = string('sustained', 'text');
  section.append(...(data.snippets ? advised() : refusals()), element('dl', {},
    ...(!data.snippets && data.points.length === 1 ? entry('Setting', setting(data.points[0])) : []),
    ...entry('Objective', ...objective()),
    ...entry(FIRST === 'fastest' ? 'Fastest' : 'Best', ...fastest()),
    ...entry('Throughput', ...throughput()),
    ...entry('Latency', ...latency()),
    ...entry('In the guest', ...inside('recommended')),
    ...(fastest().length > 0 ? entry(`The ${FIRST} there`, ...inside('fastest')) : []),
    ...entry('Sustained', ...(sustained ? [sustained] : [])),
    ...(data.snippets ? [...entry('Gain', ...gain('baseline', is_default ? 'the default setting' : 'the setting used until now')),
      ...entry('Gain', ...gain('default', 'the default setting')), ...entry('Not alike', ...(string('unlike') ? [string('unlike')] : [])), ...entry('How sure', ...sureness()), ...entry('Others', ...others())] : []),
    ...entry('What matters', ...[string('importance', 'scope'), ...list('importance', 'words')].filter(Boolean).flatMap((words, i) => [...(i > 0 ? [element('br')] : []), String(words)]))), ...warnings());
  return true;
}

/* -- tables -- */

const cells = (...texts) => texts.map(text => element('td', {}, text));
const heading = text => element('th', { scope: 'row' }, text);

function fill_rows(section, rows) {
  section.querySelector('tbody').append(...rows.map(row => element('tr', {}, ...row)));
  return rows.length > 0;
}

/* "1.18 to 1.24 GB/s": the unit once where it is the same. */
function short_interval(row) {
  const low = rate(row[LOW]), high = rate(row[HIGH]), unit = text => text.slice(text.indexOf(' '));
  return interval_of(row[LOW], row[HIGH], rate) && `${unit(low) === unit(high) ? low.slice(0, low.indexOf(' ')) : low} to ${high}` || '-';
}

/* A column sorts by the member of that number. */
const COLUMNS = [
  { title: 'Standing', member: STANDING, text: row => STANDINGS[row[STANDING]] },
  { title: 'Throughput', member: MEAN, text: row => rate(row[MEAN]) }, { title: 'Interval', member: LOW, text: short_interval },
  { title: 'IOPS', member: IOPS, text: row => count(row[IOPS]) }, { title: 'Mean latency', member: LATENCY, text: row => duration(row[LATENCY]) },
  { title: 'p99 latency', member: P99, text: row => duration(row[P99]) }, { title: 'Depth reached', member: DEPTH, text: row => known(row[DEPTH]) ? row[DEPTH].toFixed(1) : '-' },
  { title: 'Replays', member: REPLAYS, text: row => known(row[REPLAYS]) ? row[REPLAYS].toFixed(0) : '-' },
];

function caption_of_points() {
  const same = KEYS.flatMap((key, f) => VARYING.includes(f) || f === WRITE_SIZE ? [] : [`${key} ${level(f, data.points[0][f])}`]);
  return `Best ${AIM === MEAN ? 'throughput' : AIM === P99 ? 'p99 latency' : 'mean latency'} first. ` + (same.length > 0 ? `The same in all: ${same.join(', ')}. ` : '') + 'An interval needs three replays; below five it is preliminary.'
    + (data.snippets ? ' These figures are of all replays, those of the summary of the ones made after the choice.' : '')
    + (list('warnings').some(warning => ['rate_changed', 'rate_wanders'].includes(member(warning, 'code')))
      ? ' The storage went at several rates meanwhile, so that rows measured at other times are no comparison.' : '')
    + (data.n_damaged > 0 ? ` ${data.n_damaged} damaged rows of the document were left out.` : '');
}

function fill_points(section) {
  if (data.points.length === 0)
    return false;
  const columns = [...VARYING.map(f => ({ title: TITLES[f], member: f, text: row => level(f, row[f]) })), ...COLUMNS];
  section.querySelector('caption').append(caption_of_points());
  section.querySelector('thead tr').append(...columns.map(column => element('th', { scope: 'col', 'data-member': column.member,
    ...(column.member === AIM ? { 'aria-sort': AIM === MEAN ? 'descending' : 'ascending' } : {}) }, column.title)));
  section.querySelector('tbody').append(...data.points.map(row => element('tr', is_chosen(row) ? { class: 'chosen' } : {}, ...cells(...columns.map(column => column.text(row))))));
  return true;
}

/* -- throughput against latency -- */

function fill_tradeoff(section) {
  const named = Object.entries(data.profiles).filter(([, row]) => row), top = named.find(([name]) => name === 'max-throughput');
  const front = new Set(data.pareto.map(identity)), share = (row, of) => top && known(row[of]) && known(top[1][of]) ? row[of] / top[1][of] : null;
  const [profiles, points] = section.querySelectorAll('tbody');
  profiles.append(...named.map(([name, row]) => element('tr', data.recommendation && identity(row) === identity(data.recommendation) ? { class: 'chosen' } : {}, heading(plain(name)),
    ...cells(setting(row), rate(row[MEAN]), known(share(row, MEAN)) ? (100 * share(row, MEAN)).toFixed(0) + ' %' : '-', duration(row[LATENCY]),
      known(share(row, LATENCY)) ? `${Number((100 * share(row, LATENCY)).toPrecision(2))} %` : '-', row[REPLAYS]))));
  points.append(...data.points.filter(row => front.has(identity(row))).map(row => element('tr', is_chosen(row) ? { class: 'chosen' } : {},
    heading(setting(row)), ...cells(rate(row[MEAN]), duration(row[LATENCY]), row[REPLAYS]))));
  if (named.length === 0)
    profiles.closest('.scroll').remove();
  if (front.size === 0)
    points.closest('details').remove();
  return named.length > 0 || front.size > 0;
}

/* -- the analysis of an experiment -- */

function fill_analysis(section) {
  const of = (object, key) => is_number(member(object, key)) ? member(object, key) : null, terms = list('analysis', 'anova', 'terms');
  const share = object => known(of(object, 'share')) ? (100 * of(object, 'share')).toFixed(1) + ' %' : '-', number_of = value => !known(value) ? '-' : value < 1000 ? value.toPrecision(3) : value.toFixed(0);
  const [table, levels_table] = section.querySelectorAll('tbody'), line = (name, object, f, p) => element('tr', {}, heading(name), ...cells(share(object), of(object, 'df') ?? '-', f, p));
  table.append(...terms.map(term => line([].concat(member(term, 'factors') ?? []).join(' x '), term, number_of(of(term, 'f')),
    known(of(term, 'p')) ? (of(term, 'p') < 0.001 ? '< 0.001' : of(term, 'p').toFixed(3)) : '-')),
  line('three factors and more', at('analysis', 'anova', 'rest'), '-', '-'), line('runs of one setting', at('analysis', 'anova', 'error'), '-', '-'));
  levels_table.append(...list('analysis', 'levels').flatMap(each => [].concat(member(each, 'levels') ?? []).map((level, i) => element('tr', {},
    heading(i === 0 ? String(member(each, 'factor')) : ''), ...cells(String(member(level, 'text')), number_of(of(level, 'ratio')) + ' x')))));
  return terms.length > 0;
}

function fill_runs(section) {
  const figure_of = (run, key) => is_number(member(run, key)) ? member(run, key) : null, seconds = value => duration(known(value) ? value * 1e9 : null);
  return fill_rows(section, list('runs').map((run, i) => [heading(String(i + 1)), ...cells(rate(figure_of(run, 'throughput')), seconds(figure_of(run, 'seconds')),
    seconds(figure_of(run, 'warmup_seconds')), duration(figure_of(run, 'latency_mean_ns')), member(run, 'stable') === false ? 'no' : 'yes')]));
}

function fill_search(section) {
  const { steps, settings, n_runs } = data.search;
  if (n_runs > steps.length)
    section.querySelector('details').before(element('p', {}, `The first ${steps.length} of ${n_runs} runs.`));
  return fill_rows(section, steps.filter(([, , , leader], i) => i === 0 || leader !== steps[i - 1][3])
    .map(([when, , , leader, n, mean]) => [heading(duration(Math.max(when * 1e9, 0))), ...cells(settings[leader], rate(mean), n)]));
}

function fill_nights(section) {
  fill_rows(section, data.nights.map(night => [heading(night.when || 'unknown'),
    ...cells(night.where, night.pattern, night.setting ? setting(night.setting) : 'none', rate(night.mean), rate(night.low), rate(night.high))]));
  return data.nights.length > 1;
}

function fill_system(section) {
  const text = value => value === null ? 'not known' : typeof value === 'string' ? value : JSON.stringify(value);
  const dropped = list('dropped').map(each => element('li', {}, bold(String(member(each, 'what') ?? '')), ': ', String(member(each, 'why') ?? '')));
  if (dropped.length > 0)
    section.append(element('h3', {}, 'Not measured'), element('ul', {}, ...dropped));
  return is_object(answer.system) && fill_rows(section, Object.entries(answer.system).map(([key, value]) => [heading(plain(key)), ...cells(text(value))]));
}

/* -- what can be copied -- */

function code(title, text) {
  return element('figure', { class: 'code' }, ...(title ? [element('figcaption', {}, title)] : []), element('pre', { tabindex: 0 }, element('code', {}, text)));
}

function fill_snippets(section) {
  section.append(...(data.snippets || []).map(snippet => element('details', { class: 'snippet' }, element('summary', {}, element('code', {}, snippet.name), ' ' + snippet.title),
    ...(snippet.text === null ? [element('p', {}, 'Nothing: ' + snippet.why)] : [code('', snippet.text)]),
    ...(snippet.remarks ? [element('p', { class: 'remarks' }, snippet.remarks)] : []))));
  return data.snippets !== null;
}

/* One word for a shell; what needs no quotes gets none. */
const word = text => /^[\w\-+=:,./%]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/* Options whose value is not known are left out. */
const command = (name, settings) => ['fstune ' + name, ...settings.flatMap(([option, value]) => known(value) && value !== '' ? [`--${option} ${word(String(value))}`] : [])].join(' ');

/* Where: the directory; a surface is known by its name only. */
function place() {
  const bytes = number('system', 'test_file_bytes');
  if (at('system', 'simulated') === true)
    return [['simulate', 'SURFACE.conf']];
  return [['path', string('system', 'path')], ['file-size', bytes >= 1 && bytes < 1e18 ? size(bytes) : ''], ['cache', string('system', 'cache') === 'warm' ? 'warm' : '']];
}

const seed_of = (...keys) => Number.isInteger(number(...keys, 'seed')) ? number(...keys, 'seed') : '';
const pattern = row => ['pattern', (row && row[PATTERN]) || string('pattern', 'name') || string('fixed', 'pattern') || 'PATTERN'];

function search_command() {
  const seconds = number('search', 'seconds'), share = number('throughput', 'confidence'), aim = string('objective', 'name'), method = string('search', 'method_asked');
  return command('recommend', [pattern(), ...place(), ['budget', known(seconds) && seconds < 1e7 ? Math.ceil(seconds) + 's' : ''], ['objective', aim === 'throughput' ? '' : aim],
    ['confidence', known(share) && Math.abs(share - 0.95) > 1e-9 ? percent(share).replace(' ', '') : ''], ['method', method === 'auto' ? '' : method], ['seed', seed_of('search')]]);
}

function measure_command(row) {
  return command('measure', [pattern(row), ...place(), ...KEYS.map((key, f) => [key.replaceAll('_', '-'), f === WRITE_SIZE && !row[f] ? '' : level(f, row[f])]), ['seed', seed_of()]]);
}

function fill_reproduce(section) {
  const row = data.points.find(is_chosen) || (data.points.length === 1 ? data.points[0] : null), searched = is_object(answer.search);
  const own_fio = string('fio_job'), emitted = (data.snippets || []).find(snippet => snippet.name === 'fio' && snippet.text);
  const fio = own_fio || (emitted && number('system', 'test_file_bytes') >= 1 ? emitted.text : '');
  if (searched)
    section.append(code('A search like it', search_command()),
      element('p', {}, 'The budget is the time that the search took, rounded up. What else its command line said (pinned factors, limits) is not in the document.'));
  if (row)
    section.append(code('One setting alone', measure_command(row)), ...(fio ? [code('The same with fio', fio)] : []));
  if (known(searched ? number('search', 'seed') : number('seed')))
    section.append(element('p', {}, 'The seed fixes offsets and the order of runs; a disk answers differently all the same.'));
  return row || searched;
}

/* -- the page -- */

function title() {
  const device = string('system', 'device');
  return (is_experiment ? `Experiment ${string('name')}`.trim() : string('pattern', 'name') || 'Workload') + (at('system', 'simulated') === true ? ` on the simulated surface ${string('system', 'surface')}`
    : ` on ${string('system', 'file_system') || 'an unknown file system'}${device ? ', ' + device : ''}`);
}

function origin() {
  const facts = [['host ', 'hostname'], ['directory ', 'path'], ['kernel ', 'kernel'], ['', 'measured_at']].filter(([, key]) => string('system', key));
  return facts.length === 0 ? ['Nothing was measured on a disk: the rates come from a table, in virtual time.']
    : facts.flatMap(([before, key], i) => [(i > 0 ? ' \u00b7 ' : '') + before, element('bdi', {}, string('system', key))]);
}

const FILLS = { summary: fill_summary, charts: () => data.points.length > 1, tradeoff: fill_tradeoff, analysis: fill_analysis, points: fill_points, runs: fill_runs, search: fill_search, nights: fill_nights, snippets: fill_snippets,
  reproduce: fill_reproduce, system: fill_system };

for (const [id, fill] of Object.entries(FILLS)) {
  const section = sections.getElementById(id);
  if (fill(section))
    document.querySelector('nav ul').append(element('li', {}, element('a', { href: '#' + id }, section.querySelector('h2').textContent)));
  else
    section.remove();
}
document.title = title() + ' - fstune';
document.querySelector('h1').textContent = title();
document.querySelector('.origin').append(...origin());
document.getElementById('main').append(sections);
