import { type Conversation, type Event, eventsOf, fileText, listedPaths } from './conversation.ts';
import { csvPath, type Series, seriesIn, sum, toCsv, totalOf } from './figures.ts';

/** What the rehearsal model says next. */
export interface Reply {
  readonly content: string;
  readonly calls: readonly { readonly name: string; readonly args: { readonly [name: string]: unknown } }[];
}

const REPORT = 'report.md';
const TOTALS = 'totals.csv';
const NOTES = 'notes.md';

const call = (name: string, args: { readonly [name: string]: unknown }, content: string): Reply => ({
  content: `(rehearsal) ${content}`,
  calls: [{ name, args }],
});

const finish = (result: string): Reply =>
  call('finish', { result: `Rehearsal: ${result}` }, 'That is all there is to do.');

/**
 * Decides the next call from the conversation alone, so it goes on wherever an interruption left the run, and what a file
 * really holds decides what is reported. It knows two jobs: figures given in the goals or instructions are put into files,
 * read back, added up and reported; any other goal is noted in a file and read back.
 */
export const decide = (conversation: Conversation): Reply => {
  const events = eventsOf(conversation);
  const offered = (name: string): boolean => conversation.tools.includes(name);
  const needed = ['write_file', 'append_file', 'read_file', 'list_files', 'finish'];
  const missing = needed.filter((name) => !offered(name));
  if (missing.length > 0) {
    const text = `This is a rehearsal model; without the tools ${missing.join(', ')} it has no job that it could do.`;
    return offered('finish') ? finish(text) : { content: text, calls: [] };
  }
  const stuck = repeatedFailure(events);
  if (stuck !== undefined) return finish(`${stuck.name} failed three times in a row: ${stuck.answer.slice(0, 300)}`);

  const texts = conversation.messages.filter(({ role }) => role === 'system' || role === 'user');
  const given = texts.map(({ content }) => content).join('\n');
  const series = lastOfEachName(seriesIn(given));
  const started = conversation.messages.some(({ role }) => role === 'assistant');
  if (!started && !/\bsummar(?:y|ised|ized)\b/i.test(given) && offered('think')) {
    const plan =
      series.length > 0
        ? `Put the figures of ${series.map(({ name }) => name).join(', ')} into files, read them back, add them up, report.`
        : 'There are no figures in the task. Note the goal in a file, read it back, and say what was noted.';
    return call('think', { thought: plan }, 'First a plan.');
  }
  if (asksForPerson(given) && offered('ask_user') && !events.some(({ name }) => name === 'ask_user')) {
    return call(
      'ask_user',
      { question: 'The task says to ask you. What should the report mention?' },
      'I have to ask.',
    );
  }
  const lastList = events.findLastIndex(({ name }) => name === 'list_files');
  if (events.findLastIndex(({ doubtful }) => doubtful) > lastList) {
    return call('list_files', {}, 'Nobody knows whether that happened; looking before doing it again.');
  }
  // A window that does not reach back to the beginning tells nothing of the files, so they are looked up.
  if (!events.some(({ name }) => name === 'think' || name === 'list_files')) {
    return call('list_files', {}, 'Which files are there already?');
  }
  return series.length > 0 ? figuresJob(series, events) : notesJob(given, events);
};

const asksForPerson = (text: string): boolean => /\bask (?:me|the user)\b/i.test(text);

const repeatedFailure = (events: readonly Event[]): Event | undefined => {
  const last = events.slice(-3);
  const [first] = last;
  const same = last.every((event) => !event.ok && event.name === first?.name && event.path === first.path);
  return last.length === 3 && same ? first : undefined;
};

/** What a person says later stands above what was given first. */
const lastOfEachName = (series: readonly Series[]): readonly Series[] => [
  ...new Map(series.map((one) => [one.name, one])).values(),
];

const figuresJob = (series: readonly Series[], events: readonly Event[]): Reply => {
  const known = knownFiles(events);
  const next = series.find(({ name }) => !known.has(csvPath(name)));
  if (next !== undefined) {
    const path = csvPath(next.name);
    const written = events.filter((event) => event.name === 'write_file' && event.path === path && event.ok).length;
    if (written >= 3) return finish(`${path} was written three times and is gone again.`);
    return call('write_file', { path, content: toCsv(next) }, `The figures of ${next.name} go into ${path}.`);
  }
  const lastWrite = events.findLastIndex((event) => event.name === 'write_file' && event.path.startsWith('figures/'));
  const lastList = events.findLastIndex(({ name, ok }) => name === 'list_files' && ok);
  if (lastList < lastWrite || lastList === -1) return call('list_files', {}, 'Are all files there?');

  const files = [...known].filter((path) => /^figures\/.*\.csv$/.test(path)).sort();
  const texts = new Map(files.map((path) => [path, lastRead(path, events)]));
  const unread = files.filter((path) => texts.get(path) === undefined).slice(0, 8);
  if (unread.length > 0) {
    const calls = unread.map((path) => ({ name: 'read_file', args: { path } }));
    return { content: `(rehearsal) Reading ${unread.join(', ')} back.`, calls };
  }

  const totals = files.map((path) => totalOf(path, texts.get(path) ?? ''));
  const lines = reportLines(totals, answerOf(events));
  const report = `${lines.join('\n')}\n`;
  if (!known.has(REPORT)) {
    const csv = ['name,total', ...totals.map(({ name, total }) => `${name},${total}`), ''].join('\n');
    return {
      content: '(rehearsal) The totals and the report.',
      calls: [
        { name: 'write_file', args: { path: TOTALS, content: csv } },
        { name: 'append_file', args: { path: REPORT, content: report } },
      ],
    };
  }
  const written = lastRead(REPORT, events);
  if (written === undefined) return call('read_file', { path: REPORT }, 'Does the report say what it should?');
  if (!lines.every((line) => written.includes(line))) {
    return call('write_file', { path: REPORT, content: report }, 'The report does not fit the files; writing it anew.');
  }
  const each = totals.map(({ name, total }) => `${name} ${total}`).join(', ');
  return finish(
    `${each}; grand total ${sum(totals.map(({ total }) => total))} from ${files.length} files. See ${REPORT}.`,
  );
};

const reportLines = (
  totals: readonly { readonly name: string; readonly total: number }[],
  wish: string | undefined,
): readonly string[] => {
  const best = totals.reduce<(typeof totals)[number] | undefined>(
    (top, one) => (top === undefined || one.total > top.total ? one : top),
    undefined,
  );
  return [
    '# Report',
    ...totals.map(({ name, total }) => `- ${name}: ${total}`),
    `Grand total: ${sum(totals.map(({ total }) => total))}`,
    `Highest: ${best?.name ?? 'none'} (${best?.total ?? 0})`,
    ...(wish === undefined ? [] : [`Asked for: ${wish}`]),
    'Written by the rehearsal model from the files as it read them.',
  ];
};

/** A person's answer to `ask_user`, on one line. */
const answerOf = (events: readonly Event[]): string | undefined => {
  const asked = events.findLast(({ name, ok }) => name === 'ask_user' && ok);
  return asked?.answer.replace(/\s+/g, ' ').trim().slice(0, 300);
};

const notesJob = (given: string, events: readonly Event[]): Reply => {
  const known = knownFiles(events);
  const text = lastRead(NOTES, events);
  if (!known.has(NOTES)) {
    const wish = answerOf(events);
    const content = `# Notes of a rehearsal\n\n${given.trim().slice(0, 2_000)}\n${wish === undefined ? '' : `\nAsked for: ${wish}\n`}`;
    return call('write_file', { path: NOTES, content }, `The goal goes into ${NOTES}.`);
  }
  if (text === undefined) return call('read_file', { path: NOTES }, 'Reading the notes back.');
  const words = text.split(/\s+/).filter((word) => word !== '').length;
  return finish(`no real model is configured, so the goal was only noted. ${NOTES} has ${words} words.`);
};

/** The files that are there, as far as the conversation tells. */
const knownFiles = (events: readonly Event[]): ReadonlySet<string> => {
  let known = new Set<string>();
  for (const { name, path, ok, answer } of events) {
    if (name === 'list_files' && ok) known = new Set(listedPaths(answer));
    else if (name === 'list_files' && /^there are no files/i.test(answer)) known = new Set();
    else if ((name === 'write_file' || name === 'append_file') && ok) known.add(path);
    else if (name === 'delete_file' || (name === 'read_file' && /^there is no file/i.test(answer))) known.delete(path);
  }
  return known;
};

/** What a file held when it was last read; `undefined` when that was before its last change, or never. */
const lastRead = (path: string, events: readonly Event[]): string | undefined => {
  const last = events.findLast((event) => event.path === path && event.ok);
  return last?.name === 'read_file' ? fileText(last.answer) : undefined;
};
