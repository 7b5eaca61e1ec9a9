// Says in a sentence what is missing instead of failing with a syntax error. Plain JavaScript that an old Node can run too:
// everything else here is TypeScript, which Node runs by itself from version 24 on.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  console.error(
    `Baton needs Node 24 or newer; this is ${process.version}. On Linux (x64, arm64) and Windows (x64) "npm ci" brings ` +
      'Node 24 along and the npm scripts use it (not with --omit=optional). Elsewhere install Node 24 or newer: https://nodejs.org/.',
  );
  process.exit(1);
}
