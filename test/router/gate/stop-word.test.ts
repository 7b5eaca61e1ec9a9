import { describe, expect, it } from 'vitest';
import { judgeGate } from '../../../lib/router/gate/judge-gate.ts';
import { namesHandle } from '../../../lib/router/gate/mentions.ts';
import { saysStop } from '../../../lib/router/gate/stop-word.ts';
import { eventOf, policyOf, SELF, STRANGER } from '../support/policies.ts';

describe('I21: stop', () => {
  it.each([
    '@team-agent stop',
    '@team-agent Stop.',
    '@team-agent STOP!',
    '@team-agent: stop, please',
    '@team-agent, please stop',
    '@team-agent\n\nstop',
    '@team-agent **stop** now',
    '@team-agent 停止',
    '@team-agent停止吧',
    '@team-agent，请停止',
    '@team-agent[bot] 停止',
    'That is wrong. @team-agent stop',
    '> @team-agent go on\n\n@team-agent stop',
    '@team-agent look at this\n\n@team-agent stop',
  ])('is said in %j', (text) => {
    expect(saysStop(text, SELF.login)).toBe(true);
  });

  it.each([
    '@team-agent go on',
    '@team-agent stopping is hard',
    '@team-agent stop-words are wrong',
    '@team-agent stopped?',
    '@team-agent do not stop',
    '@team-agent 不要停止',
    'stop',
    'stop @team-agent',
    '@other stop, @team-agent go on',
    '> @team-agent stop',
    '`@team-agent stop`',
    '@team-agent `stop`',
    '@team-agent <!-- --> ~~stop~~ go on',
    '<!-- @team-agent stop -->',
    '@team-agents stop',
  ])('is not said in %j', (text) => {
    expect(saysStop(text, SELF.login)).toBe(false);
  });

  it.each([
    ['stop', true],
    ['Please stop!', true],
    ['停止', true],
    ['<@U0123> stop', true],
    ['@Agent, stop', true],
    ['@one @two 停止', true],
    ['go on', false],
    ['@Agent go on and then stop', false],
    ['> stop', false],
  ])('in chats, where mentions are ids: %j is %s', (text, says) => {
    expect(saysStop(text, undefined)).toBe(says);
  });

  it('of a listed person is heard under any ceiling', () => {
    for (const scope of ['issue_comment', 'check_run', 'issues']) {
      const event = eventOf({ scope, text: '@team-agent stop' });
      expect(judgeGate(policyOf(), event, SELF, true).stop).toBe(true);
    }
  });

  it('of anybody else, or without naming us, is not', () => {
    const text = '@team-agent stop';
    const stranger = eventOf({ text, actor: { id: STRANGER, type: 'user' } });
    expect(judgeGate(policyOf(), stranger, SELF, true)).not.toHaveProperty('stop');
    const quoted = eventOf({ text: `> ${text}` });
    expect(judgeGate(policyOf(), quoted, SELF, namesHandle(quoted.text, 'team-agent'))).not.toHaveProperty('stop');
    expect(judgeGate(policyOf(), eventOf({ text }), SELF, false)).not.toHaveProperty('stop');
  });
});
