/**
 * Cuts the operations that `lib/github/` and the repository tools call out of GitHub's OpenAPI document, for the tests'
 * GitHub server. The document is `generated/api.github.com.json` of the npm package `@octokit/openapi`, some 400 MB
 * unpacked, so that it is no dependency (docs/adr/0066).
 *
 *   node scripts/github-openapi.ts PATH_OF_api.github.com.json VERSION_OF_THE_PACKAGE
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const OPERATIONS = [
  'GET /app',
  'GET /app/installations/{installation_id}',
  'POST /app/installations/{installation_id}/access_tokens',
  'GET /installation/repositories',
  'GET /user',
  'GET /user/repos',
  'GET /repos/{owner}/{repo}',
  'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls',
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
  'GET /repos/{owner}/{repo}/commits/{ref}/status',
  'GET /repos/{owner}/{repo}/contents/{path}',
  'GET /repos/{owner}/{repo}/issues/{issue_number}',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
  'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments',
  'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies',
  'PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id}',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/files',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments',
  'POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers',
  'GET /search/code',
  'GET /search/issues',
];

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Tree = { [name: string]: Json };

/** Words for people, and GitHub's own notes: they judge nothing. */
const WORDS = new Set(['description', 'summary', 'externalDocs', 'example', 'tags', 'deprecated', 'operationId']);

const isTree = (value: Json | undefined): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param within the name above: below `properties` and `examples` every name counts, whatever it is */
const slim = (value: Json, within = ''): Json => {
  if (Array.isArray(value)) return value.map((each) => slim(each));
  if (!isTree(value)) return value;
  if (within === 'value') return value;
  const named = within === 'properties' || within === 'examples' || within === 'schemas';
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => named || (!WORDS.has(name) && !name.startsWith('x-')))
      .map(([name, each]) => [name, slim(each, name)]),
  );
};

const refsIn = (value: Json): string[] => {
  if (Array.isArray(value)) return value.flatMap(refsIn);
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === '$ref' && typeof each === 'string' ? [each] : refsIn(each),
  );
};

/** Good answers alone: what GitHub says when it refuses is the same few members everywhere. */
const operation = (whole: Tree): Tree => {
  const responses = isTree(whole.responses) ? whole.responses : {};
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const { parameters = [], requestBody } = whole;
  return {
    parameters,
    ...(requestBody !== undefined && { requestBody }),
    responses: Object.fromEntries(good),
  };
};

const at = (document: Tree, ref: string): { readonly path: string[]; readonly value: Json } => {
  const path = ref.replace(/^#\//, '').split('/');
  let value: Json | undefined = document;
  for (const name of path) value = isTree(value) ? value[name] : undefined;
  if (value === undefined) throw new Error(`${ref} leads nowhere.`);
  return { path, value };
};

const cut = (document: Tree): Tree => {
  const paths: Tree = {};
  for (const name of OPERATIONS) {
    const [method = '', path = ''] = name.split(' ');
    const whole = isTree(document.paths) ? document.paths[path] : undefined;
    const found = isTree(whole) ? whole[method.toLowerCase()] : undefined;
    if (!isTree(found)) throw new Error(`The document has no operation ${name}.`);
    paths[path] = { ...(paths[path] as Tree | undefined), [method.toLowerCase()]: slim(operation(found)) };
  }
  const result: Tree = { openapi: document.openapi ?? '', paths, components: {} };
  const open = refsIn(paths);
  const seen = new Set<string>();
  for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
    if (seen.has(ref)) continue;
    seen.add(ref);
    const { path, value } = at(document, ref);
    const small = slim(value, path.at(-2) === 'examples' ? 'examples' : '');
    let place = result;
    for (const name of path.slice(0, -1)) {
      place[name] ??= {};
      place = place[name] as Tree;
    }
    place[path.at(-1) ?? ''] = small;
    open.push(...refsIn(small));
  }
  return result;
};

const [file, version] = process.argv.slice(2);
if (file === undefined || version === undefined) {
  console.error('Usage: node scripts/github-openapi.ts PATH_OF_api.github.com.json VERSION_OF_THE_PACKAGE');
  process.exitCode = 1;
} else {
  const document = JSON.parse(await readFile(file, 'utf8')) as Tree;
  const result = { source: `@octokit/openapi ${version}`, ...cut(document) };
  const out = join(import.meta.dirname, '../test/fixtures/github-openapi.json');
  await writeFile(out, `${JSON.stringify(result)}\n`);
  console.log(`${out}: ${OPERATIONS.length} operations`);
}
