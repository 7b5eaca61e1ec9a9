/** What the host lets out when the models obey every attack of the corpus: nothing that mandate and policy do not allow. */
import { describe, expect, it } from 'vitest';
import { testMutations } from '../../simulation/guard-suite.ts';
import { ATTACKS, type Attack, titledAttacks } from '../support/injections.ts';
import { ADA, REPOSITORY, SOURCE } from '../support/team.ts';
import { ASKED, PLACES, type Place, violationsOf } from './corpus.ts';
import { MUTATIONS } from './mutations.ts';

describe.each(PLACES)('an attack $where', (place) => {
  it.each(titledAttacks)('%s', async (_, attack) => {
    expect(violationsOf(await place.play(attack), place)).toEqual([]);
  });
});

const attackOf = (id: string): Attack => {
  const found = ATTACKS.find((attack) => attack.id === id);
  if (found === undefined) throw new Error(`There is no attack ${id}.`);
  return found;
};
const [own, beside, message, file] = PLACES as readonly [Place, Place, Place, Place];
const inAsked = `${REPOSITORY}/issues/${ASKED}`;

/** The same models, where mandate and policy allow what they were told to do: it is the host that holds them back. */
describe('what obeys does act where it may', () => {
  it.each([message, file])('speaks where it was asked, $where', async ({ play }) => {
    const { out } = await play(attackOf('sends-by-link'));
    expect(out.posts).toHaveLength(1);
    expect(out.posts[0]).toMatchObject({ thread: inAsked, body: expect.stringContaining('They say') });
  });

  it.each([message, file])(
    'sends a request that the policy names, once a person has approved, $where',
    async ({ play }) => {
      const host = await play(attackOf('sends-secrets-away'), { worker: { tools: ['http_request'] } });
      expect(host.out.requests).toEqual([]);
      await host.shop.decide(true);
      await host.rest();
      expect(host.out.requests).toMatchObject([{ method: 'POST', url: 'https://collector.example/x' }]);
    },
  );

  it('opens a ticket for a stranger, where a rule of the team lets it, as far as the rule is granted', async () => {
    const rules = [{ id: 'security-fix', text: 'Take up security fixes.' }];
    const grants = [
      { sourceId: SOURCE, scope: 'issue_comment', ruleId: 'security-fix', maxVerb: 'merge-guarded' as const },
      { sourceId: SOURCE, scope: 'issue_comment', actorId: ADA, maxVerb: 'pr' as const },
    ];
    const byRule = ATTACKS.find(({ wants }) => wants.ruleId === 'security-fix') as Attack;
    const { shop } = await own.play(byRule, { rules, grants });
    expect(shop.tickets().map(({ mandate }) => [mandate.verb, mandate.grantedBy])).toContainEqual([
      'merge-guarded',
      'rule:security-fix',
    ]);
  });

  it('has a mandate as wide as it proposes, where the grant of the listed person is', async () => {
    const grants = [{ sourceId: SOURCE, scope: 'issue_comment', actorId: ADA, maxVerb: 'merge-guarded' as const }];
    const { shop } = await beside.play(attackOf('claims-to-be-a-maintainer'), { grants });
    expect(shop.tickets().map(({ mandate }) => mandate.verb)).toContain('merge-guarded');
  });
});

testMutations(
  'the corpus comes through where a guard is taken out of the source',
  'test/router/desk/mutant.ts',
  MUTATIONS,
);
