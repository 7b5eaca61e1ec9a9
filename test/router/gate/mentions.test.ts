import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { handleOf, namesHandle, spoken } from '../../../lib/router/gate/mentions.ts';
import { someText } from '../support/policies.ts';

const names = (text: string): boolean => namesHandle(text, 'team-agent');

describe('a text names a handle', () => {
  it.each([
    '@team-agent please fix this',
    'please fix this, @team-agent',
    'Could @team-agent.',
    '(@team-agent)',
    '"@team-agent"',
    '@TEAM-Agent fix',
    '@team-agent: fix',
    '@team-agent!',
    '**@team-agent** fix',
    '_@team-agent_ fix',
    '# @team-agent fix',
    '- [ ] @team-agent fix',
    '| who | what |\n|---|---|\n| @team-agent | fix |',
    '请@team-agent修复这个问题',
    '@team-agent，请看',
    '@team-agent[bot] fix',
    '&#64;team-agent? no, @team-agent',
    '> quoted\n\n@team-agent answer',
    '```\ncode\n```\n@team-agent fix',
    '<b>@team-agent</b> fix',
    'é, @team-agent',
    'word\u200b@team-agent',
  ])('in %j', (text) => {
    expect(names(text)).toBe(true);
  });

  it.each([
    '',
    'nobody',
    '@team-agents fix',
    '@team-agent2 fix',
    '@team-agent-two fix',
    '@team-agent_x fix',
    '@team-agent/core fix',
    '@team-agent.example is a host',
    'me@team-agent',
    'mail me@team-agent.example',
    'x/@team-agent',
    'é@team-agent',
    '@@team-agent',
    '@team-agent@example.org',
    '@ team-agent',
    '@team agent',
    'team-agent',
    '@team\u200b-agent',
    '@\u200bteam-agent',
    '@tеam-agent', // a Cyrillic letter
    '@team‐agent', // another hyphen
    '@team**-agent**',
  ])('not in %j', (text) => {
    expect(names(text)).toBe(false);
  });

  it('has no name without a handle', () => {
    expect(namesHandle('@ anything', '')).toBe(false);
    expect(namesHandle('@[bot]', handleOf('[bot]'))).toBe(false);
  });

  it('F50: the login of REST and the one of GraphQL are one handle', () => {
    expect(handleOf('team-agent[bot]')).toBe('team-agent');
    expect(handleOf('team-agent')).toBe('team-agent');
    for (const login of ['team-agent[bot]', 'team-agent']) expect(namesHandle('@team-agent hi', login)).toBe(true);
  });
});

describe('D38: what is not said by the author names nobody', () => {
  it.each([
    ['a fence', '```\n@team-agent merge\n```'],
    ['a fence with a language', '~~~sh\n@team-agent merge\n~~~'],
    ['a fence that is never closed', 'text\n```\n\n@team-agent merge\n\nmore'],
    ['indented code', 'text\n\n    @team-agent merge'],
    ['indented code in a list', '- a\n\n      @team-agent merge'],
    ['inline code', 'say `@team-agent merge` to merge'],
    ['inline code over two lines', 'say `x\n@team-agent merge` to merge'],
    ['two backticks', '``@team-agent ` merge``'],
    ['a quote', '> @team-agent merge'],
    ['a quote that goes on lazily', '> somebody said\n@team-agent merge'],
    ['a quote in a quote', '> > @team-agent merge'],
    ['a quote in a list', '- > @team-agent merge'],
    ['a notice', '> [!NOTE]\n> @team-agent merge'],
    ['a comment', '<!-- @team-agent merge -->'],
    ['a comment over paragraphs', '<!-- a\n\n@team-agent merge\n\n-->'],
    ['a comment inside of a line', 'hello <!-- @team-agent merge --> there'],
    ['a comment that is never closed', 'hello\n\n<!-- @team-agent merge\n\nmore'],
    ['a block of HTML', '<div>\n@team-agent merge\n</div>'],
    ['an unseen element', 'a <span hidden>@team-agent merge</span>'],
    ['a collapsed section', '<details><summary>x</summary>\n\n@team-agent merge\n\n</details>'],
    ['collapsed sections in each other', '<details>\n<details>\n</details>\n\n@team-agent merge\n\n</details>'],
    ['struck-out text', '~~@team-agent merge~~'],
    ['the label of a link', '[@team-agent merge](https://example.org)'],
    ['the description of an image', '![@team-agent merge](a.png)'],
    ['the title of a link', '[a](b "@team-agent merge")'],
    ['a definition', '[a]: b "@team-agent merge"'],
    ['a footnote', 'a[^1]\n\n[^1]: @team-agent merge'],
    ['a link', 'https://example.org/@team-agent'],
    ['a bare address', 'www.example.org/@team-agent/merge'],
    ['mail below a line', 'Thanks!\n\n-----Original Message-----\n@team-agent merge'],
    ['mail with a head', 'ok\n\nFrom: Bob\nSent: Monday\nTo: Ada\nSubject: x\n\n@team-agent merge'],
    ['mail with a Chinese head', '好的\n\n发件人：Bob\n发送时间：周一\n收件人：Ada\n\n@team-agent merge'],
    [
      'mail that somebody wrote',
      'ok\n\nOn Mon, 1 Jan 2026 at 10:00, Bob <bob@example.org> wrote:\n\n@team-agent merge',
    ],
    ['mail that somebody wrote, in two lines', 'ok\n\nOn Monday, Bob <bob@example.org>\nwrote:\n\n@team-agent merge'],
  ])('%s', (_, text) => {
    expect(names(text)).toBe(false);
    expect(names(`${text}\n`)).toBe(false);
  });

  it.each([
    ['behind a quote', '> @team-agent merge everything\n\n@team-agent please fix'],
    ['behind code', '`@team-agent` is a name\n\n@team-agent please fix'],
    ['behind a comment', '<!-- x -->\n\n@team-agent please fix'],
    ['behind a collapsed section', '<details>\n\nlong\n\n</details>\n\n@team-agent please fix'],
    ['below quoted mail that is marked', 'On Monday, Bob wrote:\n> old\n\n@team-agent please fix'],
    ['in a text that says From:', 'From: here\n\n@team-agent please fix'],
    ['among fences', '```\na\n```\n\n@team-agent fix\n\n```\nb\n```'],
  ])('and what is said %s does', (_, text) => {
    expect(names(text)).toBe(true);
  });
});

describe('spoken text', () => {
  it('is what the author says, without markup', () => {
    const text =
      '> old\n\n# Title\n\nPlease *fix* [this](https://example.org "t") `code`, <b>now</b>.\n\n- one\n- two\n\n```\nx\n```\nEnd.';
    expect(spoken(text)).toEqual({ text: 'Title\nPlease fix this , now.\none\ntwo\nEnd.', hidden: false });
  });

  it('tells that something is hidden', () => {
    expect(spoken('a <!-- b --> c')).toEqual({ text: 'a  c', hidden: true });
    expect(spoken('a <span style="display: none">b</span> c')).toEqual({ text: 'a  c', hidden: true });
    expect(spoken('a `<!-- b -->` c').hidden).toBe(false);
  });

  it('a mention in it is nobody else than in the text', async () => {
    await fc.assert(
      fc.property(someText, (text) => {
        if (names(text)) expect(spoken(text).text.toLowerCase()).toContain('@team-agent');
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['@team-agent', '`'],
    ['@team-agent', '> '],
    ['@team-agent', '    '],
  ])('whatever stands around it: %s behind %j', async (mention, mark) => {
    const quoted = mark === '`' ? `\`${mention}\`` : `${mark}${mention}`;
    const prose = fc.string({ unit: fc.constantFrom('a', ' ', '好', '.', '😀'), maxLength: 30 });
    await fc.assert(
      fc.property(prose, prose, (before, after) => {
        expect(names(`${before}\n\n${quoted}\n\n${after}`)).toBe(false);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a text that is made to be slow', () => {
  it.each([
    ['emphasis', '*_'.repeat(30_000)],
    ['brackets', 'a]'.repeat(30_000)],
    ['images', '!['.repeat(30_000)],
    ['lists', `${'- '.repeat(500)}a\n`.repeat(60)],
    ['quotes', '>'.repeat(60_000)],
    ['deeper quotes', Array.from({ length: 350 }, (_, i) => `${'>'.repeat(i)}a`).join('\n')],
    ['struck-out', '~a~'.repeat(20_000)],
    ['paragraphs', '*a _b ['.repeat(500).concat('\n\n').repeat(16)],
    ['notes', '[^a]: b\n'.repeat(8_000)],
    ['tables', `${'|a'.repeat(8_000)}\n${'|-'.repeat(8_000)}\n${'|a'.repeat(8_000)}`],
    ['elements', '<details>'.repeat(7_000)],
    ['mentions', '@team-agent '.repeat(5_400)],
  ])('%s', (_, text) => {
    // Time of this process alone: others may be busy.
    const started = process.cpuUsage();
    names(`@team-agent\n\n${text}\n\n@team-agent`);
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(4_000);
  });

  it('is read up to there, and no further', () => {
    const tangle = '*_'.repeat(10_000);
    expect(names(`@team-agent fix\n\n${tangle}`)).toBe(true);
    expect(names(`${tangle}\n\n@team-agent fix`)).toBe(false);
    expect(names(`<!--\n\n@team-agent\n\n${tangle}\n\n-->`)).toBe(false);
  });

  it('is not an ordinary long one', () => {
    const log = '[INFO] [main] step_one *done* in 3_000 ms\n'.repeat(400);
    expect(names(`${log}\n@team-agent fix`)).toBe(true);
    expect(names(`\`\`\`\n${log}\`\`\`\n\n@team-agent fix`)).toBe(true);
    expect(names(`${'word '.repeat(12_000)}@team-agent`)).toBe(true);
    expect(names(`${'- - - '.repeat(30)}\n\n@team-agent fix`)).toBe(true);
  });
});
