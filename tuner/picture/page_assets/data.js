/* What the page shows, made of the document in it. A point is a row: its factors, its figures, its standing. */
'use strict';

/* Members of a row, behind the factors; C writes those up to STANDING (page.c), and of an experiment the levels of its factors, of which
 * the conditions become further members. */
const MEAN = 7, LOW = 8, HIGH = 9, IOPS = 10, LATENCY = 11, P99 = 12, DEPTH = 13, REPLAYS = 14, STANDING = 15, LEVELS = 16;
const SIZE = 0, QUEUE = 1, DIRECT = 2, API = 3, THREADS = 4, SYNC = 5, WRITE_SIZE = 6, N_FACTORS = 7;
const PATTERN = 17, FILE_SIZE = 19, ALIGNMENT = 21;
const KEYS = ['request_size', 'queue_depth', 'direct', 'api', 'threads', 'sync', 'write_request_size'];
const CONDITIONS = ['pattern', 'cache', 'file_size', 'files', 'alignment'];
const TITLES = ['Request size', 'Queue depth', 'Direct I/O', 'I/O API', 'Threads', 'Sync', 'Write size'];
['Pattern', 'Cache', 'File size', 'Files', 'Alignment'].forEach((title, i) => { TITLES[PATTERN + i] = title; });
/* Control characters, and those that turn the direction of the text around them: they can make a command look like another one. */
const plain = text => text.replace(/[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
const data = JSON.parse(document.getElementById('data').textContent, (key, value) => typeof value === 'string' ? plain(value) : value);
const answer = data.document;

/* Members of a damaged document may be of any type. */
const member = (object, key) => object !== null && typeof object === 'object' && Object.hasOwn(object, key) ? object[key] : undefined;
const at = (...keys) => keys.reduce(member, answer);
const is_number = value => typeof value === 'number';
const is_object = value => value !== null && typeof value === 'object' && !Array.isArray(value);
const number = (...keys) => is_number(at(...keys)) ? at(...keys) : null;
const string = (...keys) => typeof at(...keys) === 'string' ? at(...keys) : '';
const list = (...keys) => Array.isArray(at(...keys)) ? at(...keys) : [];
const known = value => value !== null && value !== undefined;

/* What the search was for: the figure that tables are sorted by; with a profile a score of several, that no row has. */
const AIM = { latency: LATENCY, p99: P99 }[string('objective', 'name')] || MEAN;
const IS_SCORED = !['', 'max-throughput'].includes(string('profile'));
const FIRST = AIM === MEAN && !IS_SCORED ? 'fastest' : 'best';
const STANDINGS = ['', `recommended, ${FIRST}`, 'recommended', FIRST, `as good as the ${FIRST}`, 'may be as good', 'slower', 'baseline', 'not trusted',
  `${FIRST} and cheapest`, `cheapest as good as the ${FIRST}`, 'few runs', 'probably slower', 'probably worse', 'worse', 'over limit', 'may be over limit',
  'cost not known', 'failed'];
/* Words of the document that the page says otherwise. */
const WORDS = { 'as good': 4 };

const identity = factors => factors.slice(0, N_FACTORS).join();

function standing_of(row, sets, told) {
  const key = identity(row), is = name => known(data[name]) && identity(data[name]) === key;
  if (is('recommendation'))
    return is('best') ? 1 : 2;
  if (is('best'))
    return 3;
  if (is('baseline'))
    return 7;
  if (told === true)
    return 8;
  if (typeof told === 'string')
    return WORDS[told] ?? Math.max(STANDINGS.indexOf(told), 0);
  return sets.undecided.has(key) ? 5 : sets.equivalent.has(key) ? 4 : is_object(answer.best) ? 6 : 0;
}

const is_chosen = row => [1, 2, 9, 10].includes(row[STANDING]);
/* What stands in the table even where it is folded. */
const is_kept = row => [1, 2, 3, 7, 9, 10].includes(row[STANDING]);

/* A row without the figure stands last. */
function by_aim(a, b) {
  if (known(a[AIM]) && known(b[AIM]) && a[AIM] !== b[AIM])
    return AIM === MEAN ? b[AIM] - a[AIM] : a[AIM] - b[AIM];
  const f = KEYS.findIndex((key, i) => a[i] !== b[i]);
  return known(b[AIM]) - known(a[AIM]) || (f < 0 ? 0 : a[f] - b[f]);
}

/* An experiment has an answer for each set of conditions, in numbers of points. */
function read_answers() {
  const set = (number, standing) => { if (data.points[number]) data.points[number][STANDING] = standing; };
  for (const each of list('analysis', 'answers')) {
    [].concat(member(each, 'equivalent') ?? []).forEach(number => set(number, 4));
    [].concat(member(each, 'undecided') ?? []).forEach(number => set(number, 5));
    set(member(each, 'cheapest'), 10);
    set(member(each, 'best'), member(each, 'best') === member(each, 'cheapest') ? 9 : 3);
  }
}

function read_points() {
  const sets = { equivalent: new Set(data.equivalent.map(identity)), undecided: new Set(data.undecided.map(identity)) };
  for (const row of data.points) {
    row[STANDING] = standing_of(row, sets, row[STANDING]);
    row[IOPS] = row[WRITE_SIZE] || !known(row[MEAN]) ? null : row[MEAN] / row[SIZE];
    if (row.length > LEVELS)
      row.push(...CONDITIONS.map(key => member(row[LEVELS], key)));
  }
  if (data.n_damaged === 0)
    read_answers();
  data.points.sort(by_aim);
}

read_points();
const VARYING = TITLES.flatMap((title, f) => data.points.some(row => row[f] !== data.points[0][f]) ? [f] : []);
