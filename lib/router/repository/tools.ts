import type { Tool } from '../../tools/tool.ts';
import { makeRepoChecks } from './checks.ts';
import type { RepositoryDeps } from './deps.ts';
import { makeRepoList, makeRepoRead, makeRepoSearch } from './files.ts';
import { makeRepoIssue } from './issues.ts';
import { makeRepoDiff, makeRepoPull } from './pulls.ts';

/** Readings of the repository that a ticket's mandate names; nothing of them changes anything. */
export const repositoryTools = (deps: RepositoryDeps): readonly Tool[] => [
  makeRepoRead(deps),
  makeRepoList(deps),
  makeRepoSearch(deps),
  makeRepoIssue(deps),
  makeRepoPull(deps),
  makeRepoDiff(deps),
  makeRepoChecks(deps),
];
