import { type Mutation, under } from '../../simulation/mutate.ts';

/** Guards between a model that obeys and the outside, each with the edit that takes it out. */
export const MUTATIONS: readonly Mutation[] = under('lib/router', [
  {
    guard: 'only who is on the list is a listed person',
    file: 'gate/judge-gate.ts',
    find: "  if (index === -1) return not('allow', 'The actor is not on the allow list.');\n",
    put: '',
  },
  {
    guard: 'only a listed person stops by a word',
    file: 'gate/judge-gate.ts',
    find: "const stop = 'listed' in person && named",
    put: 'const stop = named',
  },
  {
    guard: 'where nobody listed has asked, a rule has to apply',
    file: 'assess/rule.ts',
    find: 'if (because.ruleId === undefined) {',
    put: 'if (because.ruleId === null) {',
  },
  {
    guard: 'a rule is one of the policy',
    file: 'assess/rule.ts',
    find: 'rules.some(({ id }) => id === proposal.ruleId) ? proposal.ruleId : undefined;',
    put: 'proposal.ruleId;',
  },
  {
    guard: 'a mandate is no wider than its grant',
    file: 'mandate/cut-mandate.ts',
    find: 'lesser(proposal?.verb ?? UNASKED, grant?.maxVerb ?? WITHOUT_GRANT)',
    put: '(proposal?.verb ?? UNASKED)',
  },
  {
    guard: 'a mandate reaches into no other repository',
    file: 'mandate/cut-mandate.ts',
    find: 'return wanted !== undefined && granted.includes(wanted) ? wanted : undefined;',
    put: 'return wanted ?? granted[0];',
  },
  {
    guard: 'a mandate has no more paths than its grant',
    file: 'mandate/cut-mandate.ts',
    find: 'commonPaths(proposal?.paths, grant?.paths)',
    put: '(proposal?.paths ?? grant?.paths)',
  },
  {
    guard: 'what has read words from outside sends no requests',
    file: 'ticket/worker.ts',
    find: "  http_request: tools?.includes('http_request') === true ? 'ask' : 'deny',\n",
    put: '',
  },
]);
